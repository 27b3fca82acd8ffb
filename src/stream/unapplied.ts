// What was accepted here and is not known to be applied, found by its op_id. (acceptor/3)
//
// Every submission passes through here and hardly one is ever asked for. So what belongs to a batch
// is kept in a list and goes with it; a search is led to its batch by the time in the op_id, over
// the times of whole pages of batches. Neither is in the order of time: a clock may go back.
//
// Invariants:
//   unapplied/1. An operation whose op_id the gateway made lies within the span of its batch and
//     its page, for the op_id begins with the time of acceptance. Any other one is kept by name.
//   unapplied/2. What is known to be applied is not remembered, whichever of the two is told first.
//   W7. Kept are the facts of an operation, not its submission, which the log has.

import { isOperationOf, operationTimeOf } from '#domain/identity'
import type { OperationId } from '#domain/identity'
import type { LogPosition } from '#domain/lane'
import type { Pending } from '#domain/ports'
import type { MessageSubmission, Submission } from '#domain/submission'

type Facts = Pick<Submission, 'opId' | 'channelId' | 'model' | 'entityId' | 'acceptedAt'> &
  Pick<MessageSubmission, 'isRepeat'>

/** Times between which operations were accepted. */
interface Span {
  readonly earliest: number
  readonly latest: number
}

interface Batch extends Span {
  readonly position: LogPosition
  readonly operations: readonly Facts[]
  /** Those of the batch that are kept by name. */
  readonly named: readonly OperationId[]
}

/** Batches behind each other. Its span may still hold that of one that has gone. */
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
  /** How many are kept in batches. */
  #unnamed = 0

  constructor(lanes: number) {
    this.#lanes = Array.from({ length: lanes }, () => ({ pages: [], appliedTo: 0 }))
  }

  /** How many operations can be found. */
  get size(): number {
    return this.#unnamed + this.#named.size
  }

  /** Takes in a batch that is in the log, behind all that its lane had before. */
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

  /** Forgets what its lane has applied up to and with a position. */
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

  /** The operation as it is until it is applied. */
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
 * Whether the gateway made its op_id. What a client chose may be on its way twice and is applied
 * with the first; so it is kept by name also when it looks like one of the gateway.
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
