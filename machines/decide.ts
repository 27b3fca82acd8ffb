// Decides what one submission changes in its channel: pure, without clock, random source or I/O.
//
// Invariants:
//   W3. The decision depends on the submission and the state alone, also for expired entities: an
//       ended entity counts as unknown once the submission is `endedLifeMs` younger than its end.
//   W9. An effective change takes the next seq; any other takes none. A submission whose entries
//       do not follow one another is a defect and changes nothing.
//   decide/1. A refusal delivers nothing and changes nothing but the operation's record.
//   decide/2. A sender that is limited to Things of a prefix changes Events of those alone. An
//       Event of others ends its submission as one that does not exist.

import { EMPTY_BODY, merge } from '#domain/patch'
import type { Merged } from '#domain/patch'
import type { Effect, Entity, Event, EventState, Thing, ThingState } from '#domain/entity'
import type { FaultCode } from '#domain/fault'
import type { FeedEntry, LateReading } from '#domain/feed'
import type { Operation } from '#domain/operation'
import type {
  EventSubmission,
  MessageSubmission,
  Submission,
  ThingSubmission,
} from '#domain/submission'
import { acknowledge, attended } from './attention.ts'
import { nextEventState, phaseOf } from './event.ts'
import { lateReadingOf } from './late.ts'
import { statusAfter } from './operation.ts'
import { nextThingState } from './thing.ts'

/** The outcome of one submission: its record, and its changes in their order. */
export interface Decision {
  readonly operation: Operation
  /** None when the submission was refused. Their entries have consecutive seqs. (W9) */
  readonly changes: readonly Change[]
}

/** A change of a Thing or an Event, or a Message. */
export interface Change {
  /** Present when the change was effective. */
  readonly entry?: FeedEntry
  /** Present when the entity has something new to keep, effective or not. */
  readonly thing?: Thing | undefined
  readonly event?: Event | undefined
  /** The change in the number of live Things or open Events. */
  readonly liveThings: number
  readonly openEvents: number
  /** What late data says of the past alone. */
  readonly late?: LateReading | undefined
  /** The record of a change that follows from another one: that of a rule. */
  readonly operation?: Operation
}

export interface Rules {
  /**
   * Milliseconds of accepted time for which a deleted Thing or closed Event still refuses
   * submissions.
   */
  readonly endedLifeMs: number
}

const SENT = statusAfter('take', 'settle')
const FAILED = statusAfter('take', 'fail')

/** What has a record: a submission, or what followed from one or from a time. */
type Recorded = Pick<Submission, 'opId' | 'channelId' | 'model' | 'entityId' | 'acceptedAt'>

/** The record of an ended submission; its times come from the submission. (W3) */
export function operationOf(submission: Recorded, errorCode?: FaultCode): Operation {
  const { opId, channelId, model, entityId, acceptedAt } = submission
  const status = errorCode === undefined ? SENT : FAILED
  const record = { opId, channelId, model, entityId, status, acceptedAt, updatedAt: acceptedAt }
  return errorCode === undefined ? record : { ...record, errorCode }
}

const NONE: readonly Change[] = Object.freeze([])

/** decide/1: the end of a submission that its lifecycle or a limit refuses. */
export function refusal(submission: Submission, code: FaultCode): Decision {
  return { operation: operationOf(submission, code), changes: NONE }
}

/** A Message has no lifecycle: it is one more entry. */
export function decideMessage(message: MessageSubmission, headSeq: number): Decision {
  const entry: FeedEntry = {
    channelId: message.channelId,
    seq: headSeq + 1,
    opId: message.opId,
    model: 'message',
    action: 'send',
    entityId: message.entityId,
    acceptedAt: message.acceptedAt,
    payload: JSON.stringify(message.fields),
  }
  return { operation: operationOf(message), changes: [{ entry, liveThings: 0, openEvents: 0 }] }
}

/** Decides a Thing submission. */
export function decideThing(
  submission: ThingSubmission,
  kept: Thing | undefined,
  { headSeq, endedLifeMs }: Rules & { readonly headSeq: number },
): Decision {
  const prior = forgetEnded(kept, 'deleted', { now: submission.acceptedAt, endedLifeMs })
  const next = nextThingState(prior?.state ?? 'absent', submission.action)
  if (next === undefined) return refusal(submission, 'thing_deleted')
  // A reading from before the archiving is late data: its values are merged, but the Thing stays
  // archived.
  const isLate = prior?.state === 'archived' && submission.patch.at < prior.stateAt
  const state = submission.action === 'update' && isLate ? prior.state : next

  const changed = change(submission, prior, state, headSeq)
  if (typeof changed === 'string') return refusal(submission, changed)
  const liveThings =
    countOf(state !== 'deleted') - countOf(prior !== undefined && prior.state !== 'deleted')
  const { entity: thing, entry } = changed
  const thingChange: Change =
    entry === undefined
      ? { thing, liveThings, openEvents: 0 }
      : { entry, thing, liveThings, openEvents: 0 }
  const isNewest = prior === undefined || submission.patch.at > prior.at
  const late = isNewest || state === 'deleted' ? undefined : lateReadingOf(submission, prior, entry)
  const changes = [late === undefined ? thingChange : { ...thingChange, late }]
  return { operation: operationOf(submission), changes }
}

/** Decides an Event submission. */
export function decideEvent(
  submission: EventSubmission,
  kept: Event | undefined,
  { headSeq, endedLifeMs }: Rules & { readonly headSeq: number },
): Decision {
  const prior = forgetEnded(kept, 'closed', { now: submission.acceptedAt, endedLifeMs })
  if (!isWithin(submission, prior)) return refusal(submission, 'entity_not_found') // decide/2
  const phase = phaseOf(prior)
  const next = nextEventState(phase, submission.action)
  if (next === undefined) {
    return refusal(submission, phase === 'absent' ? 'entity_not_found' : 'event_closed')
  }
  if (submission.action === 'acknowledge' && prior !== undefined) {
    const acknowledged = acknowledge(submission, prior, headSeq + 1)
    const changes = [{ ...acknowledged, liveThings: 0, openEvents: 0 }]
    return { operation: operationOf(submission), changes }
  }
  const state = next === 'closed' ? 'closed' : 'open'
  const changed = change(submission, prior, state, headSeq)
  if (typeof changed === 'string') return refusal(submission, changed)
  const openEvents = countOf(state === 'open') - countOf(prior?.state === 'open')
  const { entity, ...entry } = changed
  const event = attended(entity, prior, submission.acceptedAt)
  const eventChange = { ...entry, event, liveThings: 0, openEvents }
  return { operation: operationOf(submission), changes: [eventChange] }
}

function isWithin({ within }: EventSubmission, prior: Event | undefined): boolean {
  const thingId = prior?.fields.values['thing_id']
  return within === undefined || (typeof thingId === 'string' && thingId.startsWith(within))
}

const countOf = (is: boolean): number => (is ? 1 : 0)

/**
 * W3: treats an entity that ended long before this submission as unknown, whether or not its row is
 * still there.
 */
function forgetEnded<Kept extends Thing | Event>(
  kept: Kept | undefined,
  ended: ThingState | EventState,
  { now, endedLifeMs }: { readonly now: number; readonly endedLifeMs: number },
): Kept | undefined {
  if (kept === undefined || kept.state !== ended) return kept
  return now - kept.changedAt > endedLifeMs ? undefined : kept
}

interface Changed<State extends string> {
  readonly entity: Entity<State>
  /** Absent when the change was not effective. */
  readonly entry?: FeedEntry
}

/** Merges the patch of a submission; a fault when a limit refuses it. */
function change<State extends ThingState | EventState>(
  submission: ThingSubmission | EventSubmission,
  prior: Entity<State> | undefined,
  state: State,
  headSeq: number,
): Changed<State> | FaultCode {
  const merged = merge(prior ?? EMPTY_BODY, submission.patch)
  if (merged.kind === 'refused') return merged.code
  const { at } = submission.patch
  const { body, visible } = merged
  const effective = prior === undefined || visible || state !== prior.state || body.at > prior.at
  const entity: Entity<State> = {
    id: submission.entityId,
    state,
    stateAt: prior !== undefined && prior.state === state ? Math.max(prior.stateAt, at) : at,
    rev: (prior?.rev ?? 0) + countOf(effective),
    seq: effective ? headSeq + 1 : (prior?.seq ?? 0), // W9
    changedAt: effective ? submission.acceptedAt : (prior?.changedAt ?? 0),
    at: body.at,
    fields: body.fields,
    attrs: body.attrs,
    externalIds: body.externalIds,
  }
  if (effective) return { entity, entry: entryOf(submission, entity, merged) }
  if (submission.model === 'event') return { entity }
  return { entity: { ...entity, heardAt: submission.acceptedAt } } // R4
}

const entryOf = (
  submission: ThingSubmission | EventSubmission,
  entity: Entity,
  { effect }: Extract<Merged, { readonly kind: 'merged' }>,
): FeedEntry => ({
  channelId: submission.channelId,
  seq: entity.seq,
  opId: submission.opId,
  model: submission.model,
  action: submission.action,
  entityId: submission.entityId,
  state: entity.state,
  rev: entity.rev,
  acceptedAt: submission.acceptedAt,
  payload: payloadOf(submission, effect, entity.at),
})

/**
 * The text of an effective patch: its fields, the time of the entity, that of late data about a
 * Thing beside it, and what it changes key by key.
 */
function payloadOf(
  { model, patch }: ThingSubmission | EventSubmission,
  { fields, attrs, externalIds }: Effect,
  at: number,
): string {
  const named = JSON.stringify(fields)
  const begun = named === '{}' ? '{' : `${named.slice(0, -1)},`
  const time = model === 'thing' ? 'observed_at' : 'event_time'
  const late = model === 'thing' && patch.at < at ? `,"set_at":${patch.at}` : ''
  const keyed = attrs === undefined ? '' : `,"attrs":${JSON.stringify(attrs)}`
  const ids = externalIds === undefined ? '' : `,"external_ids":${JSON.stringify(externalIds)}`
  return `${begun}"${time}":${at}${late}${keyed}${ids}}`
}

/** W9: throws when the entries do not follow one another. */
export function checkSeqs(
  { headSeq }: { readonly headSeq: number },
  changes: readonly Change[],
): void {
  let last = headSeq
  for (const { entry } of changes) {
    if (entry === undefined) continue
    last += 1
    if (entry.seq !== last) throw new Error(`an entry has seq ${entry.seq} in place of ${last}`)
  }
}
