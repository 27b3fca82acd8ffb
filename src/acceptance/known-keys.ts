// Looks keys up by their hashes: once on each node, then from memory.
//
// Invariants:
//   known-keys/1. A key is kept by its SHA-256 alone, so a look-up costs every caller the same.
//   known-keys/2. A notice of a key or of its channel's credentials removes it at once. What a read
//                 found while such a notice came is read again.
//   known-keys/3. When notices may have been lost nothing stays: every key is read again before its
//                 next use.
//   known-keys/4. Keys that are asked for at once share one read, however many callers ask; what is
//                 kept and what waits is bounded.
//   known-keys/5. A key that is kept for COMPARE_AFTER_MS is compared with the store beside its
//                 use, so that a notice that was never sent costs about a minute. Callers that go
//                 on without a use wait for that comparison.

import { hash } from 'node:crypto'
import { BoundedItems } from '#domain/bounds/bounded-items'
import type { ChannelKeyStore, StoredKey } from '#domain/channel-keys'
import { fault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'

export interface KnownKeyPorts {
  readonly channelKeys: Pick<ChannelKeyStore, 'find'>
  readonly monotonicMs: () => number
}

/** Undefined for a text that is no key of any channel; server_busy when too many wait. */
export type FoundKey = StoredKey | Fault | undefined

/** Some 100,000 keys. With more in use every request could cost a look-up. */
export const KNOWN_BYTES_MAX = 64 * 2 ** 20
/** A key takes at most so many bytes of memory, and its label more. */
const KEY_BYTES = 640
const UNKNOWN_MAX = 1_000
const UNKNOWN_FOR_MS = 10_000
const ASKED_MAX = 50_000
/** Keys of one read, which the store splits into statements. */
const READ_MAX = 1_024
const READS_MAX = 3
const COMPARE_AFTER_MS = 60_000

const BUSY = fault('server_busy', { retryAfterMs: 1_000 })

interface Known {
  readonly key: StoredKey
  /** The time of the next comparison with the store. */
  compareAt: number
}

interface KeyLookup {
  readonly answer: Promise<FoundKey>
  readonly resolve: (found: FoundKey) => void
  readonly reject: (error: unknown) => void
  reads: number
}

/** Names a key, or with its channel alone all keys of that. */
export interface ChangedKeys {
  readonly channelId: ChannelId
  readonly keyId?: string | undefined
}

/** SHA-256 of a key, in hex. */
export const keyHashOf = (key: string): string => hash('sha256', key, 'hex')

export class KnownKeys {
  readonly #ports: KnownKeyPorts
  readonly #known = new BoundedItems<Known>()
  /** The hashes of known keys by their ids. */
  readonly #hashes = new Map<string, string>()
  /** Hashes of no key, each with the end of its stay: no text becomes a key later. */
  readonly #unknown = new Map<string, number>()
  readonly #asked = new Map<string, KeyLookup>()
  /** Hashes for the next read: asked ones, and known ones to compare. */
  readonly #wanted = new Set<string>()
  #isReading = false
  /** Changes since the read under way began. (known-keys/2) */
  #changes: ChangedKeys[] = []
  /** True when notices may have been lost since then. (known-keys/3) */
  #isDoubtful = false

  constructor(ports: KnownKeyPorts) {
    this.#ports = ports
  }

  /** The key behind a text. No promise when it is known, as it is for nearly every submission. */
  find(text: string): FoundKey | Promise<FoundKey> {
    return this.ofHash(keyHashOf(text)) // known-keys/1
  }

  /** The same for a key's hash. */
  ofHash(keyHash: string): FoundKey | Promise<FoundKey> {
    const now = this.#ports.monotonicMs()
    const known = this.#known.use(keyHash)
    if (known === undefined) return this.#ask(keyHash, now)
    if (now >= known.compareAt) {
      known.compareAt = now + COMPARE_AFTER_MS
      this.#want(keyHash) // known-keys/5
    }
    return known.key
  }

  /** The same, no older than COMPARE_AFTER_MS; rejects when the store does not answer. */
  confirmed(keyHash: string): FoundKey | Promise<FoundKey> {
    const now = this.#ports.monotonicMs()
    const known = this.#known.use(keyHash)
    const isRecent = known !== undefined && now < known.compareAt
    return isRecent ? known.key : this.#ask(keyHash, now) // known-keys/5
  }

  #ask(keyHash: string, now: number): FoundKey | Promise<FoundKey> {
    if ((this.#unknown.get(keyHash) ?? 0) > now) return undefined
    const asked = this.#asked.get(keyHash)
    if (asked !== undefined) return asked.answer // known-keys/4
    if (this.#asked.size >= ASKED_MAX) return BUSY
    const { promise: answer, resolve, reject } = Promise.withResolvers<FoundKey>()
    this.#asked.set(keyHash, { answer, resolve, reject, reads: 0 })
    this.#want(keyHash)
    return answer
  }

  /** Forgets a key, or all keys of a channel. (known-keys/2) */
  forget(changed: ChangedKeys): void {
    if (this.#isReading) this.#changes.push(changed)
    if (changed.keyId !== undefined) {
      const keyHash = this.#hashes.get(changed.keyId)
      if (keyHash !== undefined) this.#drop(keyHash)
      return
    }
    for (const [keyHash, { key }] of this.#known.entries()) {
      if (key.channelId === changed.channelId) this.#drop(keyHash)
    }
  }

  /** Forgets every key. (known-keys/3) */
  forgetAll(): void {
    this.#isDoubtful = this.#isReading
    this.#known.clear()
    this.#hashes.clear()
  }

  /** The keys in memory. */
  size(): number {
    return this.#known.size
  }

  /** An estimate of the bytes that they take. */
  bytes(): number {
    return this.#known.bytes
  }

  /** The keys that callers wait for. */
  waiting(): number {
    return this.#asked.size
  }

  #want(keyHash: string): void {
    this.#wanted.add(keyHash)
    if (this.#isReading) return
    this.#isReading = true
    // Callers of this moment are gathered first. (known-keys/4)
    void Promise.resolve().then(() => this.#readAll())
  }

  async #readAll(): Promise<void> {
    while (this.#wanted.size > 0) {
      const hashes = [...this.#wanted].slice(0, READ_MAX)
      for (const keyHash of hashes) this.#wanted.delete(keyHash)
      this.#changes = []
      this.#isDoubtful = false
      try {
        const found = await this.#ports.channelKeys.find(hashes)
        const byHash = new Map(found.map((key) => [key.keyHash, key]))
        for (const keyHash of hashes) this.#take(keyHash, byHash.get(keyHash))
      } catch (error) {
        for (const keyHash of hashes) this.#settle(keyHash)?.reject(error)
      }
    }
    this.#isReading = false
  }

  /** Takes what a read found, unless it may be older than a notice. */
  #take(keyHash: string, key: StoredKey | undefined): void {
    if (key === undefined) {
      this.#drop(keyHash)
      this.#unknown.delete(keyHash)
      this.#unknown.set(keyHash, this.#ports.monotonicMs() + UNKNOWN_FOR_MS)
      dropOldest(this.#unknown, UNKNOWN_MAX)
      this.#settle(keyHash)?.resolve(undefined)
      return
    }
    const isStale = this.#isDoubtful || this.#changes.some((changed) => isAmong(key, changed))
    if (isStale) return this.#readAgain(keyHash)
    this.#keep(keyHash, key)
    this.#settle(keyHash)?.resolve(key)
  }

  #readAgain(keyHash: string): void {
    const asked = this.#asked.get(keyHash)
    if (asked === undefined) return // A comparison: the notice has removed the key.
    asked.reads += 1
    if (asked.reads < READS_MAX) this.#wanted.add(keyHash)
    else this.#settle(keyHash)?.resolve(BUSY)
  }

  #keep(keyHash: string, key: StoredKey): void {
    const compareAt = this.#ports.monotonicMs() + COMPARE_AFTER_MS
    this.#known.keep(keyHash, { key, compareAt }, KEY_BYTES + 2 * key.label.length)
    this.#hashes.set(key.keyId, keyHash)
    this.#known.keepWithin(KNOWN_BYTES_MAX, (oldest) => this.#drop(oldest)) // known-keys/4
  }

  #drop(keyHash: string): void {
    const known = this.#known.get(keyHash)
    if (known === undefined) return
    this.#known.delete(keyHash)
    this.#hashes.delete(known.key.keyId)
  }

  /** Ends the wait for a key; undefined when nobody waits. */
  #settle(keyHash: string): KeyLookup | undefined {
    const asked = this.#asked.get(keyHash)
    this.#asked.delete(keyHash)
    return asked
  }
}

const isAmong = (key: StoredKey, { channelId, keyId }: ChangedKeys): boolean =>
  key.channelId === channelId && (keyId === undefined || keyId === key.keyId)

function dropOldest(map: Map<string, unknown>, max: number): void {
  if (map.size <= max) return
  const oldest = map.keys().next()
  if (oldest.done !== true) map.delete(oldest.value)
}
