// Goal: clients that take no path before their own reach one style at the root of a listener of its
// own, and nothing else there.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { styleAtRoot } from '#src/compat/styles'
import { freePort } from '#test/support/free-port'
import { CHANNEL, CREDENTIALS, PASSWORD } from '#test/support/making'
import { rawRequest } from '#test/support/raw-request'
import { sentMessages } from '#test/support/sent-message'
import { startIngress } from '#test/support/start-ingress'
import type { Rig } from '#test/support/start-ingress'

const KEY = `${CHANNEL}:${encodeURIComponent(PASSWORD)}`
const JSON_TYPE = 'Content-Type: application/json'

async function start(
  t: ExecutionContext,
  name: 'topic' | 'sendkey' | 'devicekey',
): Promise<Rig & { readonly rootPort: number }> {
  const port = await freePort(t)
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
  // Home Assistant's client reads ten whole numbers, and takes this refusal of the version alone.
  const stats = Object.values(account.json['stats'] as object)
  t.is(stats.length, 10)
  t.true(stats.every(Number.isSafeInteger))
  const version = await rawRequest(rig.rootPort, { line: 'GET /v1/version' })
  t.like(version.json, { http: 404, code: 40401 })
  const native = await rawRequest(rig.rootPort, { line: 'GET /channel/exists/now' })
  t.like(native.json, { http: 404, code: 40401 })
  const elsewhere = await rig.send('/', { method: 'POST', body })
  t.is(elsewhere.status, 405)
})

test('a root serves the send-key or the device-key style too', async (t) => {
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

test('a host name serves one style at its root, and nothing else; every other name serves the rest', async (t) => {
  const hostName = 'push.example.com'
  const root = { hostName, ...styleAtRoot('topic', { keptMs: 1 }) }
  const rig = await startIngress(t, { root })
  const ask = (line: string, host: string, body?: string) =>
    rawRequest(rig.port, { line, headers: [`Host: ${host}`], ...(body !== undefined && { body }) })
  for (const host of [hostName, 'Push.Example.com:8080', 'push.example.com.']) {
    const sent = await ask(`POST /${KEY}`, host, 'M')
    t.like(sent.json, { event: 'message', message: 'M' }, host)
  }
  t.is(rig.sink.accepted.length, 3)
  t.like((await ask('GET /channel/exists/now', hostName)).json, { http: 404, code: 40401 })
  t.like((await ask('GET /metrics', hostName)).json, { http: 404, code: 40401 })
  for (const host of ['127.0.0.1', 'example.com', 'push.example.com.evil.test']) {
    t.like((await ask('GET /healthz', host)).json, { success: true }, host)
    t.is((await ask(`POST /${KEY}`, host, 'M')).status, 404)
  }
})

test('a WebSocket under the host name is that of the style', async (t) => {
  const root = { hostName: 'localhost', ...styleAtRoot('topic', { keptMs: 1 }) }
  const rig = await startIngress(t, { root })
  const frame = (host: string): Promise<unknown> =>
    new Promise((resolve) => {
      const socket = new WebSocket(`ws://${host}:${rig.port}/${KEY}/ws`)
      t.teardown(() => socket.close())
      socket.addEventListener('message', ({ data }) => resolve(data))
      socket.addEventListener('error', () => resolve('refused'))
    })
  t.regex(String(await frame('localhost')), /"event":"open"/)
  t.is(await frame('127.0.0.1'), 'refused')
})
