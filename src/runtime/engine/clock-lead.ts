// Tells when the wall clock has run ahead of the monotonic one: somebody set it, rightly or not.

import type { Runtime } from '#domain/runtime'

/** Milliseconds by which the clocks may drift apart between two questions. */
const DRIFT_MAX_MS = 60_000
/**
 * Milliseconds for which a clock that was set forward is not trusted. Meanwhile whatever is in use
 * is seen at the new time, and a wrong clock can be set back.
 */
const TRUSTED_AFTER_MS = 2 * 24 * 3_600_000

export class ClockLead {
  readonly #runtime: Pick<Runtime, 'nowMs' | 'monotonicMs'>
  #trustedMs: number
  #ahead: { readonly leadMs: number; readonly sinceMs: number } | undefined

  constructor(runtime: Pick<Runtime, 'nowMs' | 'monotonicMs'>) {
    this.#runtime = runtime
    this.#trustedMs = runtime.nowMs() - runtime.monotonicMs()
  }

  /**
   * Returns true from the first question after the wall clock was set forward, until it is set
   * back, or has gone on as the monotonic clock for two days.
   */
  isAhead(): boolean {
    const { nowMs, monotonicMs } = this.#runtime
    const atMs = monotonicMs()
    const leadMs = nowMs() - atMs
    const isTrusted = leadMs - this.#trustedMs <= DRIFT_MAX_MS
    if (!isTrusted) {
      const isSame = Math.abs(leadMs - (this.#ahead?.leadMs ?? Infinity)) <= DRIFT_MAX_MS
      const sinceMs = isSame ? (this.#ahead?.sinceMs ?? atMs) : atMs
      this.#ahead = { leadMs, sinceMs }
      if (atMs - sinceMs < TRUSTED_AFTER_MS) return true
    }
    this.#trustedMs = leadMs
    this.#ahead = undefined
    return false
  }
}
