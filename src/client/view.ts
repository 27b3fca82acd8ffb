// What a device knows: the deliveries of its channels, folded into the present state of their
// Things.
//
// Invariants:
//   V1. Applied in the order in which the gateway delivers, the view equals the gateway's own state
//       of every live Thing: a patch merges name by name, null removes, `sync` replaces everything.
//   V2. An entry that was applied already changes nothing: delivery is at least once. (O1 in
//       standing.ts)
//   V3. Behind a gap with `restart` the Things of the channel are forgotten: each live one follows.

import type { ChannelId } from '#domain/identity'
import { bare } from '#domain/bare'
import type { Fields, Json } from '#domain/submission'
import type { Delivery, GatewayFrame } from '#src/schemas/frames'
import { Standing } from './standing.ts'

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
  readonly externalIds: Fields
}

/** What is needed of a delivery of a Thing. */
export type ThingChange = Pick<
  Delivery,
  'seq' | 'action' | 'entityId' | 'state' | 'rev' | 'payload'
>

/**
 * The Thing after a delivery; undefined when it is deleted. Never changes what it is given. (V1)
 */
export function foldThing(
  before: ThingView | undefined,
  change: ThingChange,
): ThingView | undefined {
  const state = change.state ?? before?.state ?? 'active'
  if (state === 'deleted') return undefined
  const prior = change.action === 'sync' ? undefined : before // V1
  const { attrs, external_ids: externalIds, ...fields } = change.payload
  return {
    id: change.entityId,
    state,
    rev: change.rev ?? before?.rev ?? 0,
    seq: change.seq,
    fields: patched(prior?.fields, fields),
    attrs: patched(prior?.attrs, attrs),
    externalIds: patched(prior?.externalIds, externalIds),
  }
}

/**
 * The values with those of a patch in place; null removes. Keys are plain data, `__proto__` too.
 */
function patched(before: Fields | undefined, patch: Json | undefined): Fields {
  const after = Object.assign(bare<Json>(), before)
  if (typeof patch !== 'object' || patch === null) return after
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete after[key]
    else after[key] = value
  }
  return after
}

/** The Things of every channel of a device, kept in step with what is delivered. */
export class ThingsView {
  readonly #things = new Map<ChannelId, Map<string, ThingView>>()
  readonly #standing = new Standing()

  /**
   * Applies one frame of the gateway; frames that say nothing about Things change nothing. Gives
   * false for a delivery that was applied before. (V2)
   */
  apply(frame: GatewayFrame): boolean {
    if (frame.kind === 'deliver') return this.#deliver(frame)
    if (frame.kind === 'gap') {
      if (frame.restart) this.#things.delete(frame.channelId) // V3
      this.#standing.missed(frame)
    } else if (frame.kind === 'unsubscribed') {
      this.#things.delete(frame.channelId)
      this.#standing.forget(frame.channelId)
    } else if (frame.kind === 'caught-up') this.#standing.caughtUp(frame.channelId, frame.seq)
    return true
  }

  /** The live Things of a channel by id. */
  things(channelId: ChannelId): ReadonlyMap<string, ThingView> {
    return this.#things.get(channelId) ?? new Map()
  }

  thing(channelId: ChannelId, id: string): ThingView | undefined {
    return this.#things.get(channelId)?.get(id)
  }

  /** Where each channel stands: what the next session resumes from. */
  cursors(): ReadonlyMap<ChannelId, number> {
    return new Map(this.#standing.cursors)
  }

  #deliver(delivery: Delivery): boolean {
    if (!this.#standing.isNew(delivery)) return false // V2
    this.#standing.took(delivery)
    if (delivery.model !== 'thing') return true
    const things = this.#things.get(delivery.channelId) ?? new Map<string, ThingView>()
    this.#things.set(delivery.channelId, things)
    const after = foldThing(things.get(delivery.entityId), delivery)
    if (after === undefined) things.delete(delivery.entityId)
    else things.set(delivery.entityId, after)
    return true
  }
}
