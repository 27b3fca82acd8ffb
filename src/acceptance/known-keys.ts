// Looks keys up by their hashes: once on each node, then from memory.
//
// Invariants:
//   known-keys/1. A key is kept by its SHA-256 alone, so a look-up costs every caller the same.
//   known-keys/2. When notices may have been lost nothing stays: every key is read again before its
//                 next use.
//   known-keys/3. Keys that are asked for at once share one read, however many callers ask.

import { hash } from 'node:crypto'
import type { ChannelKeyStore, StoredKey } from '#domain/channel-keys'
import { KeptAnswers } from './kept-answers.ts'
import type { Found, Subject } from './kept-answers.ts'

interface KnownKeyPorts {
  readonly channelKeys: Pick<ChannelKeyStore, 'find'>
  readonly monotonicMs: () => number
}

/** Undefined for a text that is no key of any channel; server_busy when too many wait. */
export type FoundKey = Found<StoredKey>

/** Some 100,000 keys. With more in use every request could cost a look-up. */
export const KNOWN_BYTES_MAX = 64 * 2 ** 20
/** A key takes at most so many bytes of memory, and its label more. */
const KEY_BYTES = 640
const ASKED_MAX = 50_000
/** Keys of one read, which the store splits into statements. */
const READ_MAX = 1_024
const PAUSE_MS = 5_000

type Wanted = PromiseWithResolvers<StoredKey | undefined>

/** SHA-256 of a key, in hex. */
export const keyHashOf = (key: string): string => hash('sha256', key, 'hex')

/** The channel of a key is not known before it is found. */
const QUESTION = {}

export class KnownKeys {
  readonly #channelKeys: KnownKeyPorts['channelKeys']
  readonly #answers: KeptAnswers<StoredKey, Partial<Subject>>
  /** Hashes for the next read. */
  readonly #wanted = new Map<string, Wanted>()
  #isReading = false

  constructor({ channelKeys, monotonicMs }: KnownKeyPorts) {
    this.#channelKeys = channelKeys
    this.#answers = new KeptAnswers({
      read: (keyHash) => this.#read(keyHash),
      bytesOf: ({ label }) => KEY_BYTES + 2 * label.length,
      bytesMax: KNOWN_BYTES_MAX,
      askedMax: ASKED_MAX,
      pauseMs: PAUSE_MS,
      monotonicMs,
    })
  }

  /** The key behind a text. No promise when it is known, as it is for nearly every submission. */
  find(text: string): FoundKey | Promise<FoundKey> {
    return this.#answers.find(keyHashOf(text), QUESTION) // known-keys/1
  }

  /**
   * The key of a hash, compared with the store within the last minute unless that is away; rejects
   * when it is away and the key is not known.
   */
  confirmed(keyHash: string): FoundKey | Promise<FoundKey> {
    const answers = this.#answers
    const recent = answers.recent(keyHash)
    return recent !== undefined || answers.isAbsent(keyHash)
      ? recent
      : answers.ask(keyHash, QUESTION)
  }

  /** Forgets a key, or all keys of a channel. */
  forget(changed: Subject): void {
    this.#answers.forget(changed)
  }

  /** Forgets every key. (known-keys/2) */
  forgetAll(): void {
    this.#answers.forgetAll()
  }

  /** The keys in memory. */
  size(): number {
    return this.#answers.size
  }

  /** An estimate of the bytes that they take. */
  bytes(): number {
    return this.#answers.bytes
  }

  /** The keys that callers wait for. */
  waiting(): number {
    return this.#answers.asked
  }

  #read(keyHash: string): Promise<StoredKey | undefined> {
    const wanted: Wanted = Promise.withResolvers()
    this.#wanted.set(keyHash, wanted)
    if (!this.#isReading) {
      this.#isReading = true
      // Callers of this moment are gathered first. (known-keys/3)
      void Promise.resolve().then(() => this.#readAll())
    }
    return wanted.promise
  }

  async #readAll(): Promise<void> {
    while (this.#wanted.size > 0) {
      const batch = [...this.#wanted].slice(0, READ_MAX)
      for (const [keyHash] of batch) this.#wanted.delete(keyHash)
      try {
        const found = await this.#channelKeys.find(batch.map(([keyHash]) => keyHash))
        const byHash = new Map(found.map((key) => [key.keyHash, key]))
        for (const [keyHash, { resolve }] of batch) resolve(byHash.get(keyHash))
      } catch (error) {
        for (const [, { reject }] of batch) reject(error)
      }
    }
    this.#isReading = false
  }
}
