// Goal: a key does what its rights say, wherever a password may stand, and nothing else.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { parseChannelId } from '#domain/identity'
import { createClient } from '#src/client/client'
import { startStyles } from '#test/support/compatibility-rig'
import { PLACES, PREFIXED } from '#test/support/key-places'
import { CHANNEL, CREDENTIALS, DEVICE_KEY, NOW_MS, PASSWORD } from '#test/support/making'
import { addChannel } from '#test/support/start-ingress'
import type { Answered, Rig } from '#test/support/start-ingress'

const OTHER = 'ZYXWVTSRQPNMKJHGFEDCBA9870'

type Sent = Readonly<Record<string, unknown>>

const dataOf = ({ json }: Answered): Sent => json['data'] as Sent

async function keyOf(rig: Rig, rights: object = {}): Promise<{ key: string; key_id: string }> {
  const { key, key_id } = dataOf(await rig.post('/channel/key', { ...CREDENTIALS, ...rights }))
  return { key: String(key), key_id: String(key_id) }
}

test('a key stands in the place of every password, with and without its channel', async (t) => {
  const rig = await startStyles(t, { passwordBudget: { perAddress: 3, total: 3 } })
  const [sends, reads] = [
    await keyOf(rig, { scopes: ['send'] }),
    await keyOf(rig, { scopes: ['read'] }),
  ]
  for (const [path, fields, scope] of PLACES) {
    const { key } = scope === 'send' ? sends : reads
    for (const named of [{}, { channel_id: CHANNEL }, { channel_id: ' ' }]) {
      const { status, text } = await rig.post(path, { ...fields, ...named, password: ` ${key} ` })
      // The fakes know neither Thing nor Event.
      t.true(status === 200 || text.includes('entity_not_found'), `${path} ${text}`)
    }
  }
  const byQuery = await rig.get(`/message?title=T&password=${sends.key}`)
  t.is(byQuery.status, 200, byQuery.text)
  t.true(rig.sink.accepted.every(({ channelId }) => channelId === rig.channelId))
  t.false(JSON.stringify(rig.logger.lines).includes(sends.key))
})

test('a key without the scope is refused with the scope that it lacks', async (t) => {
  const rig = await startStyles(t)
  const keys = {
    send: await keyOf(rig, { scopes: ['read'] }),
    read: await keyOf(rig, { scopes: ['send'] }),
  }
  for (const [path, fields, scope] of PLACES) {
    const { status, json, text } = await rig.post(path, { ...fields, password: keys[scope].key })
    t.is(status, 403, path)
    t.is(json['error_code'], 'key_scope')
    t.true(text.includes(`lacks the scope ${scope}`), text)
  }
  t.is((await rig.get(`/compat-topic/${keys.read.key}/json?poll=1`)).status, 403)
  t.is((await rig.get(`/compat-devicekey/${keys.send.key}/M`)).status, 403)
  t.is(rig.sink.accepted.length, 0)
})

test('key-rights/1: a key with a prefix sends and reads Things of that, and their Events', async (t) => {
  const rig = await startStyles(t)
  await rig.post('/device/register', { device_key: DEVICE_KEY, platform: 'web' })
  const device = dataOf(await rig.post('/device/register', { platform: 'web' }))['device_key']
  const { key } = await keyOf(rig, { thing_prefix: 'boiler-' })
  for (const [path, fields, isOwn] of PREFIXED) {
    const sent = { ...fields, password: key, ...('device_key' in fields && { device_key: device }) }
    const { status, json, text } = await rig.post(path, sent)
    t.is(status, isOwn ? 200 : 403, `${path} ${JSON.stringify(fields)} ${text}`)
    if (!isOwn) t.is(json['error_code'], 'key_scope')
    if (!isOwn) t.true(text.includes('boiler-'), text)
  }
  t.is((await rig.get(`/compat-topic/${key}/json?poll=1`)).status, 403)
  // key-rights/2
  const known = rig.sink.accepted.filter(
    ({ model, action }) => model === 'event' && action !== 'create',
  )
  t.deepEqual(
    known.map((one) => 'within' in one && one.within),
    ['boiler-', 'boiler-'],
  )
  await rig.post('/thing/list', { password: key })
  await rig.post('/channel/history', { password: key })
  t.like(rig.reads.queries.slice(-2), [{ thingPrefix: 'boiler-' }, { thingPrefix: 'boiler-' }])
})

test('key-rights/1: an Event of another Thing is one that does not exist', async (t) => {
  const rig = await startStyles(t)
  const { key } = await keyOf(rig, { thing_prefix: 'boiler-' })
  const read = async (eventId: string): Promise<Answered> =>
    rig.post('/event/get', { event_id: eventId, password: key })
  rig.reads.addEvent('own', { thing_id: 'boiler-1' })
  rig.reads.addEvent('foreign', { thing_id: 'door-1' })
  rig.reads.addEvent('free', {})
  t.is((await read('own')).status, 200)
  const unknown = await read('unknown')
  for (const id of ['foreign', 'free'])
    t.is((await read(id)).json['error'], unknown.json['error'], id)
})

test('an expired key says so, and opens nothing from its time on', async (t) => {
  const rig = await startStyles(t)
  const { key } = await keyOf(rig, { expires_at: NOW_MS + 1_000 })
  const send = (): Promise<Answered> => rig.post('/message', { title: 'T', password: key })
  rig.time.advance(999)
  t.is((await send()).status, 200)
  rig.time.advance(1)
  const refused = await send()
  t.is(refused.status, 403)
  t.is(refused.json['error_code'], 'key_expired')
})

test('channel-keys/3, subscribers/1: a key proves nothing for keys, devices, password, rename or deletion', async (t) => {
  const rig = await startStyles(t)
  const { key, key_id } = await keyOf(rig)
  for (const [path, fields] of [
    ['/channel/key', {}],
    ['/channel/key/list', {}],
    ['/channel/key/revoke', { key_id }],
    ['/channel/subscriber/list', {}],
    ['/channel/subscriber/remove', { subscriber_id: 'a'.repeat(32) }],
    ['/channel/password', { new_password: 'a new password' }],
    ['/channel/rename', { channel_name: 'New' }],
    ['/channel/delete', {}],
  ] as const) {
    const refused = await rig.post(path, { ...fields, channel_id: CHANNEL, password: key })
    t.is(refused.json['error_code'], 'channel_not_found', path)
    t.is(
      (await rig.post(path, { ...fields, password: key })).json['error_code'],
      'channel_id_required',
    )
  }
})

test('access-checks/1: everything that is no good key of the channel is a wrong password', async (t) => {
  const rig = await startStyles(t)
  await addChannel(rig.channels, OTHER, 'k'.repeat(43))
  const { key } = await keyOf(rig)
  const unknown = 'K'.repeat(43)
  const bodies = [
    { channel_id: OTHER, password: key },
    { channel_id: CHANNEL, password: unknown },
    { password: unknown },
    { channel_id: CHANNEL, password: `${key}x` },
    { channel_id: CHANNEL, password: key.slice(0, 42) },
  ]
  for (const body of bodies) {
    const refused = await rig.post('/message', { title: 'T', ...body })
    t.is(refused.json['error_code'], 'channel_not_found', JSON.stringify(body))
  }
  const looksLikeOne = { channel_id: OTHER, password: 'k'.repeat(43), title: 'T' }
  t.is((await rig.post('/message', looksLikeOne)).status, 200, 'a password may look like a key')
  t.is(
    (await rig.post('/message', { password: PASSWORD, title: 'T' })).json['error_code'],
    'channel_id_required',
  )
})

test('access-checks/2: refused keys count in the password budget, good ones do not', async (t) => {
  const rig = await startStyles(t, { passwordBudget: { perAddress: 2, total: 100 } })
  const { key } = await keyOf(rig, { scopes: ['send'] })
  const send = (password: string): Promise<Answered> =>
    rig.post('/message', { title: 'T', password })
  for (let sent = 0; sent < 5; sent += 1) t.is((await send(key)).status, 200)
  t.is((await send('K'.repeat(43))).status, 404)
  t.is((await send('L'.repeat(43))).status, 429)
  t.is((await rig.post('/thing/list', { password: key })).status, 429, 'a missing scope counts')
  t.is((await send(key)).status, 200, 'guesses take nothing from a key')
})

test('with a gateway token a key needs it beside it, as a password does', async (t) => {
  const rig = await startStyles(t, { token: 'secret' })
  const headers = { authorization: 'Bearer secret' }
  const { key } = dataOf(await rig.post('/channel/key', CREDENTIALS, headers))
  const body = { title: 'T', password: key }
  t.is((await rig.post('/message', body)).status, 401)
  t.is((await rig.post('/message', body, headers)).status, 200)
})

test('the SDK makes, lists and revokes keys, and a key stands in the place of channel and password', async (t) => {
  const rig = await startStyles(t)
  const client = createClient({ baseUrl: rig.url })
  const credentials = { channel_id: rig.channelId, password: PASSWORD }
  const { key, key_id } = await client.key.create({ ...credentials, thing_prefix: 'boiler-' })
  t.like(await client.key.list(credentials), { keys: [{ key_id, thing_prefix: 'boiler-' }] })
  const send = (thing_id: string) =>
    client.thing.update({ password: key, thing_id, observed_at: NOW_MS, attrs: { on: true } })
  await send('boiler-7')
  t.is(rig.sink.accepted.at(-1)?.channelId, rig.channelId)
  await t.throwsAsync(send('pump'), { code: 'key_scope' })
  await client.key.revoke({ ...credentials, key_id })
  await t.throwsAsync(send('boiler-7'), { code: 'channel_not_found' })
})

test('a device subscribes and synchronises by keys', async (t) => {
  const rig = await startStyles(t)
  const device_key = dataOf(await rig.post('/device/register', { platform: 'web' }))['device_key']
  const { key } = await keyOf(rig, { scopes: ['read'] })
  const { key: other } = await keyOf(rig, { scopes: ['send'] })
  const joined = dataOf(await rig.post('/channel/subscribe', { device_key, password: key }))
  t.is(joined['channel_id'], CHANNEL)
  const channels = [{ password: key }, { password: other }, { channel_id: CHANNEL, password: key }]
  const synced = dataOf(await rig.post('/channel/sync', { device_key, channels }))
  t.like(synced, { success: 2, failed: 1 })
  t.like((synced['channels'] as Sent[])[1], { error_code: 'key_scope' })
})

test('a changed password voids keys unless it keeps them, and revocation ends one', async (t) => {
  const rig = await startStyles(t)
  const [first, second] = [await keyOf(rig), await keyOf(rig)]
  const works = async ({ key }: { key: string }): Promise<boolean> =>
    (await rig.post('/message', { title: 'T', password: key })).status === 200
  await rig.post('/channel/password', {
    ...CREDENTIALS,
    new_password: 'the second one',
    keep_keys: true,
  })
  t.true(await works(first))
  const proof = { channel_id: CHANNEL, password: 'the second one' }
  await rig.post('/channel/key/revoke', { ...proof, key_id: first.key_id })
  t.deepEqual([await works(first), await works(second)], [false, true])
  await rig.post('/channel/password', { ...proof, new_password: 'the third one' })
  t.false(await works(second))
})

const listed = (answer: Answered): readonly Sent[] => dataOf(answer)['keys'] as readonly Sent[]

test('keys are listed in pages with the day of their last use', async (t: ExecutionContext) => {
  const rig = await startStyles(t)
  const made = [
    await keyOf(rig, { label: 'a', expires_at: 4_102_444_800 }),
    await keyOf(rig),
    await keyOf(rig),
  ]
  for (const { key } of made.slice(1, 2)) {
    for (let sent = 0; sent < 3; sent += 1)
      await rig.post('/message', { title: 'T', password: key })
  }
  rig.time.advance(10_000)
  const first = await rig.post('/channel/key/list', { ...CREDENTIALS, limit: 2 })
  const rest = await rig.post('/channel/key/list', {
    ...CREDENTIALS,
    limit: 2,
    cursor: dataOf(first)['next_cursor'],
  })
  t.deepEqual(
    [...listed(first), ...listed(rest)].map((key) => key['key_id']),
    made.map(({ key_id }) => key_id),
  )
  const day = new Date(NOW_MS).toISOString().slice(0, 10)
  t.deepEqual(
    listed(first).map((key) => key['last_used_on']),
    [undefined, day],
  )
  t.is(listed(first)[0]?.['expires_at'], 4_102_444_800_000)
  t.false('next_cursor' in dataOf(rest))
  t.not(parseChannelId(CHANNEL), undefined)
})
