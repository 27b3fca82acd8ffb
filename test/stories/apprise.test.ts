// Goal: Apprise, as it is, sends through the gateway once its address and key are ours, and says
// that it failed when it did.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { styleAtRoot } from '#src/compat/styles'
import { apprise, hasApprise } from '#test/support/apprise'
import { freePort } from '#test/support/free-port'
import { temporaryFolder } from '#test/support/gateway'
import { CREDENTIALS } from '#test/support/making'
import { startSendKeyHost } from '#test/support/send-key-host'
import { sentMessages } from '#test/support/sent-message'
import { startIngress } from '#test/support/start-ingress'
import { startTunnel } from '#test/support/tunnel'

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

const TEXTS = ['--title', 'Disk', '--body', 'full']

async function startStyle(t: ExecutionContext, style: Route['style']) {
  const port = await freePort(t)
  const root = { address: { host: '127.0.0.1', port }, ...styleAtRoot(style, { keptMs: 1 }) }
  const rig = await startIngress(t, { root })
  const made = await rig.post('/channel/key', CREDENTIALS)
  const { key } = made.json['data'] as { readonly key: string }
  return { rig, place: `127.0.0.1:${port}`, key }
}

for (const { style, url, fields } of ROUTES) {
  test(`Apprise sends to the ${style} style, and knows when it did not`, async (t) => {
    if (!hasApprise(t)) return
    const { rig, place, key } = await startStyle(t, style)
    t.true(await apprise([...TEXTS, url(place, key)]))
    t.like(sentMessages(rig.sink)[0], fields)
    t.false(await apprise([...TEXTS, url(place, 'A'.repeat(43))]))
    t.is(rig.sink.accepted.length, 1)
  })
}

test('Apprise sends to the send-key style, whose host is fixed, and knows when it did not', async (t) => {
  if (!hasApprise(t)) return
  const { rig, certFile, key } = await startSendKeyHost(t)
  const proxy = await startTunnel(t, rig.port)
  const environment = { HTTPS_PROXY: proxy, NO_PROXY: '', REQUESTS_CA_BUNDLE: certFile }
  t.true(await apprise([...TEXTS, `schan://${key}`], environment))
  t.deepEqual(sentMessages(rig.sink), [{ title: 'Disk', body: 'full' }])
  t.false(await apprise([...TEXTS, `schan://${'A'.repeat(43)}`], environment))
  t.is(rig.sink.accepted.length, 1)
})

test('an attachment that Apprise sends as an address goes with the message', async (t) => {
  if (!hasApprise(t)) return
  const { rig, place, key } = await startStyle(t, 'topic')
  const picture = 'https://example.com/still.png'
  const url = `ntfy://${place}/${key}?attach=${encodeURIComponent(picture)}`
  t.true(await apprise([...TEXTS, url]))
  t.like(sentMessages(rig.sink)[0], { title: 'Disk', body: 'full', images: [picture] })
})

test('Apprise sees the refusal of a file, and no part of it is sent', async (t) => {
  if (!hasApprise(t)) return
  const { rig, place, key } = await startStyle(t, 'topic')
  const file = join(await temporaryFolder(t), 'still.png')
  await writeFile(file, Buffer.of(0x89, 0x50))
  t.false(await apprise([...TEXTS, '--attach', file, `ntfy://${place}/${key}`]))
  t.is(rig.sink.accepted.length, 0)
})

test('to tools that take no files Apprise sends the text and leaves the file out', async (t) => {
  if (!hasApprise(t)) return
  const file = join(await temporaryFolder(t), 'still.png')
  await writeFile(file, Buffer.of(0x89, 0x50))
  const { rig, place, key } = await startStyle(t, 'devicekey')
  t.true(await apprise([...TEXTS, '--attach', file, `bark://${place}/${key}`]))
  t.like(sentMessages(rig.sink)[0], { title: 'Disk', body: 'full' })
})
