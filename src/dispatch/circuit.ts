// Stops sending to a provider that does not answer, and probes it with one push at a time.
//
//   closed ── failures in a row, or refused credentials ──▶ open ── time ──▶ probing
//      ▲                                                      ▲                 │
//      └───────────────── an answer ──────────────────────────┼── refused ◀────┤
//                                                                               ▼ an answer

import type { Timers } from '#domain/ports'
import { doubledMs } from '#domain/bounds/backoff'

const FAILURES_MAX = 10
const OPEN = { firstMs: 1_000, maxMs: 30_000 }

/** The health of a provider, as the outcome of one push shows it. */
export type Health = 'healthy' | 'failing' | 'refusing-credentials'

interface CircuitPorts {
  readonly timers: Timers
  /** Returns a number from 0 to below 1. */
  readonly random: () => number
  /** Limits the number of pushes in flight. */
  readonly allow: (atOnce: number) => void
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

  /** The reason why the provider refuses the credentials; undefined while it accepts them. */
  get credentialsReason(): string | undefined {
    return this.#credentialsReason
  }

  /** Notes what the outcome of a push shows. `reason`: the provider's reason for a refusal. */
  observe(health: Health, reason = ''): void {
    if (health === 'healthy') return this.#close()
    if (health === 'refusing-credentials') this.#credentialsReason = reason
    this.#failures += 1
    const isEnough = health === 'refusing-credentials' || this.#failures >= FAILURES_MAX
    if (this.#state === 'probing' || (this.#state === 'closed' && isEnough)) this.#open()
    return undefined
  }

  /** Probes the provider at once with its new credentials. */
  credentialsChanged(): void {
    if (this.#state === 'open') this.#probe()
  }

  stop(): void {
    this.#cancel()
  }

  #open(): void {
    this.#state = 'open'
    this.#ports.allow(0)
    const delayMs = doubledMs(OPEN, this.#openings)
    this.#openings += 1
    this.#cancel = this.#ports.timers.after(delayMs * (1 + this.#ports.random() / 2), () =>
      this.#probe(),
    )
  }

  #probe(): void {
    this.#cancel()
    this.#state = 'probing'
    this.#ports.allow(1)
  }

  #close(): void {
    this.#failures = 0
    if (this.#state === 'closed') return
    // An answer to an earlier push closes the circuit, too.
    this.#cancel()
    this.#state = 'closed'
    this.#openings = 0
    this.#credentialsReason = undefined
    this.#ports.allow(Number.POSITIVE_INFINITY)
  }
}
