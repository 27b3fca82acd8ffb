// Appends submissions to the log, in one open batch for each lane.
//
//   accept ─▶ (earlier ones of its channel applied) ─▶ lane's open batch
//     ─▶ (end of the round; earlier appends answered, or batch full) ─▶ append ─▶ 200
//
// Invariants:
//   W1. `accepted` leaves only after the log has the submission durably.
//   acceptor/1. A lane appends its batches in the order of acceptance. A batch that is not full
//     waits until no append is in flight. A full batch does not wait: otherwise the lane would
//     append only one batch at a time to a slow disk. Submissions that come during a round wait for
//     its end. No batch waits longer than STUCK_MS: the log can refuse a batch that it has not
//     begun to write.
//   acceptor/2. Waiting bytes are bounded for each lane, submissions in flight and half of those
//     bytes for each channel (W8), and for the process the bytes of what it does not know to be
//     applied. Beyond a bound the acceptor refuses a submission and asks its caller to retry later.
//   acceptor/3. From `accepted` until it is known to be applied, this process finds the
//     submission's operation.

import type { ChannelId, OperationId } from '#domain/identity'
import { laneOf } from '#domain/identity'
import { BATCH_BYTES_MAX, BATCH_SUBMISSIONS_MAX } from '#domain/lane'
import type { Appended } from '#domain/lane'
import { fault } from '#domain/fault'
import type { Answer, Bus, LogWriter, Pending, SubmissionSink } from '#domain/ports'
import type { Submission } from '#domain/submission'
import type { Meter } from '#domain/telemetry'
import { encodeBatch, encodeSubmission } from '#src/schemas/batch'
import { ChannelShares } from './channel-shares.ts'
import type { SharesOptions } from './channel-shares.ts'
import { LateRefusals } from './late-refusals.ts'
import { Rounds } from './rounds.ts'
import type { RoundPorts } from './rounds.ts'
import { Unapplied, factsOf } from './unapplied.ts'
import type { Facts } from './unapplied.ts'

type Accepted = { readonly kind: 'accepted' }

export interface AcceptorOptions {
  /** The time for which submissions wait for more to join their batch. */
  readonly roundMs: number
  readonly lanes: number
  /** Bound for the bytes of one lane that wait or are in flight. */
  readonly laneBytesMax: number
  /** Bound for the submissions of one channel that wait or are in flight. */
  readonly channelInFlightMax: number
  /** Bounds for the submissions of one channel in a batch, or in the log and not applied. */
  readonly channelShare: Pick<SharesOptions<unknown>, 'shareMax' | 'aloneMax' | 'unknownMax'>
  /** Bound for the bytes of what this process accepted and does not know to be applied. */
  readonly unappliedBytesMax: number
}

export interface AcceptorPorts extends RoundPorts {
  readonly log: LogWriter
  readonly bus: Bus
  readonly meter: Meter
}

interface Waiting {
  readonly facts: Facts
  /** The encoded submission: its part of the batch. */
  readonly part: string
  readonly bytes: number
  readonly answer: (outcome: Answer<Accepted>) => void
}

/** The submissions of a batch on its way to the log. */
interface Sent {
  readonly waiting: readonly Waiting[]
  readonly facts: readonly Facts[]
  readonly bytes: number
}

interface Lane {
  readonly number: number
  waiting: Waiting[]
  waitingBytes: number
  /** Bytes waiting plus bytes in flight. */
  bytes: number
  /** Appends in flight. */
  appends: number
  /** True while a timer watches the waiting submissions. */
  isWatched: boolean
}

const ACCEPTED: Accepted = Object.freeze({ kind: 'accepted' })
const RETRY_AFTER_MS = 1000
const REFUSAL = fault('submission_not_accepted', { retryAfterMs: RETRY_AFTER_MS })
const STUCK_MS = 1000
/** The outcome when the log's thread has ended: nobody knows whether the log has the batch. (W1) */
const NO_ANSWER: Appended = { kind: 'unknown', retryAfterMs: RETRY_AFTER_MS }

/** Every submission enters the log through this class. */
export class Acceptor implements SubmissionSink {
  readonly #ports: AcceptorPorts
  readonly #options: AcceptorOptions
  readonly #lanes: readonly Lane[]
  readonly #shares: ChannelShares<Waiting>
  readonly #late: LateRefusals
  readonly #rounds: Rounds
  readonly #unapplied: Unapplied
  readonly #batchSize: (submissions: number) => void
  #idle: (() => void)[] = []
  #whenApplied: (() => void)[] = []

  constructor(ports: AcceptorPorts, options: AcceptorOptions) {
    this.#ports = ports
    this.#options = options
    this.#lanes = Array.from({ length: options.lanes }, (_, number) => newLane(number))
    this.#rounds = new Rounds(ports, options.roundMs, () => {
      for (const lane of this.#lanes) this.#flush(lane)
    })
    this.#shares = new ChannelShares<Waiting>({
      lanes: options.lanes,
      ...options.channelShare,
      timers: ports.timers,
      changesRules: ({ facts }) => facts.model === 'rule',
      enter: (lane, waiting) => this.#enter(lane, waiting),
      refuse: (lane, waiting) => this.#refuse(lane, waiting),
    })
    this.#late = new LateRefusals(REFUSAL, ports.timers)
    this.#unapplied = new Unapplied(options.lanes, (facts) => this.#shares.ended(facts))
    this.#batchSize = ports.meter.histogram('batch_submissions', {})
    ports.meter.gauge('lane_in_flight_bytes', {}, () => sumOf(this.#lanes, (lane) => lane.bytes))
    ports.meter.gauge('unapplied_submissions', {}, () => this.#unapplied.size)
    ports.meter.gauge('unapplied_bytes', {}, () => this.#unapplied.bytes)
    ports.meter.gauge('channel_waiting_submissions', {}, () => this.#shares.waiting)
    ports.meter.gauge('following_changes', {}, () => this.#shares.following)
    ports.bus.onNotice((notice) => {
      if (notice.kind !== 'applied') return
      if (notice.reaches !== undefined) this.#shares.tell(notice.reaches)
      const hasApplied = this.#unapplied.applied(notice.lane, notice.position)
      this.#shares.release(notice.lane, hasApplied)
      if (this.#unapplied.size > 0) return
      for (const resolve of this.#whenApplied.splice(0)) resolve()
    })
  }

  accept(submission: Submission): Promise<Answer<Accepted>> {
    const lane = this.#lanes[laneOf(submission.channelId, this.#options.lanes)]
    if (lane === undefined) return Promise.resolve(fault('internal_error'))
    if (this.#isBusy(lane)) return Promise.resolve(REFUSAL)
    if (this.#isAtBound(submission.channelId)) return this.#late.refuse()

    const part = encodeSubmission(submission)
    const bytes = Buffer.byteLength(part)
    lane.bytes += bytes
    return new Promise((answer) => {
      const waiting = { facts: factsOf(submission), part, bytes, answer }
      this.#shares.add(submission.channelId, lane.number, waiting, bytes)
    })
  }

  #enter(number: number, waiting: Waiting): void {
    const lane = this.#lanes[number]
    if (lane === undefined) return
    lane.waitingBytes += waiting.bytes
    lane.waiting.push(waiting)
    this.#rounds.gather()
  }

  /** What was waiting for its share while its lane stands still. */
  #refuse(number: number, { facts, bytes, answer }: Waiting): void {
    const lane = this.#lanes[number]
    if (lane !== undefined) lane.bytes -= bytes
    this.#shares.answered(facts.channelId, bytes)
    answer(REFUSAL)
    this.#idled()
  }

  find(opId: OperationId): Pending | undefined {
    return this.#unapplied.find(opId)
  }

  /** Resolves once nothing waits or is in flight. */
  drain(): Promise<void> {
    if (this.#isIdle()) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  /**
   * Resolves once every accepted submission is known to be applied, or after `withinMs`: until then
   * only this process can report their status. (acceptor/3)
   */
  async applied(withinMs: number): Promise<void> {
    if (this.#unapplied.size === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = this.#ports.timers.after(withinMs, resolve)
    this.#whenApplied.push(resolve)
    await promise
    cancel()
  }

  /** acceptor/2 */
  #isBusy({ bytes }: Lane): boolean {
    const { laneBytesMax, unappliedBytesMax } = this.#options
    return bytes >= laneBytesMax || this.#unapplied.bytes >= unappliedBytesMax
  }

  /** acceptor/2 */
  #isAtBound(channelId: ChannelId): boolean {
    const { laneBytesMax, channelInFlightMax } = this.#options
    const { unanswered, bytes } = this.#shares.unansweredOf(channelId)
    return unanswered >= channelInFlightMax || bytes >= laneBytesMax / 2
  }

  /** acceptor/1 */
  #flush(lane: Lane): void {
    while (isFull(lane) || (lane.appends === 0 && lane.waiting.length > 0)) this.#append(lane)
    if (lane.waiting.length > 0 && !lane.isWatched) this.#watch(lane)
  }

  /** acceptor/1: after STUCK_MS waiting submissions no longer wait for the append in flight. */
  #watch(lane: Lane): void {
    const { timers } = this.#ports
    const [first] = lane.waiting
    lane.isWatched = true
    timers.after(STUCK_MS, () => {
      lane.isWatched = false
      if (first !== undefined && lane.waiting[0] === first) this.#append(lane)
      else if (lane.waiting.length > 0) this.#watch(lane)
    })
  }

  #append(lane: Lane): void {
    const { parts, ...batch } = takeBatch(lane)
    const payload = encodeBatch(parts)
    lane.appends += 1
    this.#batchSize(parts.length)
    void this.#ports.log
      .append({ lane: lane.number, count: parts.length, payload })
      .catch(() => NO_ANSWER)
      .then((outcome) => this.#answerBatch(lane, batch, outcome))
  }

  #answerBatch(lane: Lane, { waiting, facts: all, bytes: sum }: Sent, outcome: Appended): void {
    lane.appends -= 1
    lane.bytes -= sum
    // acceptor/3: false when a notice has said already that it is applied.
    const isUnapplied =
      outcome.kind === 'appended' && this.#unapplied.remember(lane.number, outcome.position, all)
    for (const { facts, bytes, answer } of waiting) {
      this.#shares.answered(facts.channelId, bytes)
      if (!isUnapplied) this.#shares.ended(facts, outcome.kind === 'appended')
      answer(answerTo(facts, outcome))
    }
    if (!isUnapplied) this.#shares.release(lane.number, outcome.kind === 'appended')
    if (!this.#rounds.isOpen) this.#flush(lane)
    this.#idled()
  }

  #idled(): void {
    if (this.#isIdle()) for (const resolve of this.#idle.splice(0)) resolve()
  }

  #isIdle(): boolean {
    const isIdle = (lane: Lane): boolean => lane.appends === 0 && lane.waiting.length === 0
    return this.#shares.waiting === 0 && this.#lanes.every(isIdle)
  }
}

/** W1. Its sender may safely repeat a Message with an op_id of its own. (decisions.md 6) */
function answerTo({ claimed }: Facts, outcome: Appended): Answer<Accepted> {
  if (outcome.kind === 'appended') return ACCEPTED
  const { kind, retryAfterMs } = outcome
  if (kind === 'refused') return fault('submission_not_accepted', { retryAfterMs })
  return fault('submission_outcome_unknown', { retryAfterMs, retryable: claimed === true })
}

function newLane(number: number): Lane {
  return { number, waiting: [], waitingBytes: 0, bytes: 0, appends: 0, isWatched: false }
}

const isFull = ({ waiting, waitingBytes }: Lane): boolean =>
  waiting.length >= BATCH_SUBMISSIONS_MAX || waitingBytes > BATCH_BYTES_MAX

/** Removes the oldest waiting submissions that fit into one batch; at least one. */
function takeBatch(lane: Lane): Sent & { readonly parts: readonly string[] } {
  const parts: string[] = []
  const facts: Facts[] = []
  let bytes = 0
  for (const waiting of lane.waiting) {
    if (parts.length >= BATCH_SUBMISSIONS_MAX) break
    if (parts.length > 0 && bytes + waiting.bytes > BATCH_BYTES_MAX) break
    parts.push(waiting.part)
    facts.push(waiting.facts)
    bytes += waiting.bytes
  }
  lane.waitingBytes -= bytes
  const rest = lane.waiting.splice(parts.length)
  const waiting = lane.waiting
  lane.waiting = rest
  return { waiting, parts, facts, bytes }
}

function sumOf<Item>(items: readonly Item[], amount: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + amount(item), 0)
}
