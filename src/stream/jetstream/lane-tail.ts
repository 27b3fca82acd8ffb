// The fetched part of one lane that is not applied yet: everything behind `from`, in order,
// bounded.

import type { Msg } from '@nats-io/transport-node'
import type { LogEntry, LogPosition } from '#domain/lane'
import { decodeBatch } from '#src/schemas/batch'

import { Consumption } from './consumption.ts'
import type { ConsumptionPorts, Reader } from './consumption.ts'
import type { Delivery } from './delivery.ts'

export interface TailOptions {
  readonly lane: number
  readonly stream: string
  readonly subject: string
  /** The position behind which reading begins. */
  readonly after: LogPosition
  /** Bytes that this lane may hold; asked each time. */
  readonly bytesMax: () => number
  /** Called with the position of each entry that arrives. */
  readonly arrived: (position: LogPosition) => void
  /** Gives the last position of the stream, over all lanes. */
  readonly endOfStream: () => Promise<LogPosition>
  /** Gives the lane's first position at or behind one; undefined when there is none. */
  readonly next: (from: LogPosition) => Promise<LogPosition | undefined>
  /** Bytes of the largest message: each request must have room for one. */
  readonly messageBytesMax: number
}

/** Entries over which the mean size of one is smoothed. */
const TYPICAL_OVER = 8

interface Fetched {
  readonly position: LogPosition
  readonly message: Msg
  /** Its submissions, once somebody has read them. */
  submissions?: LogEntry['submissions']
}

export class LaneTail implements Reader {
  readonly stream: string
  readonly subject: string
  readonly #options: TailOptions
  readonly #consumption: Consumption
  readonly #fetched: Fetched[] = []
  /** The lane is applied up to here. */
  #from: LogPosition
  /** The lane was fetched up to here. */
  #last: LogPosition
  /** Everything that the lane holds up to here is fetched. */
  #completeTo: LogPosition = 0
  #bytes = 0
  /** The recent mean of submissions in one entry; 0 before the first. */
  #typicalCount = 0
  #pending: number | 'unknown' = 'unknown'
  #waiting: (() => void)[] = []

  constructor(ports: ConsumptionPorts, options: TailOptions) {
    this.#options = options
    this.stream = options.stream
    this.subject = options.subject
    this.#from = options.after
    this.#last = options.after
    this.#consumption = new Consumption(ports, this)
    this.#consumption.start()
  }

  get bytes(): number {
    return this.#bytes
  }

  /**
   * Submissions that are not applied, estimated: the fetched entries, and those that the server had
   * yet to deliver at its last message, taken as entries of the usual size.
   */
  get lag(): number {
    const pending = this.#pending === 'unknown' ? 0 : this.#pending
    return Math.round((this.#fetched.length + pending) * Math.max(1, this.#typicalCount))
  }

  /** True when, by the server's last message, nothing follows the fetched entries. */
  get isAtEnd(): boolean {
    return this.#fetched.length === 0 && this.#pending === 0
  }

  /** True when it holds the entry right behind a position. */
  covers(after: LogPosition): boolean {
    return after <= this.#last && after >= this.#from
  }

  /** Forgets entries up to `after` and gives those behind it, at most `maxCount` submissions. */
  read(after: LogPosition, maxCount: number): readonly LogEntry[] {
    this.#forget(after)
    const { lane } = this.#options
    const entries: LogEntry[] = []
    let count = 0
    for (const fetched of this.#fetched) {
      const submissions = this.#submissionsOf(fetched)
      count += submissions.length
      if (entries.length > 0 && count > maxCount) break
      entries.push({ lane, position: fetched.position, submissions })
    }
    return entries
  }

  /** Resolves at the next arrival, or when it is known that nothing is behind. */
  arrival(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Takes the lane as ended when nothing came in time; `arrived` tells of later entries. */
  assumeEnd(): void {
    this.#pending = 0
  }

  close(): void {
    this.#consumption.stop()
    this.#tell()
  }

  begin(): ReturnType<Reader['begin']> {
    return { kind: 'behind', position: this.#last }
  }

  room(): number {
    const { bytesMax, messageBytesMax } = this.#options
    const left = bytesMax() - this.#bytes
    // While other lanes hold all the bytes, a lane that holds none goes on in small steps.
    return left <= 0 && this.#bytes > 0 ? 0 : Math.max(Math.floor(left), messageBytesMax)
  }

  take({ position, pending }: Delivery, message: Msg): void {
    this.#pending = pending
    this.#fetched.push({ position, message })
    this.#bytes += message.data.length
    this.#last = position
    this.#options.arrived(position)
    this.#tell()
  }

  opened(pending: number): void {
    this.#pending = pending
    if (pending === 0) this.#tell()
  }

  /** Asks for the lane only where the stream has grown: mostly one question for all lanes. */
  async lacksEntry(): Promise<boolean> {
    const { endOfStream, next } = this.#options
    const end = await endOfStream()
    const from = Math.max(this.#last, this.#completeTo) + 1
    if (end < from) return false
    const position = await next(from)
    if (position !== undefined && position <= end) return position > this.#last
    this.#completeTo = end
    return false
  }

  #submissionsOf(fetched: Fetched): LogEntry['submissions'] {
    if (fetched.submissions !== undefined) return fetched.submissions
    const submissions = decodeBatch(fetched.message.string())
    fetched.submissions = submissions
    const change = submissions.length - this.#typicalCount
    this.#typicalCount += this.#typicalCount === 0 ? change : change / TYPICAL_OVER
    return submissions
  }

  #forget(after: LogPosition): void {
    const kept = this.#fetched.findIndex(({ position }) => position > after)
    const forgotten = this.#fetched.splice(0, kept < 0 ? this.#fetched.length : kept)
    for (const { message } of forgotten) this.#bytes -= message.data.length
    this.#from = after
    this.#consumption.more()
  }

  #tell(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
