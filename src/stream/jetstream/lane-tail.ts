// Keeps the entries of one lane that are fetched and not applied yet, in order, within a bound.

import type { Msg } from '@nats-io/transport-node'
import type { LogEntry, LogPosition } from '#domain/lane'
import { decodeBatch } from '#src/schemas/batch'

import { Consumption } from './consumption.ts'
import type { ConsumptionPorts, EntryReceiver } from './consumption.ts'
import { writerIn } from './delivery.ts'
import type { Delivery } from './delivery.ts'

export interface TailOptions {
  readonly lane: number
  readonly stream: string
  readonly subject: string
  /** Reading begins with the first entry behind this position. */
  readonly after: LogPosition
  /** Returns the bytes that this lane may hold now. */
  readonly bytesMax: () => number
  /** Called with the position of each entry that arrives. */
  readonly onArrival: (position: LogPosition) => void
  /** Returns the last position of the stream, over all lanes. */
  readonly endOfStream: () => Promise<LogPosition>
  /** Returns the lane's first position at or behind `from`; undefined when there is none. */
  readonly next: (from: LogPosition) => Promise<LogPosition | undefined>
  /** Bytes of the largest message: each request must have room for one. */
  readonly messageBytesMax: number
}

/** A new entry counts for one part in this many of the mean. */
const MEAN_WEIGHT = 8

interface Fetched {
  readonly position: LogPosition
  readonly message: Msg
  /** The decoded message, set at the first read. */
  submissions?: LogEntry['submissions']
}

export class LaneTail implements EntryReceiver {
  readonly stream: string
  readonly subject: string
  readonly #options: TailOptions
  readonly #consumption: Consumption
  readonly #fetched: Fetched[] = []
  /** The owner has applied the lane up to this position. */
  #appliedTo: LogPosition
  /** The position of the last fetched entry. */
  #fetchedTo: LogPosition
  /** The stream holds no entry of the lane between the last fetched one and this position. */
  #completeTo: LogPosition = 0
  #bytes = 0
  /** A moving mean of the submissions in an entry; 0 before the first entry. */
  #meanCount = 0
  /** Entries that the server had yet to deliver when it last said so. */
  #pending: number | 'unknown' = 'unknown'
  #waiters: (() => void)[] = []

  constructor(ports: ConsumptionPorts, options: TailOptions) {
    this.#options = options
    this.stream = options.stream
    this.subject = options.subject
    this.#appliedTo = options.after
    this.#fetchedTo = options.after
    this.#consumption = new Consumption(ports, this)
    this.#consumption.start()
  }

  get bytes(): number {
    return this.#bytes
  }

  /**
   * An estimate of the submissions that are not applied: fetched and pending entries times the mean
   * number of submissions in an entry.
   */
  get lag(): number {
    const pending = this.#pending === 'unknown' ? 0 : this.#pending
    return Math.round((this.#fetched.length + pending) * Math.max(1, this.#meanCount))
  }

  /** True when nothing is fetched and the server last said that nothing is pending. */
  get isAtEnd(): boolean {
    return this.#fetched.length === 0 && this.#pending === 0
  }

  /** True when the tail can give the entries right behind a position. */
  covers(after: LogPosition): boolean {
    return after <= this.#fetchedTo && after >= this.#appliedTo
  }

  /**
   * Forgets the entries up to `after`. Gives entries behind it with at most `maxCount` submissions
   * together, but at least one entry.
   */
  read(after: LogPosition, maxCount: number): readonly LogEntry[] {
    this.#forget(after)
    const { lane } = this.#options
    const entries: LogEntry[] = []
    let count = 0
    for (const fetched of this.#fetched) {
      const submissions = this.#submissionsOf(fetched)
      count += submissions.length
      if (entries.length > 0 && count > maxCount) break
      const { position, message } = fetched
      entries.push({ lane, position, submissions, writer: writerIn(message.subject) })
    }
    return entries
  }

  /** Resolves at the next arrival, or once the server says that nothing is pending. */
  arrival(): Promise<void> {
    return new Promise((resolve) => this.#waiters.push(resolve))
  }

  /** Assumes that nothing is pending when nothing came in time. Later entries call `onArrival`. */
  assumeEnd(): void {
    this.#pending = 0
  }

  close(): void {
    this.#consumption.stop()
    this.#wakeWaiters()
  }

  begin(): LogPosition {
    return this.#fetchedTo
  }

  room(): number {
    const { bytesMax, messageBytesMax } = this.#options
    const left = bytesMax() - this.#bytes
    // A lane that holds nothing may always fetch one message, also while others hold all the bytes.
    return left <= 0 && this.#bytes > 0 ? 0 : Math.max(Math.floor(left), messageBytesMax)
  }

  receive({ position, pending }: Delivery, message: Msg): void {
    this.#pending = pending
    this.#fetched.push({ position, message })
    this.#bytes += message.data.length
    this.#fetchedTo = position
    this.#options.onArrival(position)
    this.#wakeWaiters()
  }

  opened(pending: number): void {
    this.#pending = pending
    if (pending === 0) this.#wakeWaiters()
  }

  /** Asks for the lane only after the stream has grown: mostly, all lanes share one request. */
  async lacksEntry(): Promise<boolean> {
    const { endOfStream, next } = this.#options
    const end = await endOfStream()
    const from = Math.max(this.#fetchedTo, this.#completeTo) + 1
    if (end < from) return false
    const position = await next(from)
    if (position !== undefined && position <= end) return position > this.#fetchedTo
    this.#completeTo = end
    return false
  }

  #submissionsOf(fetched: Fetched): LogEntry['submissions'] {
    if (fetched.submissions !== undefined) return fetched.submissions
    const submissions = decodeBatch(fetched.message.string())
    fetched.submissions = submissions
    const change = submissions.length - this.#meanCount
    this.#meanCount += this.#meanCount === 0 ? change : change / MEAN_WEIGHT
    return submissions
  }

  #forget(after: LogPosition): void {
    const kept = this.#fetched.findIndex(({ position }) => position > after)
    const forgotten = this.#fetched.splice(0, kept < 0 ? this.#fetched.length : kept)
    for (const { message } of forgotten) this.#bytes -= message.data.length
    this.#appliedTo = after
    this.#consumption.request()
  }

  #wakeWaiters(): void {
    for (const resolve of this.#waiters.splice(0)) resolve()
  }
}
