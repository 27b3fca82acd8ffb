// Things and Events between the domain and their rows.

import type { Entity, Event, Thing, Timed, TimedFields } from '#domain/entity'
import type { FeedEntry } from '#domain/feed'
import { bare } from '#domain/bare'
import { valuesOf } from '#domain/patch'
import type { ChannelId, OperationId, ThingId } from '#domain/identity'
import type { Json } from '#domain/submission'
import type { EventRow, ThingRow } from './entities/entities.ts'
import { StoreError } from './store-error.ts'

/** What of an entity stands in its document; the rest are columns. */
export function documentOf(entity: Entity): string {
  const { rev, stateAt, at, changedAt, fields, attrs, externalIds } = entity
  return JSON.stringify({ rev, stateAt, at, changedAt, fields, attrs, externalIds })
}

/** Columns from which an entity is made again. */
type Kept<Row extends ThingRow | EventRow> = Pick<Row, 'id' | 'state' | 'seq' | 'document'>

export const thingFrom = (row: Kept<ThingRow>): Thing => entityFrom(row)
export const eventFrom = (row: Kept<EventRow>): Event => entityFrom(row)

function entityFrom<State extends string>({
  id,
  state,
  seq,
  document,
}: Kept<ThingRow | EventRow> & { readonly state: State }): Entity<State> {
  const parsed: unknown = JSON.parse(document)
  if (!isRecord(parsed)) throw damaged()
  return {
    id,
    state,
    seq,
    rev: numberIn(parsed, 'rev'),
    stateAt: numberIn(parsed, 'stateAt'),
    at: numberIn(parsed, 'at'),
    changedAt: numberIn(parsed, 'changedAt'),
    fields: timedIn(parsed, 'fields'),
    attrs: timedIn(parsed, 'attrs'),
    externalIds: timedIn(parsed, 'externalIds'),
  }
}

/** A Thing as one entry of the feed: its whole current state, in the place of its last change. */
export function syncEntry(
  channelId: ChannelId,
  row: Kept<ThingRow> & Pick<ThingRow, 'opId'>,
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

/** Only for a row that was written without its entry, which the actors never do. */
const NO_OPERATION = '' as OperationId

/** The Thing that an Event is filed under now. */
export function filedUnder(event: Entity): string | null {
  const value = event.fields['thing_id']?.[0]
  return typeof value === 'string' ? value : null
}

const isRecord = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function numberIn(parsed: { readonly [name: string]: unknown }, name: string): number {
  const value = parsed[name]
  if (typeof value !== 'number') throw damaged()
  return value
}

/**
 * Named values with their times, without a prototype: `__proto__` among the names is plain data.
 */
function timedIn(parsed: { readonly [name: string]: unknown }, part: string): TimedFields {
  const source = parsed[part]
  if (!isRecord(source)) throw damaged()
  const values = bare<Timed>()
  for (const name of Object.keys(source)) {
    const timed = source[name]
    if (!isTimed(timed)) throw damaged()
    values[name] = timed
  }
  return values
}

const isTimed = (value: unknown): value is readonly [Json, number] =>
  Array.isArray(value) && value.length === 2 && typeof value[1] === 'number'

const damaged = (): StoreError =>
  new StoreError('damaged', 'a stored thing or event is not what was written')
