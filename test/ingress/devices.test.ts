import test from 'ava'

import type { ExecutionContext } from 'ava'
import { CREDENTIALS, PASSWORD } from '#test/support/making'
import { startIngress } from '#test/support/start-ingress'
import type { Rig } from '#test/support/start-ingress'

const APPLE_TOKEN = 'ab'.repeat(32)
const ANDROID_TOKEN = 'android-token-0123456789'

async function register(rig: Rig, body: object): Promise<Readonly<Record<string, unknown>>> {
  const { json } = await rig.post('/device/register', body)
  const data: unknown = json['data']
  return typeof data === 'object' && data !== null ? { ...data } : {}
}

async function newKey(rig: Rig, platform: string): Promise<string> {
  return String((await register(rig, { platform }))['device_key'])
}

test('a device without a key gets one, of which only the hash is kept', async (t) => {
  const rig = await startIngress(t)
  const { device_key: key, ...rest } = await register(rig, { platform: 'web' })
  t.regex(String(key), /^[0-9a-f]{32}$/)
  t.deepEqual(rest, { issued_new_key: true, issue_reason: 'device_key_missing' })
  t.is(rig.devices.rows.size, 1)
  t.false(JSON.stringify([...rig.devices.rows]).includes(String(key)))
})

test('a known key of the same platform is confirmed', async (t) => {
  const rig = await startIngress(t)
  const key = await newKey(rig, 'ios')
  t.deepEqual(await register(rig, { device_key: key, platform: 'ios' }), {
    device_key: key,
    issued_new_key: false,
  })
  t.is(rig.devices.rows.size, 1)
})

for (const text of ['e'.repeat(32), 'not a key']) {
  test(`the unknown key "${text.slice(0, 9)}" is replaced, never adopted`, async (t) => {
    const rig = await startIngress(t)
    const data = await register(rig, { device_key: text, platform: 'ios' })
    t.not(data['device_key'], text)
    t.is(data['issue_reason'], 'device_key_not_found')
  })
}

test('another platform gets a new key, and the old identity goes with its subscriptions', async (t) => {
  const rig = await startIngress(t)
  const key = await newKey(rig, 'ios')
  await rig.post('/channel/subscribe', { ...CREDENTIALS, device_key: key })
  const data = await register(rig, { device_key: key, platform: 'android' })
  t.not(data['device_key'], key)
  t.is(data['issue_reason'], 'platform_mismatch')
  t.is(rig.devices.rows.size, 1)
  t.like(rig.bus.notices.at(-1), { kind: 'unsubscribed', channelId: rig.channelId })
  t.is((await rig.post('/messages/pull', { device_key: key })).status, 404)
})

interface Row {
  readonly platform: string
  readonly route: object
  readonly status: number
  readonly expected: object | string
}

const routes: readonly Row[] = [
  {
    platform: 'ios',
    route: { channel_type: 'apns', provider_token: APPLE_TOKEN },
    status: 200,
    expected: { channel_type: 'apns', provider_token: APPLE_TOKEN },
  },
  {
    platform: 'android',
    route: { channel_type: 'fcm', provider_token: ANDROID_TOKEN },
    status: 200,
    expected: { channel_type: 'fcm', provider_token: ANDROID_TOKEN },
  },
  {
    platform: 'web',
    route: { channel_type: 'private' },
    status: 200,
    expected: { channel_type: 'private' },
  },
  {
    platform: 'web',
    route: { channel_type: 'apns', provider_token: APPLE_TOKEN },
    status: 409,
    expected: 'apns_channel_requires_apple_platform',
  },
  {
    platform: 'ios',
    route: { channel_type: 'fcm', provider_token: ANDROID_TOKEN },
    status: 409,
    expected: 'fcm_channel_requires_android_platform',
  },
  {
    platform: 'ios',
    route: { channel_type: 'apns' },
    status: 400,
    expected: 'provider_token_required',
  },
  {
    platform: 'ios',
    route: { channel_type: 'private', provider_token: APPLE_TOKEN },
    status: 400,
    expected: 'provider_token_forbidden_for_private_channel',
  },
  {
    platform: 'ios',
    route: { channel_type: 'pigeon' },
    status: 400,
    expected: 'invalid_channel_type',
  },
]

for (const { platform, route, status, expected } of routes) {
  test(`a ${platform} device asking for ${JSON.stringify(route).slice(0, 60)} is answered ${status}`, async (t) => {
    const rig = await startIngress(t)
    const key = await newKey(rig, platform)
    const answer = await rig.post('/channel/device', { device_key: key, ...route })
    t.is(answer.status, status, answer.text)
    if (typeof expected === 'string') return t.is(answer.json['error_code'], expected)
    return t.deepEqual(answer.json['data'], { device_key: key, ...expected })
  })
}

test('deleting a route lets the device fall back to private, if it had that route', async (t) => {
  const rig = await startIngress(t)
  const key = await newKey(rig, 'ios')
  const route = { device_key: key, channel_type: 'apns' }
  await rig.post('/channel/device', { ...route, provider_token: APPLE_TOKEN })
  const other = await rig.post('/channel/device/delete', { ...route, channel_type: 'fcm' })
  t.is(other.status, 409)
  t.is(other.json['error_code'], 'channel_type_mismatch')
  const deleted = await rig.post('/channel/device/delete', route)
  t.deepEqual(deleted.json['data'], { device_key: key, channel_type: 'private' })
  t.is([...rig.devices.rows.values()][0]?.channelType, 'private')
})

test('retiring an unknown token gives the same answer', async (t) => {
  const rig = await startIngress(t)
  const key = await newKey(rig, 'ios')
  const token = { provider_token: APPLE_TOKEN }
  await rig.post('/channel/device', { device_key: key, channel_type: 'apns', ...token })
  const path = '/channel/device/provider-token/retire'
  const known = await rig.post(path, { platform: 'ios', ...token })
  t.deepEqual(known.json['data'], { retired: true })
  t.is([...rig.devices.rows.values()][0]?.channelType, 'private')
  t.is((await rig.post(path, { platform: 'ios', ...token })).text, known.text)
})

async function codeOf(t: ExecutionContext, path: string, body: object): Promise<unknown> {
  const rig = await startIngress(t)
  const answer = await rig.post(path, { device_key: 'e'.repeat(32), ...body })
  t.is(answer.status, 404)
  return answer.json['error_code']
}

const strangers: readonly (readonly [path: string, body: object])[] = [
  ['/channel/device', { channel_type: 'private' }],
  ['/channel/device/delete', { channel_type: 'private' }],
  ['/channel/subscribe', CREDENTIALS],
  ['/channel/unsubscribe', { channel_id: CREDENTIALS.channel_id }],
  ['/channel/sync', { channels: [] }],
  ['/messages/pull', {}],
  ['/messages/ack', { delivery_ids: [`${CREDENTIALS.channel_id}-1`] }],
]

for (const [path, body] of strangers) {
  test(`an unknown device_key at ${path} is refused with device_key_not_found`, async (t) => {
    t.is(await codeOf(t, path, body), 'device_key_not_found')
  })
}

test('registration/1: an address gets 60 new devices a minute; one that is known costs nothing', async (t) => {
  const rig = await startIngress(t, { deviceBudgetPerAddress: 60 })
  const key = await newKey(rig, 'ios')
  for (let count = 1; count < 60; count += 1) await newKey(rig, 'web')
  t.is(rig.devices.rows.size, 60)
  t.is((await register(rig, { device_key: key, platform: 'ios' }))['device_key'], key)
  rig.time.advance(15_000)
  for (const more of [{}, { device_key: 'e'.repeat(32) }, { device_key: key, platform: 'web' }]) {
    const refused = await rig.post('/device/register', { platform: 'ios', ...more })
    t.is(refused.status, 429)
    t.is(refused.json['error_code'], 'rate_limited')
    t.is(refused.headers.get('ratelimit-limit'), '60')
    t.is(refused.headers.get('ratelimit-remaining'), '0')
    t.is(refused.headers.get('ratelimit-reset'), '45')
    t.is(refused.headers.get('retry-after'), '45')
  }
  t.is(rig.devices.rows.size, 60, 'and the device of another platform keeps its identity')
  t.is((await rig.post('/channel/create', { channel_name: 'n', password: PASSWORD })).status, 200)
  rig.time.advance(45_000)
  t.is((await rig.post('/device/register', { platform: 'ios' })).status, 200)
})

test('registration/1: with the gateway token new devices are not counted', async (t) => {
  const rig = await startIngress(t, { token: 'secret', deviceBudgetPerAddress: 1 })
  const headers = { authorization: 'Bearer secret' }
  for (let count = 0; count < 3; count += 1) {
    t.is((await rig.post('/device/register', { platform: 'ios' }, headers)).status, 200)
  }
})

test('registration/1: another address has a budget of its own', async (t) => {
  const rig = await startIngress(t, { trustedProxies: ['127.0.0.1'], deviceBudgetPerAddress: 1 })
  const statusOf = async (address: string): Promise<number> =>
    (await rig.post('/device/register', { platform: 'ios' }, { 'x-forwarded-for': address })).status
  t.is(await statusOf('192.0.2.1'), 200)
  t.is(await statusOf('192.0.2.2'), 200)
  t.is(await statusOf('2001:db8::1'), 200)
  t.is(await statusOf('2001:db8::2'), 429, 'an IPv6 host is its /64')
})
