import test from 'ava'

import { SUBSCRIBERS_MAX } from '#domain/channel'
import { parseDeviceId } from '#domain/identity'
import { CHANNEL, CREDENTIALS, NOW_MS, PASSWORD } from '#test/support/making'
import { JSON_HEADERS } from '#test/support/pipeline-requests'
import { addChannel, startIngress } from '#test/support/start-ingress'
import type { Answered, Rig } from '#test/support/start-ingress'

const OTHER = '7ZZZZZZZZZZZZZZZZZZZZZZZZW'
const THING = { thing_id: 't', observed_at: NOW_MS }

const dataOf = ({ json }: Answered): Readonly<Record<string, unknown>> => {
  const data: unknown = json['data']
  return typeof data === 'object' && data !== null ? { ...data } : {}
}

async function newDevice(rig: Rig): Promise<string> {
  return String(dataOf(await rig.post('/device/register', { platform: 'web' }))['device_key'])
}

test('a created channel takes submissions under its password', async (t) => {
  const rig = await startIngress(t)
  const created = dataOf(
    await rig.post('/channel/create', { channel_name: 'Pumps', password: '  a password  ' }),
  )
  t.is(created['channel_name'], 'Pumps')
  const credentials = { channel_id: created['channel_id'], password: 'a password' }
  t.is((await rig.post('/thing/update', { ...THING, ...credentials })).status, 200)
  t.false(JSON.stringify([...rig.channels.rows]).includes('a password'))
})

test('a subscription by name creates a channel and joins it; names are not unique', async (t) => {
  const rig = await startIngress(t)
  const device_key = await newDevice(rig)
  const wish = { device_key, password: 'a password', channel_name: 'Pumps' }
  const first = dataOf(await rig.post('/channel/subscribe', wish))
  t.like(first, { channel_name: 'Pumps', created: true, subscribed: true })
  const second = dataOf(await rig.post('/channel/subscribe', wish))
  t.not(second['channel_id'], first['channel_id'])
  t.is(rig.subscriptions.members.size, 2)
})

test('a subscription by id joins, tells the bus once, and may be repeated', async (t) => {
  const rig = await startIngress(t)
  const wish = { ...CREDENTIALS, device_key: await newDevice(rig) }
  for (let count = 0; count < 2; count += 1) {
    const { subscriber_id, ...joined } = dataOf(await rig.post('/channel/subscribe', wish))
    t.regex(String(subscriber_id), /^[0-9a-f]{32}$/)
    t.deepEqual(joined, {
      channel_id: CHANNEL,
      channel_name: 'a channel',
      created: false,
      subscribed: true,
    })
  }
  t.like(rig.bus.notices, [{ kind: 'subscribed', channelId: rig.channelId }])
})

test('a subscription with a wrong password is refused with channel_not_found', async (t) => {
  const rig = await startIngress(t)
  const wish = { ...CREDENTIALS, password: 'wrong password', device_key: await newDevice(rig) }
  const answer = await rig.post('/channel/subscribe', wish)
  t.is(answer.status, 404)
  t.is(answer.json['error_code'], 'channel_not_found')
})

test('the 33rd subscriber is refused with 400', async (t) => {
  const rig = await startIngress(t)
  const members = Array.from({ length: SUBSCRIBERS_MAX }, (_, at) => {
    const deviceId = parseDeviceId(at.toString(16).padStart(64, '0'))
    if (deviceId === undefined) throw new Error('bad fixture')
    return deviceId
  })
  rig.subscriptions.members.set(rig.channelId, new Set(members))
  const wish = { ...CREDENTIALS, device_key: await newDevice(rig) }
  const answer = await rig.post('/channel/subscribe', wish)
  t.is(answer.status, 400)
  t.is(answer.json['error_code'], 'channel_subscriber_limit_exceeded')
})

test('unsubscribing says whether there was anything to remove', async (t) => {
  const rig = await startIngress(t)
  const device_key = await newDevice(rig)
  await rig.post('/channel/subscribe', { ...CREDENTIALS, device_key })
  const body = { device_key, channel_id: CHANNEL }
  t.deepEqual(dataOf(await rig.post('/channel/unsubscribe', body)), {
    channel_id: CHANNEL,
    removed: true,
  })
  t.like(rig.bus.notices.at(-1), { kind: 'unsubscribed' })
  t.like(dataOf(await rig.post('/channel/unsubscribe', body)), { removed: false })
  t.is(rig.bus.notices.length, 2)
})

test('subscription-sync/1: a sync without failures leaves the channels that are not listed', async (t) => {
  const rig = await startIngress(t)
  await addChannel(rig.channels, OTHER, PASSWORD)
  const device_key = await newDevice(rig)
  await rig.post('/channel/subscribe', { ...CREDENTIALS, device_key })
  const listed = { channel_id: OTHER, password: PASSWORD }
  t.deepEqual(dataOf(await rig.post('/channel/sync', { device_key, channels: [listed] })), {
    total: 1,
    success: 1,
    failed: 0,
    channels: [{ channel_id: OTHER, channel_name: 'a channel', subscribed: true }],
  })
  t.is(rig.subscriptions.members.get(rig.channelId)?.size, 0)
  t.like(rig.bus.notices.at(-1), { kind: 'unsubscribed', channelId: rig.channelId })
})

test('subscription-sync/1: a sync with a failure leaves no channel; each item has its fault', async (t) => {
  const rig = await startIngress(t)
  await addChannel(rig.channels, OTHER, PASSWORD)
  const device_key = await newDevice(rig)
  await rig.post('/channel/subscribe', { ...CREDENTIALS, device_key })
  const channels = [
    { channel_id: OTHER, password: PASSWORD },
    { channel_id: OTHER, password: 'wrong password' },
    { channel_id: 'nonsense', password: PASSWORD },
    { channel_id: OTHER, password: 'short' },
  ]
  const data = dataOf(await rig.post('/channel/sync', { device_key, channels }))
  t.like(data, { total: 4, success: 1, failed: 3 })
  t.like(data['channels'], [
    { channel_id: OTHER, subscribed: true },
    { channel_id: OTHER, subscribed: false, error_code: 'channel_not_found' },
    { channel_id: 'nonsense', subscribed: false, error_code: 'invalid_channel_id' },
    { channel_id: OTHER, subscribed: false, error_code: 'invalid_password' },
  ])
  t.is(rig.subscriptions.members.get(rig.channelId)?.size, 1)
})

test('a sync takes 2,000 channels with the longest passwords, in a body of 1,024,000 bytes', async (t) => {
  const rig = await startIngress(t)
  const device_key = await newDevice(rig)
  const password = '\u{1f511}'.repeat(32)
  const channel_id = await addChannel(rig.channels, OTHER, password)
  const channels = Array.from({ length: 2_000 }, () => ({ channel_id, password }))
  // Many libraries write characters beyond ASCII so.
  const body = JSON.stringify({ device_key, channels }).replaceAll('\u{1f511}', '\\ud83d\\udd11')
  const sync = (text: string): Promise<Answered> =>
    rig.send('/channel/sync', { method: 'POST', headers: JSON_HEADERS, body: Buffer.from(text) })
  t.like(dataOf(await sync(body)), { total: 2_000, success: 2_000 })
  t.is((await sync(body.padEnd(1_024_000))).status, 200)
  t.is((await sync(body.padEnd(1_024_001))).status, 413)
})

test('an empty sync leaves every channel', async (t) => {
  const rig = await startIngress(t)
  const device_key = await newDevice(rig)
  await rig.post('/channel/subscribe', { ...CREDENTIALS, device_key })
  t.like(dataOf(await rig.post('/channel/sync', { device_key, channels: [] })), { total: 0 })
  t.is(rig.subscriptions.members.get(rig.channelId)?.size, 0)
})

test('subscription-sync/2: wrong passwords in a sync use up the budget, and then nothing more is tried', async (t) => {
  let computed = 0
  const rig = await startIngress(t, {
    passwordBudget: { perAddress: 5, total: 100 },
    derive: async () => {
      computed += 1
      return new Uint8Array(32)
    },
  })
  const device_key = await newDevice(rig)
  const channels = Array.from({ length: 100 }, (_, at) => ({
    channel_id: CHANNEL,
    password: `a guess ${at}`,
  }))
  const answer = await rig.post('/channel/sync', { device_key, channels })
  t.is(answer.status, 200)
  t.true(computed < 12, `${computed} passwords were tried`)
  t.like(dataOf(answer), { failed: 100 })
  t.regex(answer.text, /"error_code":"rate_limited"/)
})

test('a rename needs the password and changes the name', async (t) => {
  const rig = await startIngress(t)
  const answer = await rig.post('/channel/rename', { ...CREDENTIALS, channel_name: ' New ' })
  t.deepEqual(dataOf(answer), { channel_id: CHANNEL, channel_name: 'New' })
  t.is(rig.channels.rows.get(rig.channelId)?.channelName, 'New')
  const notice = { kind: 'channel-renamed', channelId: rig.channelId, channelName: 'New' } as const
  t.deepEqual(rig.bus.notices, [notice])
  const wrong = { ...CREDENTIALS, password: 'wrong password', channel_name: 'x' }
  t.is((await rig.post('/channel/rename', wrong)).status, 404)
  t.is(rig.bus.notices.length, 1)
})

test('channels/1: once a change of password is answered, only the new one opens the channel', async (t) => {
  const rig = await startIngress(t)
  const write = async (password: string): Promise<number> =>
    (await rig.post('/thing/update', { channel_id: CHANNEL, password, ...THING })).status
  t.is(await write(PASSWORD), 200)
  t.is(await write('new password'), 404)
  const change = { ...CREDENTIALS, new_password: 'new password' }
  t.deepEqual(dataOf(await rig.post('/channel/password', change)), { channel_id: CHANNEL })
  t.is(await write(PASSWORD), 404)
  t.is(await write('new password'), 200)
  t.deepEqual(rig.bus.notices, [{ kind: 'credentials-changed', channelId: rig.channelId }])
  t.is((await rig.post('/channel/password', change)).status, 404)
})

for (const [path, change] of [
  ['/channel/password', { new_password: 'new password' }],
  ['/channel/delete', {}],
] as const) {
  test(`channels/3: when the answer to ${path} is lost, the old password is taken no more`, async (t) => {
    const rig = await startIngress(t)
    const body = { ...CREDENTIALS, ...THING }
    t.is((await rig.post('/thing/update', body)).status, 200)
    const lost = Object.assign(new Error('the answer is lost'), { name: 'StoreError' })
    const { channels } = rig
    channels.changePassword = async () => {
      await addChannel(channels, CHANNEL, 'new password')
      throw lost
    }
    channels.delete = async (channelId) => {
      channels.rows.delete(channelId)
      throw lost
    }
    t.is((await rig.post(path, { ...CREDENTIALS, ...change })).status, 503)
    t.is((await rig.post('/thing/update', body)).status, 404)
    t.deepEqual(rig.bus.notices, [{ kind: 'credentials-changed', channelId: rig.channelId }])
  })
}

test('channels/2: a password that another node replaced meanwhile cannot be replaced by its old owner', async (t) => {
  const rig = await startIngress(t)
  await rig.post('/thing/update', { ...CREDENTIALS, ...THING })
  await addChannel(rig.channels, CHANNEL, 'changed elsewhere')
  const before = rig.channels.rows.get(rig.channelId)
  const change = { ...CREDENTIALS, new_password: 'new password' }
  t.is((await rig.post('/channel/password', change)).status, 404)
  t.is(rig.channels.rows.get(rig.channelId), before)
})

test('kept-answers/3: a clock that is set back keeps no password longer than a minute', async (t) => {
  const rig = await startIngress(t)
  const write = async (password: string): Promise<number> =>
    (await rig.post('/thing/update', { channel_id: CHANNEL, password, ...THING })).status
  t.is(await write(PASSWORD), 200)
  t.is(await write('changed elsewhere'), 404)
  await addChannel(rig.channels, CHANNEL, 'changed elsewhere')
  rig.time.set(-3_600_000)
  rig.time.advance(60_000)
  t.is(await write(PASSWORD), 404)
  t.is(await write('changed elsewhere'), 200)
})

for (const kind of ['credentials-changed', 'channel-deleted'] as const) {
  test(`a notice of ${kind} from another node drops the known credentials of the channel`, async (t) => {
    const rig = await startIngress(t)
    const body = { ...CREDENTIALS, ...THING }
    t.is((await rig.post('/thing/update', body)).status, 200)
    await addChannel(rig.channels, CHANNEL, 'changed elsewhere')
    rig.bus.notify({ kind, channelId: rig.channelId })
    t.is((await rig.post('/thing/update', body)).status, 404)
  })
}

test('a deleted channel is not found afterwards, by anybody', async (t) => {
  const rig = await startIngress(t)
  t.deepEqual(dataOf(await rig.post('/channel/delete', CREDENTIALS)), { deleted: true })
  t.deepEqual(rig.bus.notices, [{ kind: 'channel-deleted', channelId: rig.channelId }])
  for (const path of ['/channel/delete', '/channel/info', '/thing/update']) {
    t.is((await rig.post(path, { ...CREDENTIALS, ...THING })).status, 404, path)
  }
})

test('info describes a channel to callers with its password', async (t) => {
  const rig = await startIngress(t)
  t.like(dataOf(await rig.post('/channel/info', CREDENTIALS)), {
    channel_id: CHANNEL,
    channel_name: 'a channel',
    subscribers: 1,
    created_at: NOW_MS,
    head_seq: 7,
  })
  const wrong = { ...CREDENTIALS, password: 'wrong password' }
  t.is((await rig.post('/channel/info', wrong)).status, 404)
})

const existence: readonly (readonly [query: string, status: number, expected: object])[] = [
  [`?channel_id=${CHANNEL}`, 200, { channel_id: CHANNEL, exists: true }],
  [`?channel_id=${CHANNEL.toLowerCase()}`, 200, { channel_id: CHANNEL, exists: true }],
  [`?channel_id=${OTHER}`, 200, { channel_id: OTHER, exists: false }],
  ['?channel_id=nonsense', 400, {}],
  ['', 400, {}],
]

for (const [query, status, expected] of existence) {
  test(`GET /channel/exists${query} is answered ${status}, without a name`, async (t) => {
    const { get } = await startIngress(t)
    const answer = await get(`/channel/exists${query}`)
    t.is(answer.status, status)
    t.deepEqual(dataOf(answer), expected)
  })
}
