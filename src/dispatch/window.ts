// The pushes that this process holds, and the times until which it may send them.
//
// Invariants:
//   window/1. A push whose claim has run out is not sent: another worker may have it. The time of a
//             claim counts from before it was asked for.

import type { Push, PushStore } from '#domain/push'
import type { Logger } from '#domain/telemetry'

/** Milliseconds for which a claim lasts, and between its renewals. */
export const CLAIM_MS = 30_000
export const RENEW_EVERY_MS = 10_000
/**
 * Milliseconds before the end of a claim in which its push is no longer sent: the answer takes
 * time.
 */
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
  /** The ends of claims by job id, in monotonic milliseconds. */
  readonly #held = new Map<number, number>()

  constructor(ports: WindowPorts) {
    this.#ports = ports
  }

  get size(): number {
    return this.#held.size
  }

  /** Takes claimed pushes in; gives the new ones. */
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

  /** Renews the claims of all held pushes. */
  async renew(): Promise<void> {
    const { store, worker, nowMs, monotonicMs, logger } = this.#ports
    const ids = [...this.#held.keys()]
    if (ids.length === 0) return
    const atMs = monotonicMs()
    try {
      await store.renew(worker, ids, nowMs() + CLAIM_MS)
      for (const id of ids) if (this.#held.has(id)) this.#held.set(id, atMs + CLAIM_MS)
    } catch (error) {
      logger.warn('push claims could not be renewed', { error: String(error) })
    }
  }

  /** Gives back the pushes that are still held. */
  async release(): Promise<void> {
    const { store, worker, nowMs, logger } = this.#ports
    const ids = [...this.#held.keys()]
    this.#held.clear()
    try {
      if (ids.length > 0) await store.release(worker, ids, nowMs())
    } catch (error) {
      // The jobs are due again by themselves when the claims end.
      logger.warn('push claims could not be given back', { error: String(error) })
    }
  }
}
