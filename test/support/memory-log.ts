// A log in memory, with the two sides of the contract.

import type { Appended, Batch, LogEntry, LogBounds, LogPosition } from '#domain/lane'
import type { LogReader, LogWriter } from '#domain/ports'
import { decodeBatch } from '#src/schemas/batch'

export class MemoryLog implements LogReader, LogWriter {
  /** Runs before each read answers: a test may hold it, or append meanwhile. */
  beforeRead: (lane: number) => Promise<void> = () => Promise.resolve()
  readonly purges: { lane: number; through: LogPosition; olderThanMs: number }[] = []
  readonly #lanes = new Map<number, LogEntry[]>()
  readonly #watchers = new Set<(lane: number) => void>()
  #position = 0

  /** Appends at once, in the form in which entries are read back, and wakes. */
  put(lane: number, submissions: LogEntry['submissions'], writer?: string): LogPosition {
    this.#position += 1
    const entry = { lane, position: this.#position, submissions }
    this.entries(lane).push(writer === undefined ? entry : { ...entry, writer })
    for (const wake of this.#watchers) wake(lane)
    return this.#position
  }

  entries(lane: number): LogEntry[] {
    const found = this.#lanes.get(lane) ?? []
    this.#lanes.set(lane, found)
    return found
  }

  append({ lane, payload }: Batch): Promise<Appended> {
    return Promise.resolve({ kind: 'appended', position: this.put(lane, decodeBatch(payload)) })
  }

  identity(): Promise<string> {
    return Promise.resolve('memory')
  }

  bounds(lane: number): Promise<LogBounds> {
    const entries = this.entries(lane)
    return Promise.resolve({
      first: entries[0]?.position ?? 0,
      last: entries.at(-1)?.position ?? 0,
    })
  }

  async read(lane: number, after: LogPosition, maxCount: number): Promise<readonly LogEntry[]> {
    const behind = this.entries(lane).filter(({ position }) => position > after)
    await this.beforeRead(lane)
    let count = 0
    const end = behind.findIndex(({ submissions }, index) => {
      count += submissions.length
      return index > 0 && count > maxCount
    })
    return end < 0 ? behind : behind.slice(0, end)
  }

  watch(wake: (lane: number) => void): () => void {
    this.#watchers.add(wake)
    return () => this.#watchers.delete(wake)
  }

  purge(lane: number, through: LogPosition, olderThanMs: number): Promise<{ purged: number }> {
    this.purges.push({ lane, through, olderThanMs })
    return Promise.resolve({ purged: 0 })
  }
}
