// Answers of the store about channels, kept in memory: known passwords (credentials.ts), keys
// (known-keys.ts) and mappings (known-mappings.ts).
//
// Invariants:
//   kept-answers/1. An answer is asked for once at a time: all who want it share it.
//   kept-answers/2. What a notice tells of is forgotten at once. An answer that was on its way then
//                   may be older: it is not kept, and asked for again. The same holds for every
//                   answer when notices may be lost.
//   kept-answers/3. A kept answer is compared with the store at its first use after
//                   COMPARE_AFTER_MS, and at its next one when notices may be lost, so that a lost
//                   notice costs about a minute.
//   kept-answers/4. What is kept and what is asked for is bounded. That there is no answer is kept
//                   apart: whoever asks for what is not pushes out nothing that is.
//   kept-answers/5. While the store does not answer, what is kept stays good, until the store tells
//                   otherwise. An answer that a notice removed is gone.

import { BoundedItems } from '#domain/bounds/bounded-items'
import { fault, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'

/** The channel, or the key of a channel, that an answer or a notice is about. */
export interface Subject {
  readonly channelId: ChannelId
  readonly keyId?: string | undefined
}

/** Undefined when the store has no answer; server_busy when nobody can tell now. */
export type Found<Value> = Value | Fault | undefined

interface KeptAnswersOptions<Value extends Subject, Question extends Partial<Subject>> {
  /** Asks the store. `kept` is the present answer, when there is one. */
  readonly read: (id: string, question: Question, kept: Value | undefined) => Promise<Found<Value>>
  /** Called when an answer is kept, or kept once more after a comparison. */
  readonly isKept?: (id: string, question: Question, value: Value) => void
  /** Bytes that an answer takes in memory. */
  readonly bytesOf: (value: Value) => number
  readonly bytesMax: number
  /** Answers that may be asked for at once; beyond them server_busy. */
  readonly askedMax: number
  /** Milliseconds after which a store that did not answer is asked again about what is kept. */
  readonly pauseMs: number
  /** Milliseconds that only grow: a clock set back must not keep an answer. (kept-answers/3) */
  readonly monotonicMs: () => number
}

const COMPARE_AFTER_MS = 60_000
/** A thousand questions without an answer, each for ten seconds. */
const ABSENT_BYTES_MAX = 320_000
const ABSENT_BYTES = 320
const ABSENT_FOR_MS = 10_000
/** Reads of an answer that changes all the time, before nobody can tell. */
const READS_MAX = 3
/** Changes that are remembered for answers on their way; beyond them all are read again. */
const CHANGES_MAX = 1_000

const BUSY = fault('server_busy', { retryAfterMs: 1_000 })

interface Kept<Value> {
  value: Value
  /** The time of the next comparison with the store. */
  compareAt: number
}

interface Absent {
  readonly channelId: ChannelId | undefined
  readonly until: number
}

export class KeptAnswers<Value extends Subject, Question extends Partial<Subject>> {
  readonly #options: KeptAnswersOptions<Value, Question>
  readonly #kept = new BoundedItems<Kept<Value>>()
  /** The ids of kept answers about single keys, by the ids of these. */
  readonly #ofKeys = new Map<string, string>()
  readonly #absent = new BoundedItems<Absent>()
  readonly #asked = new Map<string, Promise<Found<Value>>>()
  /** The last ones of #changeCount. */
  #changes: Subject[] = []
  #changeCount = 0

  constructor(options: KeptAnswersOptions<Value, Question>) {
    this.#options = options
  }

  /** The answers in memory. */
  get size(): number {
    return this.#kept.size
  }

  /** Questions that are known to have no answer. */
  get absent(): number {
    return this.#absent.size
  }

  /** An estimate of the bytes that both take. */
  get bytes(): number {
    return this.#kept.bytes + this.#absent.bytes
  }

  /** Answers that are asked for. */
  get asked(): number {
    return this.#asked.size
  }

  /** A kept answer, however old, without a use of it. */
  peek(id: string): Value | undefined {
    return this.#kept.get(id)?.value
  }

  /** A kept answer that need not be compared now. */
  recent(id: string): Value | undefined {
    const kept = this.#kept.get(id)
    if (kept === undefined || this.#options.monotonicMs() >= kept.compareAt) return undefined
    return this.#kept.use(id)?.value
  }

  /** True when the store had no answer a moment ago. */
  isAbsent(id: string): boolean {
    const absent = this.#absent.get(id)
    return absent !== undefined && this.#options.monotonicMs() < absent.until
  }

  /** The answer. Not a promise when it is known: it is compared beside its use. (kept-answers/3) */
  find(id: string, question: Question): Found<Value> | Promise<Found<Value>> {
    const kept = this.#kept.use(id)
    if (kept === undefined) return this.isAbsent(id) ? undefined : this.ask(id, question)
    if (this.#options.monotonicMs() >= kept.compareAt) {
      const compared = this.ask(id, question)
      if (compared instanceof Promise) compared.catch(() => undefined)
    }
    return kept.value
  }

  /** The answer as the store has it now; rejects when it does not answer and nothing is kept. */
  ask(id: string, question: Question): Found<Value> | Promise<Found<Value>> {
    const asked = this.#asked.get(id) // kept-answers/1
    if (asked !== undefined) return asked
    if (this.#asked.size >= this.#options.askedMax) return BUSY // kept-answers/4
    const answer = this.#answer(id, question)
    this.#asked.set(id, answer)
    return answer
  }

  async #answer(id: string, question: Question): Promise<Found<Value>> {
    try {
      for (let reads = 0; reads < READS_MAX; reads += 1) {
        const since = this.#changeCount
        const { found, afterMs } = await this.#read(id, question)
        const subject = found === undefined || isFault(found) ? question : found
        if (this.#isOlder(since, subject)) continue // kept-answers/2
        this.#keep(id, question, { found, afterMs })
        return found
      }
      return BUSY
    } finally {
      this.#asked.delete(id)
    }
  }

  async #read(id: string, question: Question) {
    const { read, pauseMs } = this.#options
    try {
      const found = await read(id, question, this.peek(id))
      return { found, afterMs: COMPARE_AFTER_MS }
    } catch (error) {
      const found = this.peek(id)
      if (found === undefined) throw error
      return { found, afterMs: pauseMs } // kept-answers/5
    }
  }

  #keep(
    id: string,
    question: Question,
    { found, afterMs }: { readonly found: Found<Value>; readonly afterMs: number },
  ): void {
    const { monotonicMs, bytesOf, bytesMax, isKept } = this.#options
    const now = monotonicMs()
    this.#drop(id)
    this.#absent.delete(id)
    if (isFault(found)) return
    if (found === undefined) {
      const { channelId } = question
      this.#absent.keep(id, { channelId, until: now + ABSENT_FOR_MS }, ABSENT_BYTES)
      this.#absent.keepWithin(ABSENT_BYTES_MAX) // kept-answers/4
      return
    }
    this.#kept.keep(id, { value: found, compareAt: now + afterMs }, bytesOf(found))
    if (found.keyId !== undefined) this.#ofKeys.set(found.keyId, id)
    this.#kept.keepWithin(bytesMax, (oldest) => this.#drop(oldest)) // kept-answers/4
    isKept?.(id, question, found)
  }

  /** Puts another value of the same bytes in the place of a kept one. */
  replace(id: string, value: Value): void {
    const kept = this.#kept.get(id)
    if (kept !== undefined) kept.value = value
  }

  /** Forgets what a notice tells of. (kept-answers/2) */
  forget(changed: Subject): void {
    this.note(changed)
    const { channelId, keyId } = changed
    const ids = keyId === undefined ? this.#kept.keys() : [this.#ofKeys.get(keyId) ?? '']
    for (const id of ids) {
      const value = this.peek(id)
      if (value !== undefined && isAbout(value, changed)) this.#drop(id)
    }
    for (const [id, absent] of this.#absent.entries()) {
      if (absent.channelId === channelId) this.#absent.delete(id)
    }
  }

  /** Has answers on their way that a notice tells of read again. (kept-answers/2) */
  note(changed: Subject): void {
    this.#changeCount += 1
    this.#changes.push(changed)
    if (this.#changes.length > CHANGES_MAX) this.#changes.shift()
  }

  /** Compares every answer with the store before or beside its next use. (kept-answers/3) */
  recheck(): void {
    this.#doubt()
    for (const [, kept] of this.#kept.entries()) kept.compareAt = 0
  }

  /** Forgets every answer. */
  forgetAll(): void {
    this.#doubt()
    this.#kept.clear()
    this.#ofKeys.clear()
  }

  /** Trusts nothing that is on its way: nobody knows what has changed. (kept-answers/2) */
  #doubt(): void {
    this.#changeCount += 1
    this.#changes = []
    this.#absent.clear()
  }

  /** True when an answer that was asked for at that count may be older than a change. */
  #isOlder(since: number, subject: Partial<Subject>): boolean {
    const count = this.#changeCount - since
    if (count > this.#changes.length) return true
    return count > 0 && this.#changes.slice(-count).some((changed) => isAbout(subject, changed))
  }

  #drop(id: string): void {
    const value = this.peek(id)
    if (value?.keyId !== undefined) this.#ofKeys.delete(value.keyId)
    this.#kept.delete(id)
  }
}

const isAbout = (subject: Partial<Subject>, { channelId, keyId }: Subject): boolean =>
  subject.channelId === channelId && (keyId === undefined || keyId === subject.keyId)
