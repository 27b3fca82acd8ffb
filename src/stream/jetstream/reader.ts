// Reads the log through a tail in memory for each lane, which prefetches entries from the stream.
//
// Invariants:
//   W4. A purge removes only applied and old entries; the entry at the applied position stays.
//   W5. Reading rejects with LogMismatch when the stream is not the one that this process opened.
//   jetstream-reader/1. Memory is bounded: all tails share `tailBytesMax`, and each may hold one
//     message of the largest size more. The reader drops a tail that nobody has read for
//     UNREAD_MS_MAX: another node owns its lane now.

import type { LogEntry, LogBounds, LogPosition } from '#domain/lane'
import type { LogReader } from '#domain/ports'

import { reasonOf } from './connection.ts'
import type { StoredMessage } from './lane-stream.ts'
import { LaneTail } from './lane-tail.ts'
import type { LogPorts } from './writer.ts'

export interface ReaderOptions {
  /** Bound for the bytes of fetched entries over all lanes. */
  readonly tailBytesMax: number
  /** The byte bound of the stream. */
  readonly bytesMax: number
}

const MESSAGE_BYTES_MAX = 2 ** 20 + 4096
const FIRST_ENTRY_MS = 500
const UNREAD_MS_MAX = 60_000
const UNREAD_CHECK_MS = 10_000
/** The time for which lanes share one search for the purge cutoff. */
const CUTOFF_SHARED_MS = 5000
/** The time for which lanes share one request for the stream's end. */
const END_SHARED_MS = 1000

interface Tail {
  readonly tail: LaneTail
  readMs: number
}

/** The position before which every entry is older than `olderThanMs`. */
interface Cutoff {
  readonly olderThanMs: number
  readonly position: LogPosition
  readonly atMs: number
}

export class JetStreamReader implements LogReader {
  readonly #ports: LogPorts
  readonly #options: ReaderOptions
  readonly #tails = new Map<number, Tail>()
  readonly #watchers = new Set<(lane: number) => void>()
  readonly #purged = new Map<number, LogPosition>()
  readonly #stopListening: () => void
  #cutoff: Promise<Cutoff> | undefined
  #end: { readonly position: Promise<LogPosition>; readonly atMs: number } | undefined
  #cancelCheck: () => void

  constructor(ports: LogPorts, options: ReaderOptions) {
    this.#ports = ports
    this.#options = options
    this.#stopListening = ports.connection.onReconnect(() => void this.#verify())
    this.#cancelCheck = ports.timers.after(UNREAD_CHECK_MS, this.#dropUnread)
    ports.meter.gauge('stream_tail_bytes', {}, () => this.#sum(({ bytes }) => bytes))
    ports.meter.gauge('lane_lag_submissions', {}, () => this.#sum(({ lag }) => lag))
  }

  identity(): Promise<string> {
    return Promise.resolve(this.#ports.stream.identity)
  }

  async bounds(lane: number): Promise<LogBounds> {
    const { stream } = this.#ports
    const last = await stream.last(lane)
    if (last === undefined) return { first: 0, last: 0 }
    stream.notePosition(last.position)
    const first = await stream.next(1, lane)
    return { first: first?.position ?? last.position, last: last.position }
  }

  async read(lane: number, after: LogPosition, maxCount: number): Promise<readonly LogEntry[]> {
    const { stream, connection } = this.#ports
    if (stream.mismatch !== undefined) throw stream.mismatch // W5
    // W5: the stream held an applied position, even if another process read it.
    stream.notePosition(after)
    const tail = this.#tailAt(lane, after)
    const entries = tail.read(after, maxCount)
    if (entries.length > 0 || tail.isAtEnd || !connection.isConnected) return entries
    await this.#firstEntry(tail)
    return tail.read(after, maxCount)
  }

  watch(wake: (lane: number) => void): () => void {
    this.#watchers.add(wake)
    return () => this.#watchers.delete(wake)
  }

  /** W4 */
  async purge(
    lane: number,
    through: LogPosition,
    olderThanMs: number,
  ): Promise<{ readonly purged: number }> {
    const { stream } = this.#ports
    const cutoff = await this.#cutoffFor(olderThanMs)
    const before = Math.min(cutoff.position, through)
    if (before <= (this.#purged.get(lane) ?? 1)) return { purged: 0 }
    this.#purged.set(lane, before)
    return { purged: await stream.purge(lane, before) }
  }

  close(): void {
    this.#stopListening()
    this.#cancelCheck()
    for (const lane of this.#tails.keys()) this.#dropTail(lane)
  }

  #tailAt(lane: number, after: LogPosition): LaneTail {
    const { monotonicMs, stream } = this.#ports
    const known = this.#tails.get(lane)
    if (known?.tail.covers(after) === true) {
      known.readMs = monotonicMs()
      return known.tail
    }
    this.#dropTail(lane)
    const tail = new LaneTail(
      { ...this.#ports, manager: stream.manager },
      {
        lane,
        after,
        stream: stream.name,
        subject: stream.filterOf(lane),
        bytesMax: () => this.#bytesMaxOf(lane),
        messageBytesMax: MESSAGE_BYTES_MAX,
        onArrival: (position) => {
          stream.notePosition(position)
          for (const wake of this.#watchers) wake(lane)
        },
        endOfStream: () => this.#endOfStream(),
        next: async (from) => (await stream.next(from, lane))?.position,
      },
    )
    this.#tails.set(lane, { tail, readMs: monotonicMs() })
    return tail
  }

  /**
   * jetstream-reader/1: gives a lane's share, or less while other tails hold more than theirs: they
   * may have fetched while there were fewer tails.
   */
  #bytesMaxOf(lane: number): number {
    const { tailBytesMax } = this.#options
    const others = this.#sum(({ bytes }) => bytes) - (this.#tails.get(lane)?.tail.bytes ?? 0)
    return Math.min(tailBytesMax / Math.max(1, this.#tails.size), tailBytesMax - others)
  }

  /** Waits up to FIRST_ENTRY_MS for an entry. Later entries wake the watchers. */
  async #firstEntry(tail: LaneTail): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = this.#ports.timers.after(FIRST_ENTRY_MS, () => {
      tail.assumeEnd()
      resolve()
    })
    await Promise.race([promise, tail.arrival()])
    cancel()
  }

  /** Sends one request for all lanes that are quiet at the same time. */
  #endOfStream(): Promise<LogPosition> {
    const { stream, monotonicMs } = this.#ports
    const now = monotonicMs()
    if (this.#end === undefined || now - this.#end.atMs > END_SHARED_MS) {
      this.#end = { position: stream.end(), atMs: now }
    }
    return this.#end.position
  }

  async #verify(): Promise<void> {
    const { stream, logger } = this.#ports
    try {
      await stream.verify() // W5
      if (stream.mismatch === undefined) return
      for (const lane of this.#tails.keys()) for (const wake of this.#watchers) wake(lane)
    } catch (error) {
      logger.warn('could not check the stream', { error: reasonOf(error) })
    }
  }

  /** jetstream-reader/1 */
  readonly #dropUnread = (): void => {
    const { timers, monotonicMs } = this.#ports
    this.#cancelCheck = timers.after(UNREAD_CHECK_MS, this.#dropUnread)
    const now = monotonicMs()
    for (const [lane, { tail, readMs }] of this.#tails) {
      if (tail.bytes > 0 && now - readMs > UNREAD_MS_MAX) this.#dropTail(lane)
    }
  }

  #dropTail(lane: number): void {
    this.#tails.get(lane)?.tail.close()
    this.#tails.delete(lane)
  }

  #sum(of: (tail: LaneTail) => number): number {
    return [...this.#tails.values()].reduce((sum, { tail }) => sum + of(tail), 0)
  }

  /** Searches once for all lanes that the owner purges at the same time. */
  async #cutoffFor(olderThanMs: number): Promise<Cutoff> {
    const known = await this.#cutoff?.catch(() => undefined)
    if (
      known !== undefined &&
      known.olderThanMs <= olderThanMs &&
      olderThanMs - known.olderThanMs < CUTOFF_SHARED_MS &&
      this.#ports.monotonicMs() - known.atMs < CUTOFF_SHARED_MS
    ) {
      return known
    }
    this.#cutoff = this.#findCutoff(olderThanMs)
    return this.#cutoff
  }

  /** Finds the first entry that is not older by binary search: times grow along the stream. */
  async #findCutoff(olderThanMs: number): Promise<Cutoff> {
    const { stream, monotonicMs } = this.#ports
    const { state } = await stream.verify()
    if (stream.mismatch !== undefined) throw stream.mismatch // W5
    const cutoff = (position: LogPosition): Cutoff => ({
      olderThanMs,
      position,
      atMs: monotonicMs(),
    })
    // A log that is more than half full drops every applied batch at once; a log with room keeps
    // them for inspection.
    if (state.bytes > this.#options.bytesMax / 2) return cutoff(state.last_seq)
    let low = state.first_seq
    let high = state.last_seq + 1
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const found: StoredMessage | undefined = await stream.next(middle)
      if (found === undefined || found.atMs >= olderThanMs) high = middle
      else low = found.position + 1
    }
    return cutoff(low)
  }
}
