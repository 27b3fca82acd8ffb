// Submissions as ingress would hand them on, with only what a test cares about spelled out.

import {
  channelIdFromBytes,
  operationIdFrom,
  parseEventId,
  parseMessageId,
  parseOperationId,
  parseRuleId,
  parseThingId,
} from '#domain/identity'
import type { ChannelId, OperationId } from '#domain/identity'
import { bare } from '#domain/record'
import type { TimedFields } from '#domain/entity'
import type { Operation } from '#domain/operation'
import { seeded } from '#test/support/random'
import type {
  Acknowledging,
  CancellationSubmission,
  EventSubmission,
  Fields,
  Json,
  MessageSubmission,
  RuleAction,
  RuleSubmission,
  Submission,
  ThingAction,
  ThingSubmission,
} from '#domain/submission'

/** A channel of its own for every number up to 65,535. */
export function channel(number: number): ChannelId {
  const bytes = new Uint8Array(16).fill(7)
  bytes[15] = number
  bytes[14] = 7 + (number >> 8)
  return channelIdFromBytes(bytes)
}

export const opId = (text: string): OperationId => checked(parseOperationId(text), text)

/**
 * A record without a prototype, as the schemas make them. Entries, so that any key can stand there.
 */
export function record(entries: readonly (readonly [key: string, value: Json])[]): Fields {
  const made = bare<Json>()
  for (const [key, value] of entries) made[key] = value
  return made
}

/** Values with their times, as an entity keeps them whose newest time is `newest`. */
export function timedOf(
  pairs: Readonly<Record<string, readonly [value: Json, at: number]>>,
  newest: number,
): TimedFields {
  const named = Object.entries(pairs)
  const values = record(named.map(([name, [value]]) => [name, value]))
  const others = named.filter(([, [, at]]) => at !== newest)
  const times = bare<number>()
  for (const [name, [, at]] of others) times[name] = at
  return { values, times: others.length === 0 ? undefined : times }
}

export const fieldsOf = (values: Readonly<Record<string, Json>>): Fields =>
  record(Object.entries(values))

interface Parts {
  readonly opId?: string
  readonly channelId?: ChannelId
  readonly acceptedAt?: number
  readonly fields?: Readonly<Record<string, Json>>
}

export interface PatchParts extends Parts {
  /** observed_at or event_time. */
  readonly at?: number
  readonly attrs?: Readonly<Record<string, Json>>
  readonly externalIds?: Readonly<Record<string, Json>>
}

let made = 0

function acceptedOf(parts: Parts) {
  made += 1
  const acceptedAt = parts.acceptedAt ?? 1000
  const random = made.toString(16).padStart(32, '0')
  return {
    opId: parts.opId === undefined ? operationIdFrom(acceptedAt, random) : opId(parts.opId),
    channelId: parts.channelId ?? channel(1),
    acceptedAt,
  }
}

function patchOf({ at = 1, fields = {}, attrs, externalIds }: PatchParts) {
  return {
    at,
    fields: fieldsOf(fields),
    ...(attrs !== undefined && { attrs: fieldsOf(attrs) }),
    ...(externalIds !== undefined && { externalIds: fieldsOf(externalIds) }),
  }
}

export function thing(action: ThingAction, id: string, parts: PatchParts = {}): ThingSubmission {
  const entityId = checked(parseThingId(id), id)
  return { model: 'thing', action, ...acceptedOf(parts), entityId, patch: patchOf(parts) }
}

export function event(
  action: EventSubmission['action'],
  id: string,
  parts: PatchParts = {},
): EventSubmission {
  const entityId = checked(parseEventId(id), id)
  return { model: 'event', action, ...acceptedOf(parts), entityId, patch: patchOf(parts) }
}

/** A person's statement that they have an Event. */
export const acknowledgement = (
  id: string,
  { by, note, snoozeMs, ...parts }: PatchParts & Acknowledging = {},
): EventSubmission => ({
  ...event('acknowledge', id, parts),
  acknowledging: {
    ...(by !== undefined && { by }),
    ...(note !== undefined && { note }),
    ...(snoozeMs !== undefined && { snoozeMs }),
  },
})

/** Puts a rule, or deletes it. */
export function rule(action: RuleAction, id: string, text = '', parts: Parts = {}): RuleSubmission {
  const entityId = checked(parseRuleId(id), id)
  return { model: 'rule', action, ...acceptedOf(parts), entityId, text }
}

/** Takes back a Message that waits. */
export function cancellation(of: MessageSubmission, parts: Parts = {}): CancellationSubmission {
  const { entityId, opId: cancels } = of
  return { model: 'cancellation', action: 'cancel', ...acceptedOf(parts), entityId, cancels }
}

/** The operation of a submission that the log holds and no turn has applied. */
export const acceptedOperation = (submission: Submission): Operation => {
  const { opId: id, channelId, model, entityId, acceptedAt } = submission
  const times = { acceptedAt, updatedAt: acceptedAt }
  return { opId: id, channelId, model, entityId, status: 'accepted', ...times }
}

/** A Message. With `claims` its op_id was chosen by the client. */
export function message(
  parts: Parts & { readonly claims?: boolean; readonly deliverAt?: number } = {},
): MessageSubmission {
  const accepted = acceptedOf(parts)
  const entityId = checked(parseMessageId(made.toString(16).padStart(32, '0')), 'a message id')
  const fields = fieldsOf({ title: 'a title', ...parts.fields })
  return {
    model: 'message',
    action: 'send',
    ...accepted,
    entityId,
    claimed: parts.claims ?? false,
    fields,
    ...(parts.deliverAt !== undefined && { schedule: { deliverAt: parts.deliverAt } }),
  }
}

function checked<Value>(value: Value | undefined, text: string): Value {
  if (value === undefined) throw new Error(`a test made something that is refused: ${text}`)
  return value
}

/** Some Things change all the time, some did so once: what changed last lies far apart in a feed. */
export function scatteredUpdates(): readonly ThingSubmission[] {
  const below = seeded(7)
  return Array.from({ length: 1_400 }, (_, index) => {
    const id = below(2) === 0 ? below(10) : 10 + below(600)
    return thing(below(50) === 0 ? 'delete' : 'update', `t${id}`, { at: index + 1 })
  })
}
