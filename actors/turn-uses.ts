// Finds the op_ids of a turn that were used before, in an earlier turn or earlier in this one.
//
// Invariants:
//   turn-uses/1. An op_id that a client chose has one effect, however often its Message was
//     appended. The same holds for any other submission that stands in the log twice.
//   turn-uses/2. An op_id has one record, of its first use in the log. An Event, a Thing or a
//     Message whose op_id the gateway made keeps its effect when a client chose the same before: it
//     was accepted, and only its record is another's.
//   turn-uses/3. Only op_ids that a client chose, or that came before, cost a look-up: a turn
//     without any is decided without one. Should another op_id be used already, the database
//     refuses the turn, which is then decided anew with every op_id looked up (`isCareful`); no
//     client can bring that about, since it costs all lanes of the turn.

import type { OperationId } from '#domain/identity'
import type { Operation } from '#domain/operation'
import type { OperationUse } from '#domain/store-ports'
import type { Submission } from '#domain/submission'
import { isOfChannel, mayBeUsed } from './turn-item.ts'
import type { Item, Turn } from './turn-item.ts'

export interface Uses {
  /** Submissions without effect: an earlier one did what they ask for. (turn-uses/1) */
  readonly repeats: ReadonlySet<Submission>
  /** Submissions that leave no record: their op_id has one. (turn-uses/2) */
  readonly recordless: readonly Submission[]
}

const NONE: Uses = { repeats: new Set(), recordless: [] }

/**
 * Finds uses in the order of the log, not of the channels: the result must not depend on where
 * turns are cut. (W3) `recorded`: uses that the store knows. `before`: the turn that is not
 * committed yet.
 */
export function usesOf(
  turn: Turn,
  { recorded, before }: { readonly recorded: readonly OperationUse[]; readonly before?: Turn },
): Uses {
  const isAsked = turn.isCareful === true || turn.parked !== undefined
  if (!isAsked && !turn.items.some(isClaimed)) return NONE // turn-uses/3
  const used = new Map<OperationId, OperationUse>(recorded.map((use) => [use.opId, use]))
  for (const submission of before === undefined ? [] : submissionsOf(before)) {
    if (!used.has(submission.opId)) used.set(submission.opId, submission)
  }
  const repeats = new Set<Submission>()
  const recordless: Submission[] = []
  for (const submission of submissionsOf(turn)) {
    const first = used.get(submission.opId)
    const isChosen = submission.model === 'message' && submission.claimed
    if (first === undefined) used.set(submission.opId, submission)
    else if (isChosen || isSame(first, submission))
      repeats.add(submission) // turn-uses/1
    else recordless.push(submission) // turn-uses/2
  }
  return { repeats, recordless }
}

/** The records which say that these submissions wait: this turn replaces them. */
export function ownRecords(
  { items, unparks }: Turn,
  recorded: readonly OperationUse[],
): readonly OperationUse[] {
  if (unparks === undefined) return []
  const waited = new Map<OperationId, Submission>()
  for (const { submission } of items) {
    if (isOfChannel(submission)) waited.set(submission.opId, submission)
  }
  return recorded.filter((use) => {
    const submission = waited.get(use.opId)
    return submission !== undefined && isSame(use, submission)
  })
}

/** The records of a turn, without second records of an op_id. (turn-uses/2) */
export function withoutRecordless(operations: Operation[], { recordless }: Uses): Operation[] {
  if (recordless.length === 0) return operations
  return operations.filter(
    (operation) => !recordless.some((one) => one.opId === operation.opId && isSame(one, operation)),
  )
}

function* submissionsOf({ items, poisoned }: Turn): Generator<Submission> {
  for (const item of items) {
    const { submission } = item
    if (isOfChannel(submission) && poisoned?.has(item) !== true) yield submission
  }
}

const isClaimed = ({ submission }: Item): boolean =>
  isOfChannel(submission) && mayBeUsed(submission)

const isSame = (one: OperationUse, other: OperationUse): boolean =>
  one.model === other.model && one.entityId === other.entityId && one.channelId === other.channelId
