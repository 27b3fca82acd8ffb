// Streams of a simulated JetStream: what is stored, and what consumers get of it.

import type { VirtualTime } from './virtual-time.ts'

export interface Stored {
  readonly seq: number
  readonly subject: string
  readonly data: Uint8Array
  readonly headers: Readonly<Record<string, string>>
  readonly atMs: number
}

export interface StreamConfig {
  readonly name: string
  readonly subjects: readonly string[]
  readonly max_bytes?: number
  readonly [name: string]: unknown
}

/** The server's answer to a publish. */
export type Published =
  | { readonly seq: number; readonly duplicate?: true }
  | { readonly code: number; readonly description: string }

/** A pull consumer that acknowledges nothing. */
export interface Consumer {
  readonly name: string
  readonly filter: string
  readonly client: object
  /** Matching messages that it has yet to deliver. */
  readonly backlog: Stored[]
  delivered: number
  request: PullRequest | undefined
}

export interface PullRequest {
  readonly inbox: string
  left: number
  bytes: number
  readonly untilMs: number
}

const DUPLICATES_MS = 20_000

export class Stream {
  config: StreamConfig
  readonly consumers = new Map<string, Consumer>()
  readonly #time: VirtualTime
  #messages = new Map<number, Stored>()
  readonly #lastOf = new Map<string, Stored>()
  /** By subject, what a replica that lags behind still has as the last one. */
  readonly #beforeLast = new Map<string, Stored>()
  readonly #ids = new Map<string, { readonly seq: number; readonly atMs: number }>()
  #last = 0
  #bytes = 0

  constructor(config: StreamConfig, time: VirtualTime) {
    this.config = config
    this.#time = time
  }

  get last(): number {
    return this.#last
  }

  get bytes(): number {
    return this.#bytes
  }

  get first(): number {
    return this.#messages.keys().next().value ?? this.#last + 1
  }

  get size(): number {
    return this.#messages.size
  }

  /** Stores a message unless its conditions forbid it. */
  publish(
    subject: string,
    data: Uint8Array,
    headers: Readonly<Record<string, string>>,
    nowMs: number,
  ): Published | Stored {
    const id = headers['Nats-Msg-Id']
    const known = id === undefined ? undefined : this.#ids.get(id)
    if (known !== undefined && this.#time.now - known.atMs < DUPLICATES_MS) {
      return { seq: known.seq, duplicate: true }
    }
    const expected = headers['Nats-Expected-Last-Subject-Sequence']
    const last = this.#lastOf.get(subject)
    if (expected !== undefined && Number(expected) !== (last?.seq ?? 0)) {
      return { code: 10_071, description: `wrong last sequence: ${last?.seq ?? 0}` }
    }
    const { max_bytes: bytesMax = -1 } = this.config
    if (bytesMax > 0 && this.#bytes + data.length > bytesMax) {
      return { code: 10_077, description: 'maximum bytes exceeded' }
    }
    this.#last += 1
    const stored = { seq: this.#last, subject, data, headers, atMs: nowMs }
    this.#messages.set(stored.seq, stored)
    if (last !== undefined) this.#beforeLast.set(subject, last)
    this.#lastOf.set(subject, stored)
    this.#bytes += data.length
    if (id !== undefined) this.#ids.set(id, { seq: stored.seq, atMs: this.#time.now })
    return stored
  }

  at(seq: number): Stored | undefined {
    return this.#messages.get(seq)
  }

  /** The last message of a subject, as it was so many milliseconds ago. */
  lastBySubject(filter: string, agoMs = 0): Stored | undefined {
    let found: Stored | undefined
    for (const last of this.#lastOf.values()) {
      const stored = this.isOlder(last, agoMs) ? last : this.#beforeLast.get(last.subject)
      if (stored === undefined || !matches(filter, stored.subject)) continue
      if (stored.seq > (found?.seq ?? 0)) found = stored
    }
    return found
  }

  isOlder({ atMs }: Stored, thanMs: number): boolean {
    return atMs <= this.#time.now - thanMs
  }

  nextBySubject(filter: string, seq: number): Stored | undefined {
    for (let at = Math.max(seq, this.first); at <= this.#last; at += 1) {
      const stored = this.#messages.get(at)
      if (stored !== undefined && matches(filter, stored.subject)) return stored
    }
    return undefined
  }

  /** What a new consumer has to deliver. */
  backlog(filter: string, from: number): Stored[] {
    return [...this.#messages.values()].filter(
      ({ seq, subject }) => seq >= from && matches(filter, subject),
    )
  }

  purge(filter: string, before: number): number {
    let purged = 0
    for (const { seq, subject } of this.#messages.values()) {
      if (seq >= before) break
      if (!matches(filter, subject)) continue
      this.#remove(seq)
      purged += 1
    }
    return purged
  }

  /** A message that is gone is not delivered any more. */
  holds({ seq }: Stored): boolean {
    return this.#messages.has(seq)
  }

  #remove(seq: number): void {
    const stored = this.#messages.get(seq)
    if (stored === undefined) return
    this.#messages.delete(seq)
    this.#bytes -= stored.data.length
    if (this.#lastOf.get(stored.subject) === stored) this.#lastOf.delete(stored.subject)
  }
}

/** True when a subject fits a filter with `*` for one token and `>` for the rest. */
export function matches(filter: string, subject: string): boolean {
  if (filter === subject) return true
  const star = filter.indexOf('*')
  if (star < 0) return filter.endsWith('>') && subject.startsWith(filter.slice(0, -1))
  if (!subject.startsWith(filter.slice(0, star))) return false
  if (star === filter.length - 1) return !subject.includes('.', star)
  const wanted = filter.split('.')
  const tokens = subject.split('.')
  return (
    wanted.length === tokens.length &&
    wanted.every((token, at) => token === '*' || token === tokens[at])
  )
}
