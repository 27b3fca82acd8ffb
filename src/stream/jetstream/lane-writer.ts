// Writes the batches of one lane, one after the other, each with a condition that keeps the stream
// from storing it twice.
//
//   waiting ─▶ attempt ─┬▶ confirmed, or found at the end ──▶ appended
//                 ▲     ├▶ no attempt can have stored it ───▶ refused: no server has the batch
//                 └─────┴▶ no answer within OUTCOME_MS ─────▶ unknown
//
// Invariants:
//   W1. The answer is `appended` only when the stream has confirmed this batch, or holds it.
//   lane-writer/1. A writer has a subject of its own in each lane, and every attempt names the
//     position at which that subject ends (Nats-Expected-Last-Subject-Sequence). So the stream
//     stores only one of the attempts that name the same end, however late they arrive.
//   lane-writer/2. One batch of a lane is in flight at a time, so batches keep their order
//     whichever server leads.
//   lane-writer/3. The answer is `refused` only when no attempt can have stored the batch.
//     Otherwise it is `unknown`, and the writer counts a batch that it finds in the log later.
//   lane-writer/4. Every attempt of a batch carries the batch's message id. Servers before 2.10
//     compare the end when an attempt arrives, not when they store it: a new leader that has not
//     yet applied the first attempt accepts the next one too, unless the message id stops it.

import type { JetStreamClient } from '@nats-io/jetstream'
import type { Appended, LogPosition } from '#domain/lane'
import type { Timers } from '#domain/ports'
import type { Logger } from '#domain/telemetry'

import type { LaneStream } from './lane-stream.ts'
import { readRefusal } from './refusal.ts'
import { pause } from './timers.ts'
import type { MonotonicMs } from './timers.ts'

export interface LaneWriterPorts {
  readonly stream: Pick<
    LaneStream,
    | 'name'
    | 'highestPosition'
    | 'mismatch'
    | 'notePosition'
    | 'stopFollowing'
    | 'lastOf'
    | 'payloadAt'
  >
  readonly publisher: Pick<JetStreamClient, 'publish'>
  readonly logger: Logger
  readonly timers: Timers
  readonly monotonicMs: MonotonicMs
  /** True when the server can receive the batch now. */
  readonly canSend: (payload: Uint8Array) => boolean
  readonly count: Readonly<Record<'retried' | 'unknown' | 'foundLate', (by?: number) => void>>
}

export interface LaneWriterOptions {
  readonly lane: number
  /** The writer's own subject in the lane; no other run of a process writes to it. */
  readonly subject: string
  /** Milliseconds before the writer refuses a batch that reached no server. */
  readonly timeoutMs: number
}

const RETRY_AFTER_MS = 1000
const ATTEMPT_TIMEOUT_MS = 500
const ATTEMPT_PAUSE_MS = 50
/** Milliseconds from the append to `unknown`: longer than an election of servers. */
const OUTCOME_MS = 9000
/**
 * The writer searches for batches of unknown outcome once a second, for a minute. (lane-writer/3)
 */
const SEARCH_MS = 1000
const SEARCHES_MAX = 60

export const UNAVAILABLE: Appended = Object.freeze({
  kind: 'refused',
  reason: 'unavailable',
  retryAfterMs: RETRY_AFTER_MS,
})
const FULL: Appended = Object.freeze({ ...UNAVAILABLE, kind: 'refused', reason: 'full' })
const UNKNOWN: Appended = Object.freeze({ kind: 'unknown', retryAfterMs: RETRY_AFTER_MS })

interface Waiting {
  /** The same for all attempts of a batch, and unique in the stream. (lane-writer/4) */
  readonly messageId: string
  readonly payload: Uint8Array
  readonly sinceMs: number
  /** The greatest position that was known when the append began. (jetstream-writer/2) */
  readonly after: LogPosition
  readonly answer: (outcome: Appended) => void
  attempts: number
  /** Attempts of unknown outcome. (lane-writer/3) */
  open: number
}

export class LaneWriter {
  readonly #ports: LaneWriterPorts
  readonly #options: LaneWriterOptions
  /** Appends in order; the first one is in flight. */
  readonly #waiting: Waiting[] = []
  #batches = 0
  #isWriting = false
  #isClosed = false
  /** The last position of the writer's subject; 0 while it is empty. (lane-writer/1) */
  #end: LogPosition = 0
  /** Batches of unknown outcome whose attempts named the present end. (lane-writer/3) */
  #unresolved = 0
  #searches = 0
  #cancelSearch: () => void = () => {}

  constructor(ports: LaneWriterPorts, options: LaneWriterOptions) {
    this.#ports = ports
    this.#options = options
  }

  /** Never rejects. */
  append(payload: Uint8Array): Promise<Appended> {
    const { stream, monotonicMs } = this.#ports
    const { promise, resolve } = Promise.withResolvers<Appended>()
    this.#batches += 1
    const messageId = `${this.#options.subject}.${this.#batches}`
    const facts = { messageId, payload, sinceMs: monotonicMs(), after: stream.highestPosition }
    this.#waiting.push({ ...facts, answer: resolve, attempts: 0, open: 0 })
    if (!this.#isWriting) void this.#writeAll()
    return promise
  }

  /** Answers waiting appends: `unknown` if an attempt may have been stored, else `refused`. */
  close(): void {
    this.#isClosed = true
    this.#cancelSearch()
    for (const waiting of this.#waiting) waiting.answer(waiting.open > 0 ? UNKNOWN : UNAVAILABLE)
  }

  /** lane-writer/2 */
  async #writeAll(): Promise<void> {
    this.#isWriting = true
    this.#cancelSearch()
    for (let [head] = this.#waiting; head !== undefined; [head] = this.#waiting) {
      head.answer(await this.#write(head))
      this.#waiting.shift()
    }
    this.#isWriting = false
    if (this.#unresolved === 0) return
    this.#searches = 0
    this.#searchLater()
  }

  async #write(append: Waiting): Promise<Appended> {
    for (;;) {
      const outcome = (await this.#attempt(append)) ?? this.#timeOut(append)
      if (outcome !== undefined) return outcome
      this.#refuseLate()
      await pause(this.#ports.timers, ATTEMPT_PAUSE_MS)
    }
  }

  /** Makes one attempt; gives undefined when its result calls for another one. */
  async #attempt(append: Waiting): Promise<Appended | undefined> {
    const { publisher, canSend, count } = this.#ports
    if (!canSend(append.payload)) return undefined
    if (append.attempts > 0) count.retried()
    append.attempts += 1
    append.open += 1
    try {
      const expect = { lastSubjectSequence: this.#end } // lane-writer/1
      // lane-writer/4
      const options = { msgID: append.messageId, expect, timeout: ATTEMPT_TIMEOUT_MS }
      const { seq } = await publisher.publish(this.#options.subject, append.payload, options)
      return this.#appended(append, seq)
    } catch (error) {
      return this.#refused(append, error)
    }
  }

  async #refused(append: Waiting, error: unknown): Promise<Appended | undefined> {
    const refusal = readRefusal(error)
    switch (refusal.kind) {
      case 'other-end':
        append.open -= 1
        return refusal.last > this.#end
          ? this.#compare(append, refusal.last)
          : this.#restart(append, refusal.last)
      case 'full':
        append.open -= 1
        return append.open === 0 ? FULL : undefined
      case 'no-leader':
        append.open -= 1
        return undefined
      case 'inconclusive':
        this.#ports.logger.debug('an append attempt has an unknown outcome', {
          reason: refusal.reason,
        })
        return undefined
    }
  }

  /**
   * Handles a subject that has grown: by this batch, or by an earlier one of unknown outcome.
   * (lane-writer/3)
   */
  async #compare(append: Waiting, last: LogPosition): Promise<Appended | undefined> {
    const stored = await this.#ports.stream.payloadAt(last).catch(() => undefined)
    if (stored === undefined) {
      append.open += 1 // The last message may be this batch: the read failed, or it was purged.
      return undefined
    }
    if (Buffer.compare(stored, append.payload) === 0) return this.#appended(append, last)
    this.#foundLate(last)
    return undefined
  }

  /**
   * Handles a purge of the subject's end. The purge may have removed this batch, too, when one of
   * its attempts has an unknown outcome.
   */
  #restart(append: Waiting, last: LogPosition): Appended | undefined {
    this.#end = last
    this.#unresolved = 0
    return append.open === 0 ? undefined : this.#unknown()
  }

  #appended(append: Waiting, position: LogPosition): Appended {
    const { stream } = this.#ports
    this.#end = position
    this.#unresolved = 0 // lane-writer/1: the earlier attempts named another end.
    if (position <= append.after) {
      // jetstream-writer/2
      stream.stopFollowing(
        `the stream ${stream.name} gave position ${position} but held ${append.after}: ` +
          'entries were lost',
      )
      return UNAVAILABLE
    }
    stream.notePosition(position)
    return { kind: 'appended', position } // W1
  }

  #timeOut(append: Waiting): Appended | undefined {
    const { stream, monotonicMs } = this.#ports
    const isOver = this.#isClosed || stream.mismatch !== undefined
    const waitedMs = monotonicMs() - append.sinceMs
    if (append.open > 0) return isOver || waitedMs >= OUTCOME_MS ? this.#unknown() : undefined
    return isOver || waitedMs >= this.#options.timeoutMs ? UNAVAILABLE : undefined // lane-writer/3
  }

  /** Refuses appends that waited too long behind the one in flight. */
  #refuseLate(): void {
    const now = this.#ports.monotonicMs()
    const isLate = ({ sinceMs }: Waiting): boolean => now - sinceMs >= this.#options.timeoutMs
    while (this.#waiting[1] !== undefined && isLate(this.#waiting[1])) {
      for (const { answer } of this.#waiting.splice(1, 1)) answer(UNAVAILABLE)
    }
  }

  #unknown(): Appended {
    this.#unresolved += 1
    this.#ports.count.unknown()
    return UNKNOWN
  }

  #foundLate(position: LogPosition): void {
    const { lane } = this.#options
    this.#end = position
    this.#unresolved = 0
    this.#ports.count.foundLate()
    this.#ports.logger.warn('found a batch of unknown outcome in the log', { lane, position })
  }

  #searchLater(): void {
    if (this.#searches >= SEARCHES_MAX || this.#isClosed) return
    this.#searches += 1
    this.#cancelSearch = this.#ports.timers.after(SEARCH_MS, () => void this.#search())
  }

  async #search(): Promise<void> {
    const end = this.#end
    const last = await this.#ports.stream.lastOf(this.#options.subject).catch(() => undefined)
    if (this.#isWriting || this.#isClosed || end !== this.#end) return
    if (last !== undefined && last.position > end) this.#foundLate(last.position)
    else this.#searchLater()
  }
}
