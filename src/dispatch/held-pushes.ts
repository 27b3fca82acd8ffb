// Tracks the pushes that this process has claimed, and the ends of their claims.
//
// Invariants:
//   held-pushes/1. This process does not send a push whose claim has run out: another worker may
//     have it. The time of a claim counts from before the request for it. A renewal counts only if
//     its answer came before the end of the claim.

import type { Push, PushStore } from '#domain/push'
import type { Logger } from '#domain/telemetry'

/** The duration of a claim, and the interval of its renewals. */
export const CLAIM_MS = 30_000
export const RENEW_EVERY_MS = 10_000
/** Milliseconds before the end of a claim from which its push is not sent: an answer takes time. */
const MARGIN_MS = 8_000

interface HeldPushesPorts {
  readonly store: Pick<PushStore, 'renew' | 'release'>
  readonly worker: string
  readonly nowMs: () => number
  readonly monotonicMs: () => number
  readonly logger: Logger
}

export class HeldPushes {
  readonly #ports: HeldPushesPorts
  /** The ends of claims by job id, in monotonic milliseconds. */
  readonly #held = new Map<number, number>()

  constructor(ports: HeldPushesPorts) {
    this.#ports = ports
  }

  get size(): number {
    return this.#held.size
  }

  /** Adds claimed pushes; gives those that this process did not hold yet. */
  add(pushes: readonly Push[], claimedAtMs: number): readonly Push[] {
    const fresh = pushes.filter(({ id }) => !this.#held.has(id))
    for (const { id } of pushes) this.#held.set(id, claimedAtMs + CLAIM_MS)
    return fresh
  }

  maySend({ id }: Push): boolean {
    return this.#isClaimed(id, this.#ports.monotonicMs() + MARGIN_MS)
  }

  drop(ids: readonly number[]): void {
    for (const id of ids) this.#held.delete(id)
  }

  /** Renews the claims of the held pushes, except those that have run out. */
  async renew(): Promise<void> {
    const { store, worker, nowMs, monotonicMs, logger } = this.#ports
    const atMs = monotonicMs()
    const ids = [...this.#held.keys()].filter((id) => this.#isClaimed(id, atMs))
    if (ids.length === 0) return
    try {
      await store.renew(worker, ids, nowMs() + CLAIM_MS)
      const answeredMs = monotonicMs()
      for (const id of ids) {
        if (this.#isClaimed(id, answeredMs)) this.#held.set(id, atMs + CLAIM_MS)
      }
    } catch (error) {
      logger.warn('could not renew push claims', { error: String(error) })
    }
  }

  /** Releases the claims that this process still holds. */
  async release(): Promise<void> {
    const { store, worker, nowMs, logger } = this.#ports
    const ids = [...this.#held.keys()]
    this.#held.clear()
    try {
      if (ids.length > 0) await store.release(worker, ids, nowMs())
    } catch (error) {
      // The jobs are due again when the claims end.
      logger.warn('could not release push claims', { error: String(error) })
    }
  }

  /** held-pushes/1 */
  #isClaimed(id: number, atMs: number): boolean {
    return atMs < (this.#held.get(id) ?? 0)
  }
}
