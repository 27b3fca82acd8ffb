// Converts Things and Events between the domain and their rows.
//
// A document holds every value, but times only for values that the newest reading did not set: it
// set most of them, and a time for each would be half of what a turn writes.

import type { Entity, Event, Thing, TimedFields, Times } from '#domain/entity'
import type { FeedEntry } from '#domain/feed'
import { bare, isRecord } from '#domain/record'
import { valuesOf } from '#domain/patch'
import type { ChannelId, OperationId, ThingId } from '#domain/identity'
import type { Json } from '#domain/submission'
import type { EventRow, ThingRow } from '#src/store/entities/entities'
import { StoreDefect } from '#src/store/store-error'

/** The document of an entity; its other members are columns. */
export function documentOf({ rev, stateAt, at, changedAt, heardAt, ...body }: Entity): string {
  const { fields, attrs, externalIds } = body
  return JSON.stringify({
    rev,
    stateAt,
    at,
    changedAt,
    heardAt,
    fields: fields.values,
    attrs: attrs.values,
    externalIds: externalIds.values,
    times: { fields: fields.times, attrs: attrs.times, externalIds: externalIds.times },
  })
}

/** Columns from which an entity is made again. */
type EntityColumns<Row extends ThingRow | EventRow> = Pick<Row, 'id' | 'state' | 'seq' | 'document'>

export const thingFrom = (row: EntityColumns<ThingRow>): Thing => entityFrom(row)
export const eventFrom = (row: EntityColumns<EventRow>): Event => entityFrom(row)

function entityFrom<State extends string>({
  id,
  state,
  seq,
  document,
}: EntityColumns<ThingRow | EventRow> & { readonly state: State }): Entity<State> {
  const parsed: unknown = JSON.parse(document)
  if (!isRecord(parsed)) throw damaged()
  const at = numberIn(parsed, 'at')
  const timed = (part: 'fields' | 'attrs' | 'externalIds'): TimedFields =>
    parsed['times'] === undefined
      ? pairsFrom(recordIn(parsed, part), at)
      : timedFrom(recordIn(parsed, part), recordIn(parsed, 'times')[part])
  return {
    id,
    state,
    seq,
    rev: numberIn(parsed, 'rev'),
    stateAt: numberIn(parsed, 'stateAt'),
    at,
    changedAt: numberIn(parsed, 'changedAt'),
    ...(parsed['heardAt'] !== undefined && { heardAt: numberIn(parsed, 'heardAt') }),
    fields: timed('fields'),
    attrs: timed('attrs'),
    externalIds: timed('externalIds'),
  }
}

/** A Thing as one entry of the feed: its whole current state, in the place of its last change. */
export function syncEntry(
  channelId: ChannelId,
  row: EntityColumns<ThingRow> & Pick<ThingRow, 'opId'>,
): FeedEntry {
  const thing = thingFrom(row)
  const payload = Object.assign(valuesOf(thing.fields), {
    attrs: valuesOf(thing.attrs),
    external_ids: valuesOf(thing.externalIds),
    observed_at: thing.at,
  })
  return {
    channelId,
    seq: thing.seq,
    opId: row.opId ?? NO_OPERATION,
    model: 'thing',
    action: 'sync',
    entityId: thing.id as ThingId,
    state: thing.state,
    rev: thing.rev,
    acceptedAt: thing.changedAt,
    payload: JSON.stringify(payload),
  }
}

/** Stands in a row that was written without its entry, which the actors never do. */
const NO_OPERATION = '' as OperationId

/** The Thing that an Event is filed under; null when an empty text took it out of its Thing. */
export function filedUnder(event: Entity): string | null {
  const value = event.fields.values['thing_id']
  return typeof value === 'string' && value !== '' ? value : null
}

type Parsed = { readonly [name: string]: unknown }

function numberIn(parsed: Parsed, name: string): number {
  const value = parsed[name]
  if (typeof value !== 'number') throw damaged()
  return value
}

function recordIn(parsed: Parsed, name: string): Parsed {
  const value = parsed[name]
  if (!isRecord(value)) throw damaged()
  return value
}

/**
 * Named values with their times, without a prototype: `__proto__` among the names is plain data.
 */
function timedFrom(values: Parsed, times: unknown): TimedFields {
  return {
    values: Object.assign(bare<Json>(), values),
    times: times === undefined ? times : timesFrom(times),
  }
}

function timesFrom(parsed: unknown): Times {
  if (!isRecord(parsed)) throw damaged()
  const times = bare<number>()
  for (const name of Object.keys(parsed)) times[name] = numberIn(parsed, name)
  return times
}

/** Reads the older form of documents: each value in a pair with its time. */
function pairsFrom(pairs: Parsed, newest: number): TimedFields {
  const values = bare<Json>()
  let times: Record<string, number> | undefined
  for (const name of Object.keys(pairs)) {
    const pair = pairs[name]
    if (!isTimed(pair)) throw damaged()
    values[name] = pair[0]
    if (pair[1] === newest) continue
    times ??= bare<number>()
    times[name] = pair[1]
  }
  return { values, times }
}

const isTimed = (value: unknown): value is readonly [Json, number] =>
  Array.isArray(value) && value.length === 2 && typeof value[1] === 'number'

const damaged = (): StoreDefect => new StoreDefect('damaged', 'a stored thing or event is damaged')
