// The records of a turn's operations: which op_ids were used before, and the form of each record.
//
// Invariants:
//   turn-records/1. An operation that ended at once needs no record of its own: its batch has one.
//     Any other has its own, and so have all operations of a turn that was tried before: their
//     op_ids may have records already. (turn-records/4)
//   turn-records/2. What rules decided is apart from the batch that caused it: the key of a record
//     tells a batch that stands in the log twice, and rules decide something else for the second
//     one. (operation-batches/2)
//   turn-records/3. Where updates of Things leave no record, one that was refused or waits has its
//     own all the same, and push jobs give one to theirs. What tells a batch that stands in the log
//     twice is then missing for updates alone, whose times tell them. (entity/1)
//   turn-records/4. Only op_ids that a client chose, or that came before, cost a look-up: a turn
//     without any is decided without one. Should another op_id be used already, the database
//     refuses the turn, which is then decided anew with every op_id looked up (`isCareful`); no
//     client can bring that about, since it costs all lanes of the turn.
//   turn-records/5. An op_id that a client chose has one effect, however often its Message was
//     appended. The same holds for any other submission that stands in the log twice.
//   turn-records/6. An op_id has one record, of its first use in the log. An Event, a Thing or a
//     Message whose op_id the gateway made keeps its effect when a client chose the same before: it
//     was accepted, and only its record is another's.

import type { OperationId } from '#domain/identity'
import { endedAtOnce } from '#domain/operation'
import type { Operation } from '#domain/operation'
import type { OperationUse } from '#domain/store-ports'
import type { Submission } from '#domain/submission'
import { operationOf } from '#machines/decide'
import { isOfChannel } from './turn-item.ts'
import type { Item, Turn } from './turn-item.ts'

/** True for a submission whose op_id may have been used already. (turn-records/4) */
export const mayBeUsed = (submission: Submission): boolean =>
  submission.mayRepeat === true || isChosen(submission)

const isChosen = (submission: Submission): boolean =>
  submission.model === 'message' && submission.claimed

const isSame = (one: OperationUse, other: OperationUse): boolean =>
  one.model === other.model && one.entityId === other.entityId && one.channelId === other.channelId

/**
 * Collects records in the order of the log, not of the channels: they must not depend on where
 * turns are cut. (W3)
 */
export class TurnRecords {
  /** Operations with a record of their own. */
  readonly operations: Operation[] = []
  /** The others by batch. Those that rules decided stand last, together. */
  readonly batches: Operation[][] = []
  /** Operations that leave no record. (turn-records/3) */
  readonly unrecorded: Operation[] = []
  readonly #turn: Pick<Turn, 'isCareful' | 'leavesUpdates'>
  /** Uses of op_ids until now; undefined when the turn looks none up. (turn-records/4) */
  readonly #used: Map<OperationId, OperationUse> | undefined
  #batch: Pick<Item, 'lane' | 'position'> | undefined

  /**
   * `recorded`: uses that the store knows; undefined when it was not asked. `before`: the turn
   * that is not committed yet.
   */
  constructor(
    turn: Pick<Turn, 'isCareful' | 'leavesUpdates'>,
    recorded: readonly OperationUse[] | undefined,
    before: Pick<Turn, 'items'> | undefined,
  ) {
    this.#turn = turn
    if (recorded === undefined) return
    const used = new Map<OperationId, OperationUse>(recorded.map((use) => [use.opId, use]))
    for (const { submission } of before?.items ?? []) {
      if (isOfChannel(submission) && !used.has(submission.opId)) {
        used.set(submission.opId, submission)
      }
    }
    this.#used = used
  }

  /** True for a submission without effect: an earlier one did what it asks for. */
  isRepeat(submission: Submission): boolean {
    const first = this.#used?.get(submission.opId)
    if (first === undefined) return false
    return isChosen(submission) || isSame(first, submission) // turn-records/5
  }

  /** Adds the operation of a submission, which is no repeat. */
  add(item: Item, submission: Submission, operation: Operation): void {
    if (this.#used !== undefined) {
      if (this.#used.has(submission.opId)) return // turn-records/6
      this.#used.set(submission.opId, submission)
    }
    const { leavesUpdates, isCareful } = this.#turn
    const isAtOnce = endedAtOnce(operation)
    if (leavesUpdates === true && isAtOnce && isUpdate(submission)) {
      this.unrecorded.push(operation) // turn-records/3
    } else if (isCareful !== true && isAtOnce && !isChosen(submission)) {
      this.#addToBatch(item, operation) // turn-records/1
    } else this.operations.push(operation)
  }

  /**
   * Adds the operation of a submission that is a dead letter. An op_id with a record gets no second
   * one: that may be what broke the turn, and would break this one too. (W6)
   */
  addSetAside(submission: Submission): void {
    if (this.#used?.has(submission.opId) === true) return
    this.#used?.set(submission.opId, submission)
    this.operations.push(operationOf(submission, 'internal_error'))
  }

  /** Adds operations that followed from others, after all items. (turn-records/2) */
  caused(operations: readonly Operation[]): void {
    for (const operation of operations) {
      if (this.#turn.isCareful !== true && endedAtOnce(operation)) {
        this.#addToBatch(OF_RULES, operation)
      } else this.#replace(operation)
    }
  }

  #addToBatch(of: Pick<Item, 'lane' | 'position'>, operation: Operation): void {
    const { lane, position } = this.#batch ?? OF_NONE
    if (of.lane === lane && of.position === position) this.batches.at(-1)?.push(operation)
    else this.batches.push([operation])
    this.#batch = of
  }

  /** Adds the record of a Message that was taken back, in place of one of this turn. */
  #replace(operation: Operation): void {
    const isEnded = operation.status === 'cancelled'
    const own = this.operations
    const before = isEnded ? own.findIndex(({ opId }) => opId === operation.opId) : -1
    if (before < 0) own.push(operation)
    else own[before] = operation
  }
}

const OF_NONE = { lane: -1, position: -1 }
const OF_RULES = { lane: -2, position: -2 }

const isUpdate = ({ model, action }: Submission): boolean =>
  model === 'thing' && action === 'update'
