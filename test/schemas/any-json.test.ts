// Goal: whatever JSON arrives, reading gives a listed fault or a submission that survives the log.
// Method: fast-check, with bodies of arbitrary JSON under the names that the readers know, laid
// over a valid body so that many cases get past the first checks.

import test from 'ava'
import * as fc from 'fast-check'

import { FAULTS, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import { decodeBatch, encodeBatch, encodeSubmission } from '#src/schemas/batch'
import { CHANNEL } from '#src/schemas/channel-routes'
import { DELIVERY, DEVICE } from '#src/schemas/device-routes'
import { readEvent } from '#src/schemas/event'
import { readMessage } from '#src/schemas/message'
import { STATE } from '#src/schemas/reading-routes'
import { readersOf } from '#src/schemas/shape'
import { SUBSCRIPTION } from '#src/schemas/subscription-routes'
import { EVENT_REQUESTS } from '#src/schemas/event-schemas'
import { MESSAGE_REQUEST } from '#src/schemas/message-schemas'
import { THING_REQUESTS } from '#src/schemas/thing-schemas'
import type { ReadSubmission } from '#src/schemas/submission'
import { readThing } from '#src/schemas/thing'
import { CREDENTIALS, DEVICE_KEY, making } from '#test/support/making'

const NAMES = [
  ...Object.keys(MESSAGE_REQUEST.properties),
  ...Object.keys(EVENT_REQUESTS.create.properties),
  ...Object.keys(THING_REQUESTS.create.properties),
  'event_id',
  'ended_at',
  'deleted_at',
  'state',
  'kind',
  'limit',
  'cursor',
  'channels',
  'delivery_ids',
]

const key = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('__proto__', 'constructor', ''))
const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('a', '5', 'fault', '\ud800'))
const scalar = fc.oneof(text, fc.double(), fc.integer(), fc.boolean(), fc.constant(null))
const record = fc.dictionary(key, scalar, { noNullPrototype: false })
const value = fc.oneof(
  { weight: 3, arbitrary: scalar },
  { weight: 2, arbitrary: fc.array(text) },
  { weight: 2, arbitrary: record },
  { weight: 1, arbitrary: fc.jsonValue() },
)
const parts = fc.dictionary(fc.constantFrom(...NAMES), value, { maxKeys: 4 })
const valid = { ...CREDENTIALS, title: 't', event_time: 5, observed_at: 5 }
// By way of JSON text, as every body comes: then `__proto__` is an own key.
const asSent = (body: object): unknown => JSON.parse(JSON.stringify(body))
const body = fc.oneof(
  { weight: 6, arbitrary: parts.map((over) => asSent({ ...valid, ...over })) },
  { weight: 6, arbitrary: parts.map((over) => asSent({ ...valid, ...over, thing_id: 't' })) },
  { weight: 6, arbitrary: parts.map((over) => asSent({ ...valid, ...over, event_id: 'e' })) },
  { weight: 1, arbitrary: parts },
  { weight: 1, arbitrary: fc.jsonValue() },
)

const survives = (read: ReadSubmission | Fault): boolean => {
  if (isFault(read)) return read.code in FAULTS
  const [back] = decodeBatch(encodeBatch([encodeSubmission(read.submission)]))
  return JSON.stringify(back) === JSON.stringify(read.submission)
}

test('any JSON is a listed fault or a submission that survives the log', (t) => {
  let accepted = 0
  const property = fc.property(body, (sent) => {
    const reads = [
      readMessage(sent, making()),
      readEvent('create', sent, making()),
      readEvent('update', sent, { ...making(), pathThingId: 't' }),
      readEvent('close', sent, making()),
      readThing('create', sent, making()),
      readThing('update', sent, making()),
      readThing('archive', sent, making()),
      readThing('delete', sent, making()),
    ]
    accepted += reads.filter((read) => !isFault(read)).length
    return reads.every(survives)
  })
  fc.assert(property, { numRuns: 500 })
  t.true(accepted > 100, `only ${accepted} were accepted`)
})

const READERS = [DEVICE, DELIVERY, CHANNEL, SUBSCRIPTION, STATE].flatMap((routes) =>
  Object.values<(sent: unknown) => object>(readersOf(routes)),
)

test('any JSON is a listed fault or a request, on every other route', (t) => {
  const keyed = body.map(
    (sent) => ({ device_key: DEVICE_KEY, platform: 'ios', ...Object(sent) }) as unknown,
  )
  const property = fc.property(keyed, (sent) => {
    const reads = READERS.map((read) => read(sent))
    return reads.every((read) => !isFault(read) || read.code in FAULTS)
  })
  t.notThrows(() => fc.assert(property, { numRuns: 300 }))
})
