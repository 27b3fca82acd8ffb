// Sorts the operations of a turn by the form of their records.
//
// Invariants:
//   turn-records/1. An operation that ended at once needs no record of its own: its batch has one.
//     Any other has its own, and so have all operations of a turn that was tried before: their
//     op_ids may have records already. (turn-uses/3)
//   turn-records/2. What rules decided is apart from the batch that caused it: the key of a record
//     tells a batch that stands in the log twice, and rules decide something else for the second
//     one. (operation-batches/2)
//   turn-records/3. Where updates of Things leave no record, one that was refused or waits has its
//     own all the same, and push jobs give one to theirs. What tells a batch that stands in the log
//     twice is then missing for updates alone, whose times tell them. (entity/1)

import type { OperationId } from '#domain/identity'
import { endedAtOnce } from '#domain/operation'
import type { Operation } from '#domain/operation'
import type { TurnWrites } from '#domain/store-ports'
import { isOfChannel } from './turn-item.ts'
import type { Turn } from './turn-item.ts'

interface Records extends Required<Pick<TurnWrites, 'batches'>> {
  readonly operations: Operation[]
  /** Operations that leave no record. (turn-records/3) */
  readonly unrecorded: readonly Operation[]
}

const NONE: readonly Operation[] = []

/**
 * The operations with a record of their own, and the others by batch, in the order of the log.
 * Those that rules decided stand last, together.
 */
export function recordsOf(
  turn: Pick<Turn, 'items' | 'isCareful' | 'unparks' | 'leavesUpdates'>,
  all: Operation[],
): Records {
  const { items, isCareful, unparks, leavesUpdates } = turn
  const { decided, unrecorded } =
    leavesUpdates === true ? withoutUpdates(items, all) : { decided: all, unrecorded: NONE }
  if (isCareful === true || unparks !== undefined) {
    return { operations: decided, batches: [], unrecorded }
  }
  const atOnce = new Map<OperationId, Operation>()
  for (const operation of decided) {
    if (endedAtOnce(operation)) atOnce.set(operation.opId, operation)
  }
  for (const { submission } of items) {
    if (submission.model === 'message' && submission.claimed) atOnce.delete(submission.opId)
  }
  const ofRules = new Map(atOnce)
  const batches: Operation[][] = []
  let before: Turn['items'][number] | undefined
  for (const item of items) {
    const { lane, position, submission } = item
    const operation = isOfChannel(submission) ? atOnce.get(submission.opId) : undefined
    if (operation === undefined) continue
    ofRules.delete(operation.opId)
    if (before?.lane === lane && before.position === position) batches.at(-1)?.push(operation)
    else batches.push([operation])
    before = item
  }
  if (ofRules.size > 0) batches.push([...ofRules.values()]) // turn-records/2
  const operations = decided.filter(({ opId }) => !atOnce.has(opId))
  return { operations, batches, unrecorded }
}

/** turn-records/3 */
function withoutUpdates(
  items: Turn['items'],
  all: readonly Operation[],
): Pick<Records, 'unrecorded'> & { readonly decided: Operation[] } {
  const updates = new Set(
    items.flatMap(({ submission }) =>
      submission.model === 'thing' && submission.action === 'update' ? submission.opId : [],
    ),
  )
  const decided: Operation[] = []
  const unrecorded: Operation[] = []
  for (const one of all) {
    if (updates.has(one.opId) && endedAtOnce(one)) unrecorded.push(one)
    else decided.push(one)
  }
  return { decided, unrecorded }
}
