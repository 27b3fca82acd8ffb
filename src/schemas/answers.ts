// Writes entities and feed entries in the names of the wire. Times are Unix milliseconds.

import { acknowledgementOf, acknowledgementToWire } from '#domain/rules/attention'
import type { Entity, Event, Thing } from '#domain/entity'
import { deliveryIdOf } from '#domain/feed'
import type { FeedEntry } from '#domain/feed'
import { timesBesideNewest, valuesOf } from '#domain/patch'
import type { Submission } from '#domain/submission'

import { parseJson } from './json/json.ts'
import type { Wire } from './members.ts'

/** The answer to a submission once it is durable. */
export const acceptedToWire = ({ model, opId, entityId }: AcceptedIds): Wire => ({
  op_id: opId,
  [ENTITY_IDS[model]]: entityId,
})

const ENTITY_IDS: Readonly<Record<Submission['model'], string>> = {
  message: 'message_id',
  event: 'event_id',
  thing: 'thing_id',
  cancellation: 'message_id',
  rule: 'rule_id',
}

type AcceptedIds = Pick<Submission, 'model' | 'opId' | 'entityId'>

/** One Thing: its fields stand beside thing_id, state, rev, seq, observed_at and changed_at. */
export function thingToWire(thing: Thing): Wire {
  const times = timesBesideNewest(thing.attrs)
  const own = { thing_id: thing.id, observed_at: thing.at }
  return entityToWire(thing, times === undefined ? own : { ...own, attr_times: times })
}

/**
 * One Event: its fields, thing_id among them, stand beside event_id, state, rev, seq,
 * event_time.
 */
export function eventToWire(event: Event): Wire {
  const acknowledged = acknowledgementOf(event)
  const said = acknowledged && acknowledgementToWire(acknowledged)
  return entityToWire(event, { event_id: event.id, event_time: event.at, ...said })
}

/** Leaves out removed values; the gateway's own names win over a field of the same name. */
function entityToWire(entity: Entity, own: Wire): Wire {
  const externalIds = valuesOf(entity.externalIds)
  return {
    ...valuesOf(entity.fields),
    attrs: valuesOf(entity.attrs),
    ...(Object.keys(externalIds).length > 0 && { external_ids: externalIds }),
    ...own,
    state: entity.state,
    rev: entity.rev,
    seq: entity.seq,
    changed_at: entity.changedAt,
  }
}

/** One entry of a feed with its payload as JSON. */
export function feedEntryToWire(entry: FeedEntry): Wire {
  return {
    delivery_id: deliveryIdOf(entry.channelId, entry.seq),
    channel_id: entry.channelId,
    seq: entry.seq,
    op_id: entry.opId,
    model: entry.model,
    action: entry.action,
    entity_id: entry.entityId,
    ...(entry.state !== undefined && { state: entry.state }),
    ...(entry.rev !== undefined && { rev: entry.rev }),
    accepted_at: entry.acceptedAt,
    payload: parseJson(entry.payload),
  }
}
