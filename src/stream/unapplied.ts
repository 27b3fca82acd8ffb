// Finds by op_id the operations accepted here that are not known to be applied. (acceptor/3)
//
// Every submission passes through here, and requests ask for few of them. So a batch keeps its
// operations in a list, and goes as a whole. A search finds the batch by the time in the op_id,
// first among pages of batches. Neither list is in the order of time: a clock may go back.
//
// Invariants:
//   unapplied/1. An operation whose op_id the gateway made lies within the span of its batch and
//     its page, for the op_id begins with the time of acceptance. Any other operation is kept by
//     its op_id.
//   unapplied/2. An applied operation is not remembered, whether its batch or the notice comes
//       first.
//   W7. It keeps the facts of an operation, not its submission, which the log has.

import { isOperationOf, operationTimeOf } from '#domain/identity'
import type { OperationId } from '#domain/identity'
import type { LogPosition } from '#domain/lane'
import type { Pending } from '#domain/ports'
import type { MessageSubmission, Submission } from '#domain/submission'

type Facts = Pick<Submission, 'opId' | 'channelId' | 'model' | 'entityId' | 'acceptedAt'> &
  Pick<MessageSubmission, 'isRepeat'>

/** The span of the times of acceptance of some operations. */
interface Span {
  readonly earliest: number
  readonly latest: number
}

interface Batch extends Span {
  readonly position: LogPosition
  readonly operations: readonly Facts[]
  /** Operations of the batch that are kept by op_id. */
  readonly named: readonly OperationId[]
}

/** Consecutive batches. The span may still cover a batch that was forgotten. */
interface Page {
  readonly batches: Batch[]
  earliest: number
  latest: number
}

interface Lane {
  /** In the order of their positions; none is empty. */
  readonly pages: Page[]
  appliedTo: LogPosition
}

const PAGE_BATCHES = 64
const NONE: readonly OperationId[] = Object.freeze([])

export class Unapplied {
  readonly #lanes: readonly Lane[]
  readonly #named = new Map<OperationId, Facts>()
  /** The number of operations kept in batches. */
  #unnamed = 0

  constructor(lanes: number) {
    this.#lanes = Array.from({ length: lanes }, () => ({ pages: [], appliedTo: 0 }))
  }

  /** The number of operations that can be found. */
  get size(): number {
    return this.#unnamed + this.#named.size
  }

  /** Remembers a batch of the log, behind all earlier ones of its lane. */
  remember(laneNumber: number, position: LogPosition, submissions: Iterable<Submission>): void {
    const lane = this.#lanes[laneNumber]
    if (lane === undefined || position <= lane.appliedTo) return // unapplied/2
    const operations: Facts[] = []
    let named: OperationId[] | undefined
    let earliest = Infinity
    let latest = -Infinity
    for (const submission of submissions) {
      const { opId, acceptedAt } = submission
      if (isOwn(submission)) {
        operations.push(factsOf(submission))
        if (acceptedAt < earliest) earliest = acceptedAt // unapplied/1
        if (acceptedAt > latest) latest = acceptedAt // unapplied/1
      } else {
        this.#named.set(opId, namedFactsOf(submission))
        named ??= []
        named.push(opId)
      }
    }
    this.#unnamed += operations.length
    append(lane, { position, operations, named: named ?? NONE, earliest, latest })
  }

  /** Forgets the applied operations of a lane, up to and including a position. */
  applied(laneNumber: number, position: LogPosition): void {
    const lane = this.#lanes[laneNumber]
    if (lane === undefined || position <= lane.appliedTo) return
    lane.appliedTo = position
    for (let page = lane.pages[0]; page !== undefined; page = lane.pages[0]) {
      const rest = page.batches.findIndex((batch) => batch.position > position)
      this.#forget(page.batches.splice(0, rest < 0 ? page.batches.length : rest))
      if (rest >= 0) return
      lane.pages.shift()
    }
  }

  #forget(batches: readonly Batch[]): void {
    for (const { operations, named } of batches) {
      this.#unnamed -= operations.length
      for (const opId of named) this.#named.delete(opId)
    }
  }

  /** The operation, while it is not applied. */
  find(opId: OperationId): Pending | undefined {
    const facts = this.#named.get(opId) ?? this.#findUnnamed(opId)
    return facts && { ...facts, status: 'accepted', updatedAt: facts.acceptedAt }
  }

  #findUnnamed(opId: OperationId): Facts | undefined {
    const time = operationTimeOf(opId)
    if (time === undefined) return undefined
    for (const { pages } of this.#lanes) {
      for (const page of pages) {
        if (!holds(page, time)) continue
        const found = findIn(page, opId, time)
        if (found !== undefined) return found
      }
    }
    return undefined
  }
}

function findIn({ batches }: Page, opId: OperationId, time: number): Facts | undefined {
  for (const batch of batches) {
    if (!holds(batch, time)) continue
    const found = batch.operations.find((facts) => facts.opId === opId)
    if (found !== undefined) return found
  }
  return undefined
}

function append({ pages }: Lane, batch: Batch): void {
  let page = pages.at(-1)
  if (page === undefined || page.batches.length >= PAGE_BATCHES) {
    page = { batches: [], earliest: Infinity, latest: -Infinity }
    pages.push(page)
  }
  page.batches.push(batch)
  page.earliest = Math.min(page.earliest, batch.earliest) // unapplied/1
  page.latest = Math.max(page.latest, batch.latest) // unapplied/1
}

const holds = ({ earliest, latest }: Span, time: number): boolean =>
  time >= earliest && time <= latest

/**
 * True when the gateway made the op_id. A Message with a client's op_id may be on its way twice and
 * is applied with the first; so it is kept by op_id also when that looks like the gateway's.
 */
function isOwn(submission: Submission): boolean {
  const isClaimed = submission.model === 'message' && submission.claimed
  return !isClaimed && isOperationOf(submission.opId, submission.acceptedAt)
}

const factsOf = ({ opId, channelId, model, entityId, acceptedAt }: Submission): Facts => ({
  opId,
  channelId,
  model,
  entityId,
  acceptedAt,
})

function namedFactsOf(submission: Submission): Facts {
  const facts = factsOf(submission)
  const isRepeat = submission.model === 'message' && submission.isRepeat === true
  return isRepeat ? { ...facts, isRepeat } : facts
}
