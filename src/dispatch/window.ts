// The pushes that this process holds, and for how long it may send them.
//
// Invariants:
//   window/1. What a claim does not cover any more is not sent: another worker may have it. A claim
//             counts from before it was asked for.

import type { Push, PushStore } from '#domain/push'
import type { Logger } from '#domain/telemetry'

/** How long a claim lasts, and how often it is renewed meanwhile. */
export const CLAIM_MS = 30_000
export const RENEW_EVERY_MS = 10_000
/** Before a claim ends its push is not sent any more: an answer takes its time. */
const MARGIN_MS = 8_000

export interface WindowPorts {
  readonly store: Pick<PushStore, 'renew' | 'release'>
  readonly worker: string
  readonly nowMs: () => number
  readonly monotonicMs: () => number
  readonly logger: Logger
}

export class Window {
  readonly #ports: WindowPorts
  /** By id: when its claim ends, in monotonic milliseconds. */
  readonly #held = new Map<number, number>()

  constructor(ports: WindowPorts) {
    this.#ports = ports
  }

  get size(): number {
    return this.#held.size
  }

  /** Takes claimed pushes in; gives those that are new here. */
  take(pushes: readonly Push[], claimedAtMs: number): readonly Push[] {
    const fresh = pushes.filter(({ id }) => !this.#held.has(id))
    for (const { id } of pushes) this.#held.set(id, claimedAtMs + CLAIM_MS)
    return fresh
  }

  /** window/1 */
  maySend({ id }: Push): boolean {
    return this.#ports.monotonicMs() < (this.#held.get(id) ?? 0) - MARGIN_MS
  }

  drop(ids: readonly number[]): void {
    for (const id of ids) this.#held.delete(id)
  }

  /** Keeps the claims of everything that is held. */
  async renew(): Promise<void> {
    const { store, worker, nowMs, monotonicMs, logger } = this.#ports
    const ids = [...this.#held.keys()]
    if (ids.length === 0) return
    const atMs = monotonicMs()
    try {
      await store.renew(worker, ids, nowMs() + CLAIM_MS)
      for (const id of ids) if (this.#held.has(id)) this.#held.set(id, atMs + CLAIM_MS)
    } catch (error) {
      logger.warn('claims of pushes could not be renewed', { error: String(error) })
    }
  }

  /** Gives back what is still held. */
  async release(): Promise<void> {
    const { store, worker, nowMs, logger } = this.#ports
    const ids = [...this.#held.keys()]
    this.#held.clear()
    try {
      if (ids.length > 0) await store.release(worker, ids, nowMs())
    } catch (error) {
      // They come back by themselves when the claims end.
      logger.warn('claims of pushes could not be given back', { error: String(error) })
    }
  }
}
