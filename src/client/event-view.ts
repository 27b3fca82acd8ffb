// Folds deliveries of Events into the present state of each. A device that was away gets every
// update of an Event, so no read is needed for one whose beginning it has seen.

import { bare } from '#domain/record'
import type { Fields, Json } from '#domain/submission'
import type { EventRecord } from './bodies.ts'
import type { ThingChange } from './view.ts'
import { patched } from './view.ts'

/** An Event as the device knows it; names as on the wire. */
export interface EventView {
  readonly id: string
  readonly state: string
  readonly rev: number
  /** The feed entry of its last change. */
  readonly seq: number
  /** title, severity, event_time and so on, without attrs. */
  readonly fields: Fields
  readonly attrs: Fields
}

/**
 * The Event after a delivery; the same one when it has the change already. Never changes its
 * arguments.
 */
export function foldEvent(before: EventView | undefined, change: ThingChange): EventView {
  if (before !== undefined && before.seq >= change.seq) return before
  const { attrs, ...fields } = change.payload
  return {
    id: change.entityId,
    state: change.state ?? before?.state ?? 'open',
    rev: change.rev ?? before?.rev ?? 0,
    seq: change.seq,
    fields: patched(before?.fields, fields),
    attrs: patched(before?.attrs, attrs),
  }
}

/** Makes an Event of the gateway's answer to a read. */
export function eventFrom(record: EventRecord): EventView {
  const { event_id: id, state, rev, seq, changed_at: _, attrs, ...fields } = record
  const known = patched(undefined, fields as Json)
  return { id, state, rev, seq, fields: known, attrs: patched(bare<Json>(), attrs) }
}
