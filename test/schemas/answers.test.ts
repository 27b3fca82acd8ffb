// Goal: what answers carry has the names of the wire, and fits its own schema.

import { Ajv2020 } from 'ajv/dist/2020.js'
import test from 'ava'

import type { Entity, EventState, ThingState, TimedFields } from '#domain/entity'
import { isFault } from '#domain/fault'
import type { FeedEntry } from '#domain/feed'
import { operationIdFrom, parseEventId, parseThingId } from '#domain/identity'
import type { ChannelId, EntityId } from '#domain/identity'
import type { KeptOperation } from '#domain/operation'
import type { Json } from '#domain/submission'
import { eventToWire, feedEntryToWire, thingToWire } from '#src/schemas/answers'
import { CHANNEL as CHANNEL_ROUTES } from '#src/schemas/channel-routes'
import type { ObjectSchema } from '#src/schemas/json-schema'
import { FEED_ENTRY } from '#src/schemas/reading-routes'
import { EVENT_DATA } from '#src/schemas/event-schemas'
import { STATUS } from '#src/schemas/submission-schemas'
import { THING_DATA } from '#src/schemas/thing-schemas'
import { readChannelId } from '#src/schemas/values'
import { CHANNEL, NOW_MS } from '#test/support/making'
import { fieldsOf, record } from '#test/support/submissions'

function sure<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('the test itself is wrong')
  return value
}

const channel: ChannelId = (() => {
  const read = readChannelId(CHANNEL)
  if (isFault(read)) throw new Error(read.code)
  return read
})()
const thingId: EntityId = sure(parseThingId('t'))
const opId = operationIdFrom(NOW_MS, 'a'.repeat(32))

const timed = (values: Record<string, Json>): TimedFields => ({
  values: fieldsOf(values),
  times: undefined,
})

const entity = <State extends string>(state: State): Entity<State> => ({
  id: 'the-id',
  state,
  stateAt: 5,
  rev: 3,
  seq: 9,
  at: 7_000,
  changedAt: NOW_MS,
  fields: timed({ title: 'Boiler', state: 'forged', thing_id: 't', tags: ['a'] }),
  attrs: timed({ a: { b: null }, gone: null }),
  externalIds: timed({ gone: null }),
})

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true })

const fits = (schema: ObjectSchema, value: unknown) => ajv.validate(schema, value)

test('a thing shows its fields, and attrs without removed ones', (t) => {
  const wire = thingToWire(entity<ThingState>('active'))
  t.like(wire, { thing_id: 'the-id', state: 'active', rev: 3, seq: 9, observed_at: 7_000 })
  t.like(wire, { title: 'Boiler', tags: ['a'], changed_at: NOW_MS })
  t.is(JSON.stringify(wire['attrs']), '{"a":{"b":null}}')
  t.false('external_ids' in wire)
  t.true(fits(THING_DATA, wire))
})

test('a thing tells the times of attrs that its newest reading did not set, and of no others', (t) => {
  const attrs = { a: 1, b: 2, gone: null }
  const times = { a: 5_000, gone: 4_000 }
  const late = thingToWire({ ...entity<ThingState>('active'), attrs: { ...timed(attrs), times } })
  t.deepEqual({ ...(late['attr_times'] as object) }, { a: 5_000 })
  t.true(fits(THING_DATA, late))
  const onlyGone = { ...timed(attrs), times: { gone: 4_000 } }
  for (const same of [timed(attrs), onlyGone]) {
    t.false('attr_times' in thingToWire({ ...entity<ThingState>('active'), attrs: same }))
  }
})

test('an event shows its own id and time, and the thing that it belongs to', (t) => {
  const wire = eventToWire({ ...entity<EventState>('open'), externalIds: timed({ x: 'y' }) })
  t.like(wire, { event_id: 'the-id', thing_id: 't', state: 'open', event_time: 7_000 })
  t.is(JSON.stringify(wire['external_ids']), '{"x":"y"}')
  t.true(fits(EVENT_DATA, wire))
})

test('prototype keys of attrs are shown as plain data', (t) => {
  const attrs = { values: record([['__proto__', 'a']]), times: undefined }
  const wire = thingToWire({ ...entity<ThingState>('active'), attrs })
  t.is(JSON.stringify(wire['attrs']), '{"__proto__":"a"}')
})

const entry: FeedEntry = {
  channelId: channel,
  seq: 9,
  opId,
  model: 'thing',
  action: 'update',
  entityId: thingId,
  state: 'active',
  rev: 3,
  acceptedAt: NOW_MS,
  payload: '{"attrs":{"a":null}}',
}

test('a feed entry names its delivery and holds its payload as JSON', (t) => {
  t.deepEqual(feedEntryToWire(entry), {
    delivery_id: `${CHANNEL}-9`,
    channel_id: CHANNEL,
    seq: 9,
    op_id: opId,
    model: 'thing',
    action: 'update',
    entity_id: 't',
    state: 'active',
    rev: 3,
    accepted_at: NOW_MS,
    payload: { attrs: { a: null } },
  })
  t.true(fits(FEED_ENTRY, feedEntryToWire(entry)))
  const { state: _, rev: __, ...message } = entry
  t.false('state' in feedEntryToWire(message))
  t.false('rev' in feedEntryToWire(message))
})

const operation: KeptOperation = {
  opId,
  channelId: channel,
  model: 'event',
  entityId: sure(parseEventId('e')),
  status: 'sent',
  acceptedAt: NOW_MS,
  updatedAt: NOW_MS + 5,
  expiresAt: NOW_MS + 1_000,
}

test('an operation expires after its retention and shows an error only when it failed', (t) => {
  const wire = {
    op_id: opId,
    status: 'sent',
    model: 'event',
    entity_id: 'e',
    accepted_at: NOW_MS,
    updated_at: NOW_MS + 5,
    expires_at: NOW_MS + 1_000,
  }
  t.deepEqual(STATUS.find.write(operation), wire)
  t.true(fits(STATUS.find.data, STATUS.find.write(operation)))
  const failed = { ...operation, status: 'failed', errorCode: 'event_closed' } as const
  t.deepEqual(STATUS.find.write(failed), {
    ...wire,
    status: 'failed',
    error_code: 'event_closed',
  })
  t.deepEqual(STATUS.find.write({ ...failed, status: 'sent' }), wire)
})

test('the info of a channel has the names of the wire', (t) => {
  const info = { subscribers: 1, createdAt: 2, headSeq: 3, things: 4, openEvents: 5 }
  const retention = { messagesAndEvents: 6, thingUpdates: 7, unused: 8 }
  const wire = CHANNEL_ROUTES.info.write({
    channelId: channel,
    channelName: 'Home',
    ...info,
    retention,
  })
  t.deepEqual(wire, {
    channel_id: CHANNEL,
    channel_name: 'Home',
    subscribers: 1,
    created_at: 2,
    head_seq: 3,
    things: 4,
    open_events: 5,
    retention: { messages_and_events_ms: 6, thing_updates_ms: 7, unused_ms: 8 },
  })
  t.true(fits(CHANNEL_ROUTES.info.data, wire))
})
