// Goal: requests about Channels are read as decisions.md 7 says. Method: one row a request.

import test from 'ava'

import { isFault } from '#domain/fault'
import { CHANNEL as ROUTES, CREDENTIALS_REQUEST } from '#src/schemas/channel-routes'
import { readersOf, request } from '#src/schemas/shape'
import { SUBSCRIPTION } from '#src/schemas/subscription-routes'
import { CHANNEL, CREDENTIALS, DEVICE_KEY, PASSWORD } from '#test/support/making'

const CHANNELS = readersOf(ROUTES)
const SUBSCRIPTIONS = readersOf(SUBSCRIPTION)
const readSyncItem = request(CREDENTIALS_REQUEST)

const judged = (read: unknown): unknown =>
  isFault(read) ? `${read.code} ${read.field ?? ''}` : read

const READ = { channelId: CHANNEL, password: PASSWORD }
const NAME = 'invalid_channel_name channel_name'

// Every request with a good body, what is read of it, and the members that it needs.
const requests: readonly (readonly [(sent: unknown) => unknown, body: object, read: unknown])[] = [
  [
    CHANNELS.create,
    { channel_name: 'Home', password: PASSWORD },
    { channelName: 'Home', password: PASSWORD },
  ],
  [
    SUBSCRIPTIONS.unsubscribe,
    { device_key: DEVICE_KEY, channel_id: CHANNEL },
    { deviceKey: DEVICE_KEY, channelId: CHANNEL },
  ],
  [
    CHANNELS.changePassword,
    { ...CREDENTIALS, new_password: 'even better', keep_keys: true },
    { ...READ, newPassword: 'even better', keepsKeys: true },
  ],
  [CHANNELS.rename, { ...CREDENTIALS, channel_name: 'Home' }, { ...READ, channelName: 'Home' }],
  [
    CHANNELS.changePassword,
    { ...CREDENTIALS, new_password: ' even better ' },
    { ...READ, newPassword: 'even better', keepsKeys: false },
  ],
  [CHANNELS.info, CREDENTIALS, { reader: { kind: 'password', ...READ } }],
]

// Member, value sent, and the refusal.
const refused: readonly (readonly [member: string, sent: unknown, expected: string])[] = [
  ['channel_id', undefined, 'channel_id_required channel_id'],
  ['channel_id', ' ', 'channel_id_required channel_id'],
  ['channel_id', 'x', 'invalid_channel_id channel_id'],
  ['channel_id', 5, 'invalid_json_data channel_id'],
  ['password', null, 'password_required password'],
  ['password', 'x', 'invalid_password password'],
  ['password', [], 'invalid_json_data password'],
  ['new_password', undefined, 'password_required new_password'],
  ['new_password', 'x', 'invalid_password new_password'],
  ['channel_name', undefined, NAME],
  ['channel_name', '  ', NAME],
  ['channel_name', 'a\nb', NAME],
  ['channel_name', 'a\u0085b', NAME],
  ['channel_name', 'a\ud800', NAME],
  ['channel_name', '🌍'.repeat(129), NAME],
  ['channel_name', {}, 'invalid_json_data channel_name'],
  ['device_key', undefined, 'validation_failed device_key'],
  ['device_key', 'x', 'device_key_not_found device_key'],
  ['device_key', 5, 'invalid_json_data device_key'],
]

test('each request gives the fields that it names and refuses missing ones', (t) => {
  for (const [read, body, expected] of requests) {
    t.deepEqual(read({ ...body, unknown: 1 }), expected)
    for (const [member, sent, refusal] of refused.filter(([name]) => name in body)) {
      t.is(judged(read({ ...body, [member]: sent })), refusal, `${member} ${String(sent)}`)
    }
    t.is(judged(read(null)), 'invalid_json_data ')
  }
})

test('a channel name has up to 128 characters of any script', (t) => {
  const name = '🌍'.repeat(128)
  t.like(CHANNELS.create({ channel_name: ` ${name} `, password: PASSWORD }), { channelName: name })
})

const subscriber = { device_key: DEVICE_KEY, password: PASSWORD }

const targets: readonly (readonly [more: object, expected: unknown])[] = [
  [{ channel_id: CHANNEL.toLowerCase() }, { kind: 'channel', channelId: CHANNEL }],
  [
    { channel_id: CHANNEL, channel_name: ' ' },
    { kind: 'channel', channelId: CHANNEL },
  ],
  [{ channel_name: ' Home ' }, { kind: 'new', channelName: 'Home' }],
  [
    { channel_name: 'Home', channel_id: null },
    { kind: 'new', channelName: 'Home' },
  ],
  [{}, 'channel_binding_invalid '],
  [{ channel_id: '', channel_name: '' }, 'channel_binding_invalid '],
  [{ channel_id: CHANNEL, channel_name: 'Home' }, 'channel_binding_invalid '],
  [{ channel_id: 'x' }, 'invalid_channel_id channel_id'],
  [{ channel_name: 'a\0' }, NAME],
  [{ channel_id: 5 }, 'invalid_json_data channel_id'],
]

test('a subscription names exactly one of channel_id and channel_name', (t) => {
  for (const [more, expected] of targets) {
    const read = SUBSCRIPTIONS.subscribe({ ...subscriber, ...more })
    const got = isFault(read) ? judged(read) : read.target
    t.deepEqual(got, expected, JSON.stringify(more))
  }
  t.like(SUBSCRIPTIONS.subscribe({ ...subscriber, channel_name: 'x' }), {
    deviceKey: DEVICE_KEY,
    password: PASSWORD,
  })
  t.is(judged(SUBSCRIPTIONS.subscribe({ password: PASSWORD })), 'validation_failed device_key')
  t.is(judged(SUBSCRIPTIONS.subscribe({ device_key: DEVICE_KEY })), 'password_required password')
  t.is(
    judged(SUBSCRIPTIONS.subscribe({ ...subscriber, device_key: 'x' })),
    'device_key_not_found device_key',
  )
  t.is(
    judged(SUBSCRIPTIONS.subscribe({ ...subscriber, password: 'x' })),
    'invalid_password password',
  )
})

const items: readonly (readonly [item: unknown, text: string, expected: unknown])[] = [
  [CREDENTIALS, CHANNEL, READ],
  [{ ...CREDENTIALS, channel_id: ` ${CHANNEL.toLowerCase()}` }, ` ${CHANNEL.toLowerCase()}`, READ],
  [{ ...CREDENTIALS, channel_id: 'x' }, 'x', 'invalid_channel_id channel_id'],
  [{ channel_id: CHANNEL }, CHANNEL, 'password_required password'],
  [{ channel_id: CHANNEL, password: 'x' }, CHANNEL, 'invalid_password password'],
  [{ channel_id: CHANNEL, password: 5 }, CHANNEL, 'invalid_json_data password'],
  [{ channel_id: 5, password: PASSWORD }, '', 'invalid_json_data channel_id'],
  [{}, '', 'channel_id_required channel_id'],
  [null, '', 'invalid_json_data '],
  ['x', '', 'invalid_json_data '],
]

test('each listed channel of a sync is judged alone and in order', (t) => {
  const channels = items.map(([item]) => item)
  const read = SUBSCRIPTIONS.synchronise({ device_key: DEVICE_KEY, channels })
  if (isFault(read)) return t.fail(read.code)
  for (const [index, [item, text, expected]] of items.entries()) {
    const { channelIdText, sent } = read.items[index] ?? {}
    t.deepEqual([channelIdText, judged(readSyncItem(sent))], [text, expected], JSON.stringify(item))
  }
})

test('a sync lists 0 to 2000 channels', (t) => {
  const sync = (count: number) =>
    SUBSCRIPTIONS.synchronise({
      device_key: DEVICE_KEY,
      channels: Array.from({ length: count }, () => CREDENTIALS),
    })
  t.like(sync(0), { deviceKey: DEVICE_KEY, items: { length: 0 } })
  t.like(sync(2000), { items: { length: 2000 } })
  t.is(judged(sync(2001)), 'channels_limit_exceeded channels')
  t.is(judged(SUBSCRIPTIONS.synchronise({ device_key: DEVICE_KEY })), 'validation_failed channels')
  t.is(
    judged(SUBSCRIPTIONS.synchronise({ device_key: DEVICE_KEY, channels: {} })),
    'invalid_json_data channels',
  )
  t.is(
    judged(SUBSCRIPTIONS.synchronise({ device_key: 'x', channels: [] })),
    'device_key_not_found device_key',
  )
})

test('the question whether a channel exists takes any spelling of its id', (t) => {
  const readExists = (sent: unknown) => CHANNELS.exists({ channel_id: sent })
  t.deepEqual(readExists(CHANNEL.toLowerCase()), { channelId: CHANNEL } as unknown)
  t.is(judged(readExists(undefined)), 'channel_id_required channel_id')
  t.is(judged(readExists('')), 'channel_id_required channel_id')
  t.is(judged(readExists('x')), 'invalid_channel_id channel_id')
})
