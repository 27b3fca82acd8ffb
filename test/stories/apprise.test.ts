// Goal: Apprise, as it is, sends through the gateway once its address and key are ours, and says
// that it failed when it did.

import { createServer } from 'node:net'
import { once } from 'node:events'

import test from 'ava'

import { styleAtRoot } from '#src/ingress/compat/styles'
import { apprise, hasApprise } from '#test/support/apprise'
import { CREDENTIALS } from '#test/support/making'
import { sentMessages } from '#test/support/sent-message'
import { startIngress } from '#test/support/start-ingress'

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

interface Route {
  readonly style: 'topic' | 'devicekey'
  readonly url: (place: string, key: string) => string
  readonly fields: object
}

const ROUTES: readonly Route[] = [
  {
    style: 'topic',
    url: (place, key) => `ntfy://${place}/${key}?priority=high&tags=disk`,
    fields: { title: 'Disk', body: 'full', severity: 'high', tags: ['disk'] },
  },
  {
    style: 'devicekey',
    url: (place, key) => `bark://${place}/${key}?level=critical&group=disk`,
    fields: { title: 'Disk', body: 'full', severity: 'critical', tags: ['disk'] },
  },
]

for (const { style, url, fields } of ROUTES) {
  test(`Apprise sends to the ${style} style, and knows when it did not`, async (t) => {
    if (!hasApprise(t)) return
    const port = await freePort()
    const root = { address: { host: '127.0.0.1', port }, ...styleAtRoot(style, { keptMs: 1 }) }
    const rig = await startIngress(t, { root })
    const made = await rig.post('/channel/key', CREDENTIALS)
    const { key } = made.json['data'] as { readonly key: string }
    const texts = ['--title', 'Disk', '--body', 'full']
    t.true(await apprise([...texts, url(`127.0.0.1:${port}`, key)]))
    t.like(sentMessages(rig.sink)[0], fields)
    t.false(await apprise([...texts, url(`127.0.0.1:${port}`, 'A'.repeat(43))]))
    t.is(rig.sink.accepted.length, 1)
  })
}
