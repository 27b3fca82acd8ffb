// Goal: clients that take no path before their own reach one style at the root of a listener of its
// own, and nothing else there.

import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { styleAtRoot } from '#src/ingress/compat/styles'
import { CHANNEL, CREDENTIALS, PASSWORD } from '#test/support/making'
import { rawRequest } from '#test/support/raw-request'
import { sentMessages } from '#test/support/sent-message'
import { startIngress } from '#test/support/start-ingress'
import type { Rig } from '#test/support/start-ingress'

const KEY = `${CHANNEL}:${encodeURIComponent(PASSWORD)}`
const JSON_TYPE = 'Content-Type: application/json'

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function start(
  t: ExecutionContext,
  name: 'topic' | 'sendkey' | 'devicekey',
): Promise<Rig & { readonly rootPort: number }> {
  const port = await freePort()
  const address = { host: '127.0.0.1', port }
  const root = { address, ...styleAtRoot(name, { keptMs: 1 }) }
  return { ...(await startIngress(t, { root })), rootPort: port }
}

test('Apprise and Home Assistant publish JSON to the root, with a key of 43 characters', async (t) => {
  const rig = await start(t, 'topic')
  const made = await rig.post('/channel/key', CREDENTIALS)
  const { key } = made.json['data'] as { readonly key: string }
  const publication = { topic: key, title: 'T', message: 'M' }
  const body = JSON.stringify(publication)
  const sent = await rawRequest(rig.rootPort, { line: 'POST /', headers: [JSON_TYPE], body })
  t.is(sent.status, 200)
  t.is(sent.json['topic'], '***')
  const text = await rawRequest(rig.rootPort, { line: `PUT /${key}`, body: 'M2' })
  t.is(text.status, 200)
  t.deepEqual(sentMessages(rig.sink), [
    { title: 'T', body: 'M' },
    { title: 'Notification', body: 'M2' },
  ])
  const account = await rawRequest(rig.rootPort, { line: 'GET /v1/account' })
  t.like(account.json, { username: '*' })
  const native = await rawRequest(rig.rootPort, { line: 'GET /channel/exists/now' })
  t.like(native.json, { http: 404, code: 40401 })
  const elsewhere = await rig.send('/', { method: 'POST', body })
  t.is(elsewhere.status, 405)
})

test('the other styles stand at the root too', async (t) => {
  const sendKey = await start(t, 'sendkey')
  const line = `GET /${KEY}.send?title=T`
  t.like((await rawRequest(sendKey.rootPort, { line })).json, { code: 0 })
  const unknown = await rawRequest(sendKey.rootPort, { line: 'GET /a/b/c' })
  t.like(unknown.json, { code: 40_001 })
  const deviceKey = await start(t, 'devicekey')
  const pushed = await rawRequest(deviceKey.rootPort, { line: `GET /${KEY}/T/M` })
  t.like(pushed.json, { code: 200 })
  t.is((await rawRequest(deviceKey.rootPort, { line: 'GET /' })).text, 'ok')
})

test('while draining, the root refuses in its own shape, as every way in does', async (t) => {
  const rig = await start(t, 'topic')
  await rig.ingress.drain()
  const refused = await rawRequest(rig.rootPort, { line: `PUT /${KEY}`, body: 'M' })
  t.like(refused.json, { http: 503, code: 50301 })
})
