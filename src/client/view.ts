// Folds the deliveries of a device's channels into the present state of their Things.
//
// Invariants:
//   view/1. After deliveries in the gateway's order the view equals the gateway's state of every
//     live Thing: a patch merges name by name, null removes, `sync` replaces everything.
//   view/2. A repeated entry changes nothing: delivery is at least once. (positions/1 in
//     positions.ts)
//   view/3. At a gap with `restart` the view drops the Things of the channel; the live ones follow.
//   view/4. A whole Thing from a read has every change up to its seq: earlier deliveries change
//     nothing.
//   view/5. Each attr has the time of the reading that set it, as far as the gateway told it.
//   view/6. An Event has an acknowledgement as long as the gateway's has it: the next one takes its
//     place, and it ends with a reminder, an escalation, the close, or a severity above the one
//     that it met.

import type { Times } from '#domain/entity'
import type { ChannelId } from '#domain/identity'
import { bare, isRecord } from '#domain/record'
import { rankOf } from '#domain/rules/attention'
import type { Fields, Json } from '#domain/submission'
import type { Delivery, GatewayFrame } from '#src/schemas/frames'
import type { ThingRecord, EventRecord } from './bodies.ts'
import { Positions } from './positions.ts'

/** A Thing as the device knows it; names as on the wire. Deleted Things are not in a view. */
export interface ThingView {
  readonly id: string
  readonly state: string
  readonly rev: number
  /** The feed entry of its last change. */
  readonly seq: number
  /** title, tags, observed_at and so on, without attrs and external_ids. */
  readonly fields: Fields
  readonly attrs: Fields
  /**
   * Times of attrs whose value is older than `observed_at`; undefined when the gateway did not tell
   * them. (`attrTime`)
   */
  readonly attrTimes: Times | undefined
  readonly externalIds: Fields
}

/** The part of a Thing's delivery that the view uses. */
export type ThingChange = Pick<
  Delivery,
  'seq' | 'action' | 'entityId' | 'state' | 'rev' | 'payload'
>

/**
 * The Thing after a delivery; undefined when it is deleted. Never changes its arguments. (view/1)
 */
export function foldThing(
  before: ThingView | undefined,
  change: ThingChange,
): ThingView | undefined {
  const state = change.state ?? before?.state ?? 'active'
  if (state === 'deleted') return undefined
  const prior = change.action === 'sync' ? undefined : before // view/1
  const {
    attrs,
    external_ids: externalIds,
    set_at: setAt,
    attr_times: told,
    ...fields
  } = change.payload
  const after = patched(prior?.attrs, attrs)
  const newest = timeIn(fields['observed_at'])
  const patch = { attrs, at: timeIn(setAt ?? newest), newest }
  return {
    id: change.entityId,
    state,
    rev: change.rev ?? before?.rev ?? 0,
    seq: change.seq,
    fields: patched(prior?.fields, fields),
    attrs: after,
    attrTimes: change.action === 'sync' ? timesIn(told) : timesAfter(prior, after, patch),
    externalIds: patched(prior?.externalIds, externalIds),
  }
}

/**
 * The time of an attr in Unix milliseconds; undefined when the gateway did not tell it. Late data
 * that repeats a value is not delivered, so a read of the Thing may tell a later time.
 */
export const attrTime = (
  { attrTimes, fields }: Pick<ThingView, 'attrTimes' | 'fields'>,
  name: string,
): number | undefined => attrTimes && (attrTimes[name] ?? timeIn(fields['observed_at']))

const NO_TIMES: Times = Object.freeze(bare<number>())

const timeIn = (value: Json | undefined): number => (typeof value === 'number' ? value : 0)

/** Times as the gateway tells them: null for none that it knows, nothing for none that differ. */
const timesIn = (told: Json | undefined): Times | undefined =>
  told === null ? undefined : Object.assign(bare<number>(), told)

interface AttrsPatch {
  readonly attrs: Json | undefined
  /** The time of the reading. */
  readonly at: number
  /** The Thing's newest time behind it. */
  readonly newest: number
}

/** view/5: times of the attrs behind a patch, as far as they are not the newest. */
function timesAfter(
  prior: ThingView | undefined,
  attrs: Fields,
  { attrs: patch, at, newest }: AttrsPatch,
): Times | undefined {
  if (prior !== undefined && prior.attrTimes === undefined) return undefined
  const isSet = (name: string): boolean => isRecord(patch) && Object.hasOwn(patch, name)
  let times: Record<string, number> | undefined
  for (const name in attrs) {
    const kept = isSet(name) || prior === undefined ? at : attrTime(prior, name)
    if (kept !== undefined && kept !== newest) (times ??= bare<number>())[name] = kept
  }
  return times ?? NO_TIMES
}

/**
 * The values after a patch; null removes. Keys are plain data, also `__proto__`.
 */
export function patched(before: Fields | undefined, patch: Json | undefined): Fields {
  const after = Object.assign(bare<Json>(), before)
  if (typeof patch !== 'object' || patch === null) return after
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete after[key]
    else after[key] = value
  }
  return after
}

/** Makes a Thing of the gateway's answer to a read. */
export function thingFrom(record: ThingRecord): ThingView {
  const { thing_id: id, state, rev, seq, changed_at: _, attrs, ...others } = record
  const { external_ids, attr_times: told, ...fields } = others
  return {
    id,
    state,
    rev,
    seq,
    fields: patched(undefined, fields as Fields),
    attrs: patched(undefined, attrs),
    attrTimes: timesIn(told),
    externalIds: patched(undefined, external_ids),
  }
}

/** The Things of every channel of a device, as deliveries change them. */
export class ThingsView {
  readonly #things = new Map<ChannelId, Map<string, ThingView>>()
  readonly #positions = new Positions()

  /**
   * Applies one frame of the gateway; a frame without a Thing changes no Thing. Gives false for a
   * repeated delivery. (view/2)
   */
  apply(frame: GatewayFrame): boolean {
    if (frame.kind === 'deliver') return this.#deliver(frame)
    if (frame.kind === 'gap') {
      if (frame.restart) this.#things.delete(frame.channelId) // view/3
      this.#positions.skipped(frame)
    } else if (frame.kind === 'unsubscribed') {
      this.#things.delete(frame.channelId)
      this.#positions.forget(frame.channelId)
    } else if (frame.kind === 'caught-up') this.#positions.caughtUp(frame.channelId, frame.seq)
    return true
  }

  /** The live Things of a channel by id. */
  things(channelId: ChannelId): ReadonlyMap<string, ThingView> {
    return this.#things.get(channelId) ?? new Map()
  }

  thing(channelId: ChannelId, id: string): ThingView | undefined {
    return this.#things.get(channelId)?.get(id)
  }

  /** Takes a whole Thing from a read. (view/4) */
  put(channelId: ChannelId, thing: ThingView): void {
    const known = this.thing(channelId, thing.id)
    if (known !== undefined && known.seq >= thing.seq) return
    const things = this.#thingsOf(channelId)
    if (thing.state === 'deleted') things.delete(thing.id)
    else things.set(thing.id, thing)
  }

  /** The position in each channel, from which the next session resumes. */
  cursors(): ReadonlyMap<ChannelId, number> {
    return new Map(this.#positions.cursors)
  }

  #deliver(delivery: Delivery): boolean {
    if (!this.#positions.isNew(delivery)) return false // view/2
    this.#positions.handled(delivery)
    if (delivery.model !== 'thing') return true
    const things = this.#thingsOf(delivery.channelId)
    const before = things.get(delivery.entityId)
    if (before !== undefined && before.seq >= delivery.seq) return true // view/4
    const after = foldThing(before, delivery)
    if (after === undefined) things.delete(delivery.entityId)
    else things.set(delivery.entityId, after)
    return true
  }

  #thingsOf(channelId: ChannelId): Map<string, ThingView> {
    const things = this.#things.get(channelId) ?? new Map<string, ThingView>()
    this.#things.set(channelId, things)
    return things
  }
}

// Folds deliveries of Events into the present state of each. A device that was away gets every
// update of an Event, so no read is needed for one whose beginning it has seen.

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
  /** The severity that its acknowledgement met, as far as the device has seen it. */
  readonly acknowledgedSeverity?: Json
}

const NO_ACKNOWLEDGEMENT = {
  acknowledged_at: null,
  acknowledged_by: null,
  snoozed_until: null,
  note: null,
} as const

/**
 * The Event after a delivery; the same one when it has the change already. Never changes its
 * arguments. (view/6)
 */
export function foldEvent(before: EventView | undefined, change: ThingChange): EventView {
  if (before !== undefined && before.seq >= change.seq) return before
  const { attrs, ...fields } = change.payload
  const met = change.action === 'acknowledge' ? severityOf(before) : before?.acknowledgedSeverity
  const isKept =
    change.action === 'update' && rankOf(fields['severity'] ?? severityOf(before)) <= rankOf(met)
  const kept = isKept ? before?.fields : patched(before?.fields, NO_ACKNOWLEDGEMENT) // view/6
  return {
    id: change.entityId,
    state: change.state ?? before?.state ?? 'open',
    rev: change.rev ?? before?.rev ?? 0,
    seq: change.seq,
    fields: patched(kept, fields),
    attrs: patched(before?.attrs, attrs),
    ...(met !== undefined && { acknowledgedSeverity: met }),
  }
}

const severityOf = (event: EventView | undefined): Json => event?.fields['severity'] ?? ''

/** Makes an Event of the gateway's answer to a read. */
export function eventFrom(record: EventRecord): EventView {
  const { event_id: id, state, rev, seq, changed_at: _, attrs, ...fields } = record
  const known = patched(undefined, fields as Json)
  const { acknowledged_at: since, severity = '' } = known
  return {
    id,
    state,
    rev,
    seq,
    fields: known,
    attrs: patched(bare<Json>(), attrs),
    ...(since !== undefined && { acknowledgedSeverity: severity }),
  }
}
