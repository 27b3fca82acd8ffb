// Converts Things and Events between the domain and their rows.
//
// Invariants:
//   document/1. A Thing as one entry fits into a frame: times of attrs are longer than short
//     values, so it tells SYNC_TIMES_BYTES_MAX of them, and null in place of more. (frames/2)

import { acknowledgementOf } from '#domain/rules/attention'
import type { Entity, Event, Thing, Times } from '#domain/entity'
import type { FeedEntry } from '#domain/feed'
import { timesBesideNewest, valuesOf } from '#domain/patch'
import type { ChannelId, OperationId, ThingId } from '#domain/identity'
import { entityIn } from '#domain/things/document'
import type { Kept } from '#domain/things/document'
import type { EventRow, ThingRow } from '#src/store/entities/entities'
import { StoreDefect } from '#src/store/store-error'

/** Half of what a frame has beside the parts of an entity. */
const SYNC_TIMES_BYTES_MAX = 8_192

/** Columns from which an entity is made again. */
type EntityColumns<Row extends ThingRow | EventRow> = Pick<Row, 'id' | 'state' | 'seq' | 'document'>

export const thingFrom = (row: EntityColumns<ThingRow>): Thing => entityFrom(row)
export const eventFrom = (row: EntityColumns<EventRow>): Event =>
  entityFrom({ ...row, state: row.state === ACKNOWLEDGED ? 'open' : row.state })

/** The state of an open Event in its row while somebody has it: so lists find it. */
export const ACKNOWLEDGED = 'acknowledged'

/** The state of an Event in its row. */
export const eventState = (event: Event): EventRow['state'] =>
  acknowledgementOf(event) === undefined ? event.state : ACKNOWLEDGED

function entityFrom<State extends string>(
  row: EntityColumns<ThingRow | EventRow> & { readonly state: State },
): Kept<State> {
  const entity = entityIn(row)
  if (entity === undefined) throw new StoreDefect('damaged', 'a stored thing or event is damaged')
  return entity
}

/** A Thing as one entry of the feed: its whole current state, in the place of its last change. */
export function syncEntry(
  channelId: ChannelId,
  row: EntityColumns<ThingRow> & Pick<ThingRow, 'opId'>,
): FeedEntry {
  const thing = thingFrom(row)
  const times = timesBesideNewest(thing.attrs)
  const payload = Object.assign(valuesOf(thing.fields), {
    attrs: valuesOf(thing.attrs),
    external_ids: valuesOf(thing.externalIds),
    observed_at: thing.at,
    ...(times !== undefined && { attr_times: isShort(times) ? times : null }), // document/1
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

const isShort = (times: Times): boolean =>
  Buffer.byteLength(JSON.stringify(times)) <= SYNC_TIMES_BYTES_MAX

/** Stands in a row that was written without its entry, which the actors never do. */
const NO_OPERATION = '' as OperationId

/** The Thing that an Event is filed under; null when an empty text took it out of its Thing. */
export function filedUnder(event: Entity): string | null {
  const value = event.fields.values['thing_id']
  return typeof value === 'string' && value !== '' ? value : null
}
