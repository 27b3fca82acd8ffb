// Goal: requests that read what is kept are read as decisions.md 8 says. Method: one row a request.

import test from 'ava'

import { isFault } from '#domain/fault'
import { DELIVERY } from '#src/schemas/device-routes'
import { encodeCursor, readCursor } from '#src/schemas/paging'
import { STATE } from '#src/schemas/reading-routes'
import { readersOf } from '#src/schemas/shape'
import { isRecord } from '#domain/record'
import { CHANNEL, CREDENTIALS, DEVICE_KEY, PASSWORD } from '#test/support/making'

const READ = readersOf({ ...STATE, ...DELIVERY })

const judged = (read: unknown): unknown =>
  isFault(read) ? `${read.code} ${read.field ?? ''}` : read

const BY_PASSWORD = { kind: 'password', channelId: CHANNEL, password: PASSWORD }
const BY_DEVICE = { kind: 'device', channelId: CHANNEL, deviceKey: DEVICE_KEY }

const readers: readonly (readonly [sent: object, expected: unknown])[] = [
  [CREDENTIALS, BY_PASSWORD],
  [{ ...CREDENTIALS, device_key: null }, BY_PASSWORD],
  [{ ...CREDENTIALS, device_key: ' ' }, BY_PASSWORD],
  [{ channel_id: CHANNEL, device_key: ` ${DEVICE_KEY}` }, BY_DEVICE],
  [{ channel_id: CHANNEL, device_key: DEVICE_KEY, password: '' }, BY_DEVICE],
  [{ channel_id: CHANNEL }, 'password_required password'],
  [{ channel_id: CHANNEL, password: 'x' }, 'invalid_password password'],
  [{ channel_id: CHANNEL, device_key: 'x' }, 'device_key_not_found device_key'],
  [{ ...CREDENTIALS, device_key: DEVICE_KEY }, 'validation_failed device_key'],
  [{ password: PASSWORD }, 'channel_id_required channel_id'],
  [{ ...CREDENTIALS, channel_id: 'x' }, 'invalid_channel_id channel_id'],
  [{ ...CREDENTIALS, device_key: 5 }, 'invalid_json_data device_key'],
]

test('a reader shows exactly one of password and device_key, on every reading route', (t) => {
  for (const [sent, expected] of readers) {
    const ids = { ...sent, thing_id: 't', event_id: 'e' }
    const reads = [
      READ.thing(ids),
      READ.event(ids),
      READ.things(sent),
      READ.events(sent),
      READ.history(sent),
    ]
    for (const read of reads) {
      t.deepEqual(isFault(read) ? judged(read) : read.reader, expected, JSON.stringify(sent))
    }
  }
})

test('one entity is asked for by its id', (t) => {
  t.like(READ.thing({ ...CREDENTIALS, thing_id: ' t ' }), { id: 't' })
  t.like(READ.event({ ...CREDENTIALS, event_id: 'e', thing_id: 5 }), { id: 'e' })
  const refusals: readonly (readonly [sent: object, expected: string])[] = [
    [{}, 'thing_id_required thing_id'],
    [{ thing_id: ' ' }, 'thing_id_required thing_id'],
    [{ thing_id: 'a b' }, 'validation_failed thing_id'],
    [{ thing_id: 5 }, 'invalid_json_data thing_id'],
  ]
  for (const [sent, expected] of refusals) {
    t.is(judged(READ.thing({ ...CREDENTIALS, ...sent })), expected)
  }
  t.is(judged(READ.event(CREDENTIALS)), 'event_id_required event_id')
})

// Member and value of a list, and what is read beside the reader.
const lists: readonly (readonly ['thing' | 'event', more: object, expected: unknown])[] = [
  ['thing', {}, { limit: 50 }],
  ['thing', { state: ' Archived ' }, { limit: 50, state: 'archived' }],
  ['thing', { state: '' }, { limit: 50 }],
  ['thing', { state: 'open' }, 'validation_failed state'],
  ['thing', { thing_id: 'a b' }, { limit: 50 }],
  ['event', { state: 'closed', thing_id: 't' }, { limit: 50, state: 'closed', thingId: 't' }],
  ['event', { state: 'deleted' }, 'validation_failed state'],
  ['event', { thing_id: 'a b' }, 'validation_failed thing_id'],
  ['event', { limit: 200 }, { limit: 200 }],
  ['event', { limit: '1' }, { limit: 1 }],
  ['event', { limit: 201 }, 'validation_failed limit'],
  ['event', { limit: 0 }, 'validation_failed limit'],
  ['event', { limit: true }, 'invalid_json_data limit'],
  ['event', { cursor: encodeCursor(77) }, { limit: 50, before: 77 }],
  ['event', { cursor: 'nope' }, 'invalid_cursor cursor'],
]

test('a list may be filtered and paged', (t) => {
  for (const [model, more, expected] of lists) {
    const read = READ[`${model}s`]({ ...CREDENTIALS, ...more })
    const got = isFault(read) ? judged(read) : { ...read, reader: undefined }
    const wanted = isRecord(expected) ? { ...expected, reader: undefined } : expected
    t.deepEqual(got, wanted, JSON.stringify(more))
  }
})

const histories: readonly (readonly [more: object, expected: unknown])[] = [
  [{}, { limit: 50 }],
  [{ after_seq: 5 }, { limit: 50, afterSeq: 5 }],
  [{ after_seq: '0' }, { limit: 50, afterSeq: 0 }],
  [
    { after_seq: 5, cursor: encodeCursor(9) },
    { limit: 50, afterSeq: 9 },
  ],
  [{ since: 1_763_684_000 }, { limit: 50, sinceMs: 1_763_684_000_000 }],
  [
    { model: 'Thing', entity_id: 't' },
    { limit: 50, models: ['thing'], entityId: 't' },
  ],
  [{ after_seq: -1 }, 'validation_failed after_seq'],
  [{ after_seq: '1e3' }, 'validation_failed after_seq'],
  [{ after_seq: 1.5 }, 'invalid_json_data after_seq'],
  [{ since: 'noon' }, 'invalid_timestamp since'],
  [{ model: 'channel' }, 'validation_failed model'],
  [{ entity_id: 'a b' }, 'validation_failed entity_id'],
  [{ cursor: 'c' }, 'invalid_cursor cursor'],
  [{ limit: 500 }, 'validation_failed limit'],
]

test('a history begins behind a seq or at a time, and may be filtered', (t) => {
  for (const [more, expected] of histories) {
    const read = READ.history({ ...CREDENTIALS, ...more })
    const got = isFault(read) ? judged(read) : { ...read, reader: undefined }
    const wanted = isRecord(expected) ? { ...expected, reader: undefined } : expected
    t.deepEqual(got, wanted, JSON.stringify(more))
  }
})

test('a cursor gives back its place, and no other text is one', (t) => {
  for (const place of [0, 1, 35, 36, 1e9, Number.MAX_SAFE_INTEGER]) {
    t.is(readCursor(encodeCursor(place)), place)
  }
  for (const cursor of [
    'x',
    'c',
    'c-1',
    'c01',
    'C1',
    'c1 2',
    'czzzzzzzzzzz',
    `c${'1'.repeat(40)}`,
  ]) {
    t.like(readCursor(cursor), { code: 'invalid_cursor' }, cursor)
  }
  for (const absent of [undefined, null, '', ' ']) t.is(readCursor(absent), undefined)
})

test('a pull takes up to 200 entries', (t) => {
  t.deepEqual(judged(READ.pull({ device_key: DEVICE_KEY })), { deviceKey: DEVICE_KEY, limit: 200 })
  t.like(READ.pull({ device_key: DEVICE_KEY, limit: 1 }), { limit: 1 })
  t.is(judged(READ.pull({ device_key: DEVICE_KEY, limit: 201 })), 'validation_failed limit')
  t.is(judged(READ.pull({ device_key: 'x' })), 'device_key_not_found device_key')
  t.is(judged(READ.pull({})), 'validation_failed device_key')
})

const ids = (count: number) =>
  Array.from({ length: count }, (_, index) => `${CHANNEL}-${index + 1}`)

test('an acknowledgement names 1 to 200 different deliveries', (t) => {
  const ack = (delivery_ids: unknown) => READ.acknowledge({ device_key: DEVICE_KEY, delivery_ids })
  t.deepEqual(judged(ack([` ${CHANNEL}-7 `, `${CHANNEL}-5`, `${CHANNEL}-7`])), {
    deviceKey: DEVICE_KEY,
    deliveries: [
      { channelId: CHANNEL, seq: 7 },
      { channelId: CHANNEL, seq: 5 },
    ],
  })
  t.like(ack([...ids(200), ...ids(200)]), { deliveries: { length: 200 } })
  t.is(judged(ack(ids(201))), 'delivery_ack_batch_invalid delivery_ids')
  t.is(judged(ack([])), 'delivery_ack_batch_invalid delivery_ids')
  t.is(judged(ack(null)), 'delivery_ack_batch_invalid delivery_ids')
  t.is(judged(ack('x')), 'invalid_json_data delivery_ids')
  t.is(judged(ack([5])), 'invalid_json_data delivery_ids')
  t.is(judged(READ.acknowledge({ delivery_ids: ids(1) })), 'validation_failed device_key')
})

test('a delivery_id that the gateway did not make is refused', (t) => {
  const wrong = ['', 'x', CHANNEL, `${CHANNEL}-`, `${CHANNEL}-0`, `${CHANNEL}--1`, `${CHANNEL}-01`]
  const more = [`${CHANNEL}-1.5`, `${CHANNEL}-1e3`, `${CHANNEL}_1`, `${CHANNEL.toLowerCase()}-1`]
  for (const id of [...wrong, ...more, `${CHANNEL}-${'9'.repeat(20)}`, `${CHANNEL}-1x`]) {
    const read = READ.acknowledge({ device_key: DEVICE_KEY, delivery_ids: [`${CHANNEL}-1`, id] })
    t.is(judged(read), 'delivery_id_invalid delivery_ids', id)
  }
})
