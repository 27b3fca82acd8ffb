// Goal: the column 1.3.0 of the table "Versioning" holds, and none of the earlier rules.
// Method: one row a topic: a request that the two columns judge differently, and the judgement.

import test from 'ava'

import { isFault } from '#domain/fault'
import type { EventAction, ThingAction } from '#domain/submission'
import { readEvent } from '#src/schemas/event'
import { readMessage } from '#src/schemas/message'
import { readThing } from '#src/schemas/thing'
import { CREDENTIALS, making } from '#test/support/making'

function outcome(
  read: ReturnType<typeof readMessage | typeof readEvent | typeof readThing>,
): unknown {
  if (isFault(read)) return read.code
  return 'patch' in read.submission ? read.submission.patch.fields : read.submission.fields
}

const message = (more: object) =>
  outcome(readMessage({ ...CREDENTIALS, title: 't', ...more }, making()))

const event = (action: EventAction, more: object = {}) => {
  const known = action === 'create' ? {} : { event_id: 'e' }
  return outcome(readEvent(action, { ...CREDENTIALS, ...known, event_time: 5, ...more }, making()))
}

const thing = (action: ThingAction, more: object = {}) => {
  const known = action === 'create' ? {} : { thing_id: 't' }
  return outcome(readThing(action, { ...CREDENTIALS, ...known, observed_at: 5, ...more }, making()))
}

const long = (length: number) => 'x'.repeat(length)
const list = (length: number) => Array.from({ length }, (_, index) => `${index}`)

const rows: readonly (readonly [topic: string, got: unknown, expected: unknown])[] = [
  ['unknown fields are ignored on a message', message({ extra: 1 }), { title: 't' }],
  ['unknown fields are ignored on an event', event('create', { extra: {} }), {}],
  ['unknown fields are ignored on a thing', thing('create', { extra: [] }), {}],
  ['op_id on an event', event('update', { op_id: 'a' }), 'op_id_not_allowed'],
  ['op_id on a thing', thing('archive', { op_id: 'a' }), 'op_id_not_allowed'],
  ['password in bytes', message({ password: 'éééé' }), { title: 't' }],
  ['password too long in bytes', message({ password: 'é'.repeat(65) }), 'invalid_password'],
  ['event create needs event_time only', event('create'), {}],
  ['event update needs event_id and event_time only', event('update'), {}],
  ['event close needs event_id and event_time only', event('close'), {}],
  ['event status is free', event('create', { status: long(25) }), { status: long(25) }],
  ['event message is free', event('create', { message: long(513) }), { message: long(513) }],
  ['event severity is free', event('create', { severity: 'odd' }), { severity: 'odd' }],
  ['event started_at is not defaulted', event('create'), {}],
  ['event ended_at is not defaulted', event('close'), {}],
  ['event tags have no limits', event('create', { tags: list(33) }), { tags: list(33) }],
  ['event tag length', event('create', { tags: [long(65)] }), { tags: [long(65)] }],
  ['event image length', event('create', { images: [long(2049)] }), { images: [long(2049)] }],
  ['event attrs may hold lists', event('create', { attrs: { a: [1] } }), {}],
  ['thing title may be missing on create', thing('create'), {}],
  ['thing created_at is not defaulted', thing('create'), {}],
  ['thing deleted_at is not defaulted', thing('delete'), {}],
  ['thing deleted_at elsewhere', thing('update', { deleted_at: 1 }), 'deleted_at_forbidden'],
  ['thing tags have no limits', thing('update', { tags: list(33) }), { tags: list(33) }],
  [
    'thing images have no limits',
    thing('update', { images: [long(2049)] }),
    { images: [long(2049)] },
  ],
  ['thing primary_image', thing('update', { primary_image: 'a' }), { primary_image: 'a' }],
  ['thing external_ids have free keys', thing('update', { external_ids: { 'a b': '' } }), {}],
  ['thing location_type alone', thing('update', { location_type: 'x' }), { location_type: 'x' }],
  ['thing location_value alone', thing('update', { location_value: 'y' }), { location_value: 'y' }],
  ['thing attrs nest and hold lists', thing('update', { attrs: { a: { b: { c: [1] } } } }), {}],
  ['thing observed_at as text', thing('update', { observed_at: '5' }), {}],
  ['message ttl in seconds', message({ ttl: 4_000_000 }), { title: 't', ttl: 4_000_000_000 }],
  [
    'message occurred_at as text',
    message({ occurred_at: '5' }),
    { title: 't', occurred_at: 5_000 },
  ],
  ['tags are measured in bytes', message({ tags: ['é'.repeat(33)] }), 'validation_failed'],
  ['images are measured in bytes', message({ images: ['é'.repeat(1025)] }), 'validation_failed'],
]

test('the rules marked 1.3.0 are in force', (t) => {
  for (const [topic, got, expected] of rows) {
    t.is(JSON.stringify(got), JSON.stringify(expected), topic)
  }
})
