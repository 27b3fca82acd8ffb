// Sorts the operations of a turn by the form of their records.
//
// Invariants:
//   turn-records/1. An operation that ended at once needs no record of its own: its batch has one.
//     Any other has its own, and so have all operations of a turn that was tried before: their
//     op_ids may have records already. (turn-uses/3)
//   turn-records/2. What rules decided is apart from the batch that caused it: the key of a record
//     tells a batch that stands in the log twice, and rules decide something else for the second
//     one. (operation-batches/2)

import { endedAtOnce } from '#domain/operation'
import type { Operation } from '#domain/operation'
import type { TurnWrites } from '#domain/store-ports'
import { isOfChannel } from './turn-item.ts'
import type { Turn } from './turn-item.ts'

interface Records extends Required<Pick<TurnWrites, 'batches'>> {
  readonly operations: Operation[]
}

/**
 * The operations with a record of their own, and the others by batch, in the order of the log.
 * Those that rules decided stand last, together.
 */
export function recordsOf(
  { items, isCareful, unparks }: Pick<Turn, 'items' | 'isCareful' | 'unparks'>,
  decided: Operation[],
): Records {
  if (isCareful === true || unparks !== undefined) return { operations: decided, batches: [] }
  const atOnce = new Map(
    decided.flatMap((operation) =>
      endedAtOnce(operation) ? [[operation.opId, operation] as const] : [],
    ),
  )
  for (const { submission } of items) {
    if (submission.model === 'message' && submission.claimed) atOnce.delete(submission.opId)
  }
  const ofRules = new Map(atOnce)
  const batches: Operation[][] = []
  let placeBefore = ''
  for (const { lane, position, submission } of items) {
    const operation = isOfChannel(submission) ? atOnce.get(submission.opId) : undefined
    if (operation === undefined) continue
    ofRules.delete(operation.opId)
    const place = `${lane} ${position}`
    if (place === placeBefore) batches.at(-1)?.push(operation)
    else batches.push([operation])
    placeBefore = place
  }
  if (ofRules.size > 0) batches.push([...ofRules.values()]) // turn-records/2
  return { operations: decided.filter(({ opId }) => !atOnce.has(opId)), batches }
}
