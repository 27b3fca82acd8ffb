// Finds by op_id the operations that this process accepted and does not know to be applied.
// (acceptor/3)
//
// This index holds every submission, and requests search for few of them. So a batch keeps its
// operations in a list, and the index drops it as a whole. A search finds the batch by the time in
// the op_id, first among pages of batches. Neither list is in the order of time: a clock may go
// back.
//
// Invariants:
//   unapplied/1. The span of a batch, and of its page, covers every operation of the batch whose
//     op_id the gateway made, because such an op_id begins with the time of acceptance. A map by
//     op_id holds all other operations.
//   unapplied/2. The index holds no applied operation, whether its batch or the notice comes first.
//   W7. The index keeps the facts of an operation, not its submission, which the log has, and knows
//     the bytes that they take.

import { isOperationOf, operationTimeOf } from '#domain/identity'
import type { OperationId } from '#domain/identity'
import type { LogPosition } from '#domain/lane'
import type { Pending } from '#domain/ports'
import type { MessageSubmission, Submission } from '#domain/submission'

/** What of a submission outlives its encoding. */
export type Facts = Pick<Submission, 'opId' | 'channelId' | 'model' | 'entityId' | 'acceptedAt'> &
  Pick<MessageSubmission, 'isRepeat'> & {
    /** True for a Message whose op_id its client chose. */
    readonly claimed?: boolean
  }

/** The earliest and the latest time of acceptance of some operations. */
interface Span {
  readonly earliest: number
  readonly latest: number
}

interface Batch extends Span {
  readonly position: LogPosition
  readonly operations: readonly Facts[]
  /** Operations of the batch that the map by op_id holds. */
  readonly named: readonly Facts[]
  /** An estimate of the bytes that all these take. */
  readonly bytes: number
}

/** Consecutive batches. The span may still cover a batch that the index has forgotten. */
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
// What objects take in the heap of V8, rounded up.
const FACTS_BYTES = 200
const NAMED_BYTES = 64
const NONE: readonly Facts[] = Object.freeze([])

export class Unapplied {
  readonly #lanes: readonly Lane[]
  readonly #named = new Map<OperationId, Facts>()
  readonly #ended: (facts: Facts) => void
  /** The number of operations in the lists of batches. */
  #unnamed = 0
  #bytes = 0

  /** `ended` is called with each operation that the index forgets. */
  constructor(lanes: number, ended: (facts: Facts) => void = () => {}) {
    this.#ended = ended
    this.#lanes = Array.from({ length: lanes }, () => ({ pages: [], appliedTo: 0 }))
  }

  /** The number of operations that `find` can give. */
  get size(): number {
    return this.#unnamed + this.#named.size
  }

  /** An estimate of the bytes that they take. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Adds a batch of the log, behind all earlier ones of its lane; false when it is applied already.
   */
  remember(laneNumber: number, position: LogPosition, submissions: Iterable<Facts>): boolean {
    const lane = this.#lanes[laneNumber]
    if (lane === undefined || position <= lane.appliedTo) return false // unapplied/2
    const operations: Facts[] = []
    let named: Facts[] | undefined
    let earliest = Infinity
    let latest = -Infinity
    let bytes = 0
    for (const facts of submissions) {
      const { opId, entityId, acceptedAt } = facts
      bytes += FACTS_BYTES + opId.length + entityId.length
      if (isOwn(facts)) {
        operations.push(facts)
        if (acceptedAt < earliest) earliest = acceptedAt // unapplied/1
        if (acceptedAt > latest) latest = acceptedAt // unapplied/1
      } else {
        bytes += NAMED_BYTES
        this.#named.set(opId, facts)
        named ??= []
        named.push(facts)
      }
    }
    this.#unnamed += operations.length
    this.#bytes += bytes
    append(lane, { position, operations, named: named ?? NONE, bytes, earliest, latest })
    return true
  }

  /**
   * Forgets the applied operations of a lane, up to and including a position; false when the lane
   * was there already.
   */
  applied(laneNumber: number, position: LogPosition): boolean {
    const lane = this.#lanes[laneNumber]
    if (lane === undefined || position <= lane.appliedTo) return false
    lane.appliedTo = position
    for (let page = lane.pages[0]; page !== undefined; page = lane.pages[0]) {
      const rest = page.batches.findIndex((batch) => batch.position > position)
      this.#forget(page.batches.splice(0, rest < 0 ? page.batches.length : rest))
      if (rest >= 0) break
      lane.pages.shift()
    }
    return true
  }

  #forget(batches: readonly Batch[]): void {
    for (const { operations, named, bytes } of batches) {
      this.#unnamed -= operations.length
      this.#bytes -= bytes
      for (const facts of operations) this.#ended(facts)
      for (const facts of named) {
        this.#named.delete(facts.opId)
        this.#ended(facts)
      }
    }
  }

  /** Returns an operation of which no notice has said that it is applied. */
  find(opId: OperationId): Pending | undefined {
    const found = this.#named.get(opId) ?? this.#findUnnamed(opId)
    if (found === undefined) return undefined
    const { claimed: _, ...facts } = found
    return { ...facts, status: 'accepted', updatedAt: facts.acceptedAt }
  }

  #findUnnamed(opId: OperationId): Facts | undefined {
    const time = operationTimeOf(opId)
    if (time === undefined) return undefined
    for (const { pages } of this.#lanes) {
      for (const page of pages) {
        if (!covers(page, time)) continue
        const found = findIn(page, opId, time)
        if (found !== undefined) return found
      }
    }
    return undefined
  }
}

function findIn({ batches }: Page, opId: OperationId, time: number): Facts | undefined {
  for (const batch of batches) {
    if (!covers(batch, time)) continue
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

const covers = ({ earliest, latest }: Span, time: number): boolean =>
  time >= earliest && time <= latest

/**
 * True when the gateway made the op_id. The log may hold a Message with a client's op_id twice, and
 * the operation ends with the first; so the map by op_id holds it, even if the gateway could have
 * made that op_id.
 */
const isOwn = ({ claimed, opId, acceptedAt }: Facts): boolean =>
  claimed !== true && isOperationOf(opId, acceptedAt)

/** The facts of a submission. (W7) */
export function factsOf(submission: Submission): Facts {
  const { opId, channelId, model, entityId, acceptedAt } = submission
  const facts = { opId, channelId, model, entityId, acceptedAt }
  if (submission.model !== 'message') return facts
  const { claimed, isRepeat } = submission
  return { ...facts, claimed, ...(isRepeat === true && { isRepeat }) }
}
