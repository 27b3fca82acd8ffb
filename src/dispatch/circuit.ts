// Stops sending to a provider that is away, and probes with one push whether it is back.
//
//   closed ── failures in a row, or refused credentials ──▶ open ── time ──▶ probing
//      ▲                                                      ▲                 │
//      └───────────────── an answer ──────────────────────────┼── refused ◀────┤
//                                                                               ▼ an answer

import type { Timers } from '#domain/ports'

const FAILURES_MAX = 10
const OPEN_MS_FIRST = 1_000
const OPEN_MS_MOST = 30_000

/** The meaning of an outcome for the provider as a whole. */
export type Sign = 'well' | 'failing' | 'credentials'

export interface CircuitPorts {
  readonly timers: Timers
  /** From 0 to below 1. */
  readonly random: () => number
  /** Sets the number of pushes that may be under way. */
  readonly pass: (atOnce: number) => void
}

export class Circuit {
  readonly #ports: CircuitPorts
  #failures = 0
  #openings = 0
  #state: 'closed' | 'open' | 'probing' = 'closed'
  #credentialsReason: string | undefined
  #cancel = (): void => {}

  constructor(ports: CircuitPorts) {
    this.#ports = ports
  }

  get isClosed(): boolean {
    return this.#state === 'closed'
  }

  /** The reason for which the provider refuses the credentials; undefined while it accepts them. */
  get credentialsReason(): string | undefined {
    return this.#credentialsReason
  }

  /** Takes the sign of a push. `reason` is the provider's word for a refusal. */
  observe(sign: Sign, reason = ''): void {
    if (sign === 'well') return this.#close()
    if (sign === 'credentials') this.#credentialsReason = reason
    this.#failures += 1
    const isEnough = sign === 'credentials' || this.#failures >= FAILURES_MAX
    if (this.#state === 'probing' || (this.#state === 'closed' && isEnough)) this.#open()
    return undefined
  }

  /** Says that the credentials changed: they are tried at once. */
  renewed(): void {
    if (this.#state === 'open') this.#probe()
  }

  stop(): void {
    this.#cancel()
  }

  #open(): void {
    this.#state = 'open'
    this.#ports.pass(0)
    const delayMs = Math.min(OPEN_MS_MOST, OPEN_MS_FIRST * 2 ** Math.min(this.#openings, 10))
    this.#openings += 1
    this.#cancel = this.#ports.timers.after(delayMs * (1 + this.#ports.random() / 2), () =>
      this.#probe(),
    )
  }

  #probe(): void {
    this.#cancel()
    this.#state = 'probing'
    this.#ports.pass(1)
  }

  #close(): void {
    this.#failures = 0
    if (this.#state === 'closed') return
    // An answer to an earlier push closes it as well.
    this.#cancel()
    this.#state = 'closed'
    this.#openings = 0
    this.#credentialsReason = undefined
    this.#ports.pass(Number.POSITIVE_INFINITY)
  }
}
