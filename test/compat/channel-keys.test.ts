// Goal: a key stands in the place of channel and password on compatibility routes; nobody but who
// knows the password makes, sees or revokes it.

import test from 'ava'

import { startStyles } from '#test/support/compatibility-rig'
import { CHANNEL, CREDENTIALS, PASSWORD } from '#test/support/making'
import { sentMessages } from '#test/support/sent-message'
import { addChannel } from '#test/support/start-ingress'
import type { Answered, Rig } from '#test/support/start-ingress'

const dataOf = ({ json }: Answered): Readonly<Record<string, unknown>> =>
  json['data'] as Readonly<Record<string, unknown>>

async function makeKey(rig: Rig, label?: string): Promise<{ key: string; key_id: string }> {
  const { key, key_id } = dataOf(await rig.post('/channel/key', { ...CREDENTIALS, label }))
  return { key: String(key), key_id: String(key_id) }
}

const WAYS: Readonly<Record<string, (rig: Rig, key: string) => Promise<Answered>>> = {
  'a topic': (rig, key) => rig.send(`/compat-topic/${key}`, { method: 'POST', body: 'M' }),
  'a topic in JSON': (rig, key) => rig.post('/compat-topic', { topic: key, message: 'M' }),
  'a send-key': (rig, key) => rig.get(`/compat-sendkey/${key}.send?desp=M`),
  'a device-key': (rig, key) => rig.get(`/compat-devicekey/${key}/M`),
  'a device-key in JSON': (rig, key) =>
    rig.post('/compat-devicekey/push', { device_key: key, body: 'M' }),
}

for (const [what, send] of Object.entries(WAYS)) {
  test(`a key is ${what} until it is revoked`, async (t) => {
    const rig = await startStyles(t)
    const { key, key_id } = await makeKey(rig)
    t.regex(key, /^[A-Za-z0-9]{43}$/)
    const sent = await send(rig, key)
    t.is(sent.status, 200, sent.text)
    t.deepEqual(sentMessages(rig.sink), [{ title: 'Notification', body: 'M' }])
    t.is(rig.sink.accepted[0]?.channelId, rig.channelId)
    t.false(sent.text.includes(key))
    await rig.post('/channel/key/revoke', { ...CREDENTIALS, key_id })
    const refused = await send(rig, key)
    t.is(refused.status, 404)
    t.is(refused.text, (await send(rig, 'A'.repeat(43))).text)
    t.is(rig.sink.accepted.length, 1)
    t.false(JSON.stringify(rig.logger.lines).includes(key))
  })
}

const OTHER = 'ZYXWVTSRQPNMKJHGFEDCBA9870'
const DIFFICULT = 'a:b/c+d%2F e.send'

test('a key splits at its first colon and is decoded once, whatever its password holds', async (t) => {
  const rig = await startStyles(t)
  await addChannel(rig.channels, OTHER, DIFFICULT)
  const key = `${OTHER.toLowerCase()}%3A${encodeURIComponent(DIFFICULT)}`
  const sent = [
    await rig.send(`/compat-topic/${key}`, { method: 'POST', body: 'M' }),
    await rig.get(`/compat-sendkey/${key}.send?desp=M`),
    await rig.get(`/compat-devicekey/${key}/M`),
  ]
  t.deepEqual(
    sent.map(({ status }) => status),
    [200, 200, 200],
  )
  t.false(sent.some(({ text }) => text.includes(DIFFICULT)))
})

test('another password, or the end of the channel, makes every key void', async (t) => {
  const rig = await startStyles(t)
  const first = await makeKey(rig)
  await rig.post('/channel/password', { ...CREDENTIALS, new_password: 'another one' })
  t.is((await rig.get(`/compat-devicekey/${first.key}/M`)).status, 404)
  const changed = { ...CREDENTIALS, password: 'another one' }
  const { key } = dataOf(await rig.post('/channel/key', changed))
  t.is((await rig.get(`/compat-devicekey/${String(key)}/M`)).status, 200)
  await rig.post('/channel/delete', changed)
  t.is((await rig.get(`/compat-devicekey/${String(key)}/M`)).status, 404)
})

test('channel-keys/1: neither the store nor a list holds a key itself', async (t) => {
  const rig = await startStyles(t)
  const { key, key_id } = await makeKey(rig, 'Grafana')
  t.false(JSON.stringify(rig.channelKeys.rows).includes(key))
  t.deepEqual(dataOf(await rig.post('/channel/key/list', CREDENTIALS)), {
    channel_id: CHANNEL,
    keys: [{ key_id, label: 'Grafana', scopes: ['send', 'read'], created_at: rig.time.nowMs() }],
  })
  t.deepEqual(dataOf(await rig.post('/channel/key/revoke', { ...CREDENTIALS, key_id })), {
    channel_id: CHANNEL,
    revoked: true,
  })
  t.deepEqual(rig.bus.notices, [
    { kind: 'credentials-changed', channelId: rig.channelId, keyId: key_id },
  ])
})

type Refused = readonly [path: string, body: object, status: number, code: string]

const REFUSED: readonly Refused[] = [
  ['/channel/key', { ...CREDENTIALS, password: 'not the one' }, 404, 'channel_not_found'],
  ['/channel/key', { channel_id: CHANNEL }, 400, 'password_required'],
  ['/channel/key', { ...CREDENTIALS, label: 'x'.repeat(129) }, 400, 'validation_failed'],
  ['/channel/key', { ...CREDENTIALS, scopes: [] }, 400, 'validation_failed'],
  ['/channel/key', { ...CREDENTIALS, scopes: ['send', 'all'] }, 400, 'validation_failed'],
  ['/channel/key', { ...CREDENTIALS, scopes: 'send' }, 400, 'invalid_json_data'],
  ['/channel/key', { ...CREDENTIALS, thing_prefix: 'x'.repeat(129) }, 400, 'validation_failed'],
  ['/channel/key', { ...CREDENTIALS, thing_prefix: 'a b' }, 400, 'validation_failed'],
  ['/channel/key', { ...CREDENTIALS, label: 'a\0' }, 400, 'validation_failed'],
  ['/channel/key', { ...CREDENTIALS, expires_at: -1 }, 400, 'invalid_timestamp'],
  ['/channel/key/list', { ...CREDENTIALS, cursor: 'x' }, 400, 'invalid_cursor'],
  ['/channel/key/list', { ...CREDENTIALS, limit: 201 }, 400, 'validation_failed'],
  ['/channel/key/list', { ...CREDENTIALS, password: 'not the one' }, 404, 'channel_not_found'],
  ['/channel/key/revoke', { ...CREDENTIALS }, 400, 'validation_failed'],
  ['/channel/key/revoke', { ...CREDENTIALS, key_id: 'x' }, 400, 'validation_failed'],
  ['/channel/key/revoke', { ...CREDENTIALS, key_id: '0'.repeat(32) }, 404, 'channel_key_not_found'],
]

for (const [path, body, status, code] of REFUSED) {
  test(`${path} refuses ${JSON.stringify(body)} with ${code}`, async (t) => {
    const rig = await startStyles(t)
    const refused = await rig.post(path, body)
    t.is(refused.status, status)
    t.is(refused.json['error_code'], code)
    t.deepEqual(rig.channelKeys.rows, [])
    t.false(refused.text.includes(PASSWORD))
  })
}

test('what a label must not hold is said of it', async (t) => {
  const rig = await startStyles(t)
  const { text } = await rig.post('/channel/key', { ...CREDENTIALS, label: 'a\0' })
  t.regex(text, /label must not hold NUL/)
})

test('a key that ends with the time 0 has an end', async (t) => {
  const rig = await startStyles(t)
  t.is((await rig.post('/channel/key', { ...CREDENTIALS, expires_at: 0 })).status, 200)
  t.is(rig.channelKeys.rows[0]?.expiresAt, 1)
})
