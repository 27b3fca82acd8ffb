// Things and Events as the gateway keeps them, and what a patch changes. (decisions.md 4, late
// data)
//
// Invariants:
//   entity/1. Each field and each key remembers the time that set it; a patch applies to a name
//     only if its time is not older. Late data fills missing values and never overwrites newer
//     ones.
//   entity/2. A removed key remembers the time of its removal, so that late data cannot bring it
//     back.
//   entity/3. `rev` grows by one per effective change; a difference that no reader can see is no
//     change.
//   entity/4. A change delivers exactly its effect: applied in order, deliveries give the gateway's
//     state.

import type { Attention } from './rules/attention.ts'
import type { Fields } from './submission.ts'

export const THING_STATES = ['active', 'archived', 'deleted'] as const
export type ThingState = (typeof THING_STATES)[number]
export const EVENT_STATES = ['open', 'closed'] as const
export type EventState = (typeof EVENT_STATES)[number]

/**
 * Values by name, each with the time that set it; null means removed at that time. The newest patch
 * of an entity sets most values, so only other times are kept.
 */
export interface TimedFields {
  readonly values: Fields
  /**
   * Times of the values that were set at another time than the entity's `at`; absent when none was.
   */
  readonly times: Times | undefined
}

export type Times = { readonly [name: string]: number }

/** One Thing or Event as kept: values with their times, and its place in the channel's feed. */
export interface Entity<State extends string = string> {
  readonly id: string
  readonly state: State
  /** The time of the submission that set `state`. */
  readonly stateAt: number
  readonly rev: number
  /** The feed entry of its last effective change. */
  readonly seq: number
  /** The newest observed_at or event_time. */
  readonly at: number
  /** accepted_at of its last effective change. */
  readonly changedAt: number
  /** accepted_at of the last update, when that had no effect and came after `changedAt`. (R4) */
  readonly heardAt?: number
  readonly fields: TimedFields
  readonly attrs: TimedFields
  readonly externalIds: TimedFields
}

export type Thing = Entity<ThingState>

export interface Event extends Entity<EventState> {
  /** Absent while there is nothing to keep, and of a closed Event. */
  readonly attention?: Attention | undefined
}

/** Bytes of JSON that the parts of one stored entity may take. (decisions.md 3) */
export const ATTRS_BYTES_MAX = 65_536
export const EXTERNAL_IDS_BYTES_MAX = 16_384
export const FIELDS_BYTES_MAX = 65_536

/** The effect of one patch: the names whose value or time changed, as devices get them. */
export interface Effect {
  readonly fields: Fields
  readonly attrs: Fields | undefined
  readonly externalIds: Fields | undefined
}
