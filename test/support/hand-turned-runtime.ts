// A whole gateway's time and random numbers under the control of a test: time passes only when the
// test turns it, and the numbers are the same in every run.

import type { Runtime } from '#domain/runtime'
import { derivedFrom } from '#test/support/derived-runtime'
import type { Derived } from '#test/support/derived-runtime'
import { FakeTime } from '#test/support/fake-timers'
import { seeded } from '#test/support/random'
import { turn } from '#test/support/until'
import { WAIT_MS } from './bounds.ts'

const ROUNDS_MAX = 100_000
/** Files, and modules that load, take real time: a busy machine makes no test fail. */

export class HandTurnedRuntime extends FakeTime implements Runtime {
  readonly random: (below: number) => number
  readonly every: Derived['every']
  readonly wait: Derived['wait']
  readonly entropy: Derived['entropy']
  #tasks: (() => void)[] = []

  constructor(now: number, seed = 1) {
    super(now)
    this.random = seeded(seed)
    const { every, wait, entropy } = derivedFrom(this)
    this.every = every
    this.wait = wait
    this.entropy = entropy
  }

  readonly soon = (task: () => void): void => void this.#tasks.push(task)

  /** Runs everything that can run without time passing. */
  async settle(): Promise<void> {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      await turn() // Promises that are kept go on before this resolves.
      if (this.#tasks.length === 0) return
      for (const task of this.#tasks.splice(0)) task()
    }
    throw new Error('tasks made tasks without end')
  }

  /** Runs until a promise is kept, without time passing. For work that waits for files as well. */
  async until<Value>(promise: Promise<Value>): Promise<Value> {
    const pending = new Set([promise])
    const settled = (): void => void pending.delete(promise)
    promise.then(settled, settled)
    const until = performance.now() + WAIT_MS
    while (performance.now() < until) {
      await this.settle()
      if (pending.size === 0) return promise
    }
    throw new Error('waited in vain: time has to pass')
  }

  /** Lets time pass: at each moment at which a timer is due, everything runs that can. */
  async pass(byMs: number): Promise<void> {
    await this.settle()
    const untilMs = this.monotonicMs() + byMs
    while (this.step(untilMs)) await this.settle()
  }
}
