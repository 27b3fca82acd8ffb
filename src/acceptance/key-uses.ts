// Notes the UTC day on which a key was last used.
//
// Invariants:
//   key-uses/1. A key's day is written at most once on each node and day, together with those of
//               other keys, and no caller waits for it.
//   key-uses/2. What is remembered, and what waits to be written, is bounded.

import type { ChannelKeyStore, StoredKey } from '#domain/channel-keys'
import type { NowMs, Timers } from '#domain/ports'

interface KeyUsePorts {
  readonly channelKeys: Pick<ChannelKeyStore, 'used'>
  readonly nowMs: NowMs
  readonly timers: Timers
}

export const DAY_MS = 86_400_000
const WRITE_AFTER_MS = 10_000
/** Keys of one day that are remembered, of NOTED_BYTES each; others are written again. */
export const NOTED_MAX = 200_000
/** The hash of a key takes at most so many bytes in the set. */
const NOTED_BYTES = 160

export class KeyUses {
  readonly #ports: KeyUsePorts
  #day = 0
  /** Hashes of keys that were noted today. */
  #noted = new Set<string>()
  #unwritten: string[] = []
  #isTimed = false

  constructor(ports: KeyUsePorts) {
    this.#ports = ports
  }

  /** Notes that a key is used now. */
  note({ keyHash, lastUsedOn }: StoredKey): void {
    const day = Math.floor(this.#ports.nowMs() / DAY_MS)
    if (day !== this.#day) this.#begin(day)
    if (lastUsedOn >= day || this.#noted.has(keyHash)) return // key-uses/1
    if (this.#noted.size >= NOTED_MAX) {
      this.write() // key-uses/2: what waits is among what is noted.
      this.#noted.clear()
    }
    this.#noted.add(keyHash)
    this.#unwritten.push(keyHash)
    if (this.#isTimed) return
    this.#isTimed = true
    this.#ports.timers.after(WRITE_AFTER_MS, () => this.write())
  }

  /** An estimate of the bytes that the keys of this day take. */
  bytes(): number {
    return this.#noted.size * NOTED_BYTES
  }

  /** Writes the uses that wait. What the store cannot take is left out until the next day. */
  write(): void {
    this.#isTimed = false
    const hashes = this.#unwritten
    this.#unwritten = []
    if (hashes.length === 0) return
    this.#ports.channelKeys.used(hashes, this.#day).catch(() => undefined)
  }

  #begin(day: number): void {
    this.write()
    this.#day = day
    this.#noted = new Set()
  }
}
