// The clocks, timers and random numbers of one simulated process.

import type { Runtime } from '#domain/runtime'
import { derivedFrom } from '#test/support/derived-runtime'
import type { Derived } from '#test/support/derived-runtime'
import { seeded } from '#test/support/random'
import type { Owner, VirtualTime } from './virtual-time.ts'

/** Where the clock on the wall begins. */
export const EPOCH_MS = 1_790_000_000_000

/** How the clocks of a machine differ from the time of the world. */
export interface Clock {
  /** Milliseconds of this clock in one of the world; 1 for a right one. */
  readonly rate: number
  /** Milliseconds by which somebody has set the wall clock forward; may change, may be negative. */
  setByMs: number
  /** The time of the world at which the wall clock stands still; undefined while it goes. */
  stoodAtMs: number | undefined
}

export class VirtualRuntime implements Runtime {
  readonly owner: Owner = { state: 'running', held: [] }
  readonly random: (below: number) => number
  readonly every: Derived['every']
  readonly wait: Derived['wait']
  readonly entropy: Derived['entropy']
  readonly #time: VirtualTime
  readonly #clock: Clock

  constructor(time: VirtualTime, clock: Clock, seed: number) {
    this.#time = time
    this.#clock = clock
    this.random = seeded(seed)
    const { every, wait, entropy } = derivedFrom(this)
    this.every = every
    this.wait = wait
    this.entropy = entropy
  }

  readonly nowMs = (): number =>
    EPOCH_MS + Math.floor(this.#wallMs()) + Math.floor(this.#clock.setByMs)

  #wallMs(): number {
    const { stoodAtMs, rate } = this.#clock
    return (stoodAtMs ?? this.#time.now) * rate
  }

  readonly monotonicMs = (): number => this.#time.now * this.#clock.rate

  readonly after = (delayMs: number, callback: () => void): (() => void) => {
    const event = this.#time.after(delayMs / this.#clock.rate, callback, this.owner)
    return () => {
      event.run = undefined
    }
  }

  readonly soon = (task: () => void): void => void this.#time.after(0, task, this.owner)
}
