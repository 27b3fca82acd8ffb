// Processes that join and merge at once what gateways would join when it is ten minutes old. Each
// is killed, most of them in the middle.

import { seeded } from '#test/support/random'
import { FakeMeter } from '#test/support/fake-telemetry'
import { DUE_MS, joinOld, mergeAll } from '#test/support/tiers'
import { openStore } from '#src/store/store'
import { between, gapMs, happens } from './chance.ts'
import type { Chance } from './chance.ts'
import type { Database } from './database.ts'
import type { Owner, VirtualTime } from './virtual-time.ts'
import { VirtualRuntime } from './virtual-runtime.ts'

interface JoinerParts {
  readonly seed: number
  readonly time: VirtualTime
  readonly database: Database
  readonly isShared: boolean
}

/** The most of them in a second. */
const PER_SECOND_MAX = 1
/** Milliseconds by which one has ended. */
const LIFE_MS_MAX = 400

export class Joiner {
  readonly #parts: JoinerParts
  readonly #chance: Chance
  #owner: Owner | undefined

  constructor(parts: JoinerParts) {
    this.#parts = parts
    // Its own: other draws are the same with it and without.
    this.#chance = seeded(parts.seed ^ 0x701e)
  }

  /** Begins one after the other until it is over; in some worlds none. */
  repeat(isOver: () => boolean): void {
    const chance = this.#chance
    if (happens(chance, 0.4)) return
    const perSecond = (PER_SECOND_MAX * (chance(1_000) + 1)) / 1_000
    const next = (): void => {
      if (isOver()) return
      this.#begin()
      this.#parts.time.after(gapMs(chance, perSecond), next)
    }
    this.#parts.time.after(gapMs(chance, perSecond), next)
  }

  /** Ends the one that runs, in the middle of its work. */
  kill(): void {
    if (this.#owner === undefined) return
    this.#owner.state = 'dead'
    this.#parts.database.forget(this.#owner)
    this.#owner = undefined
  }

  #begin(): void {
    this.kill()
    const { time } = this.#parts
    const clock = { rate: 1, setByMs: 0, stoodAtMs: undefined }
    const runtime = new VirtualRuntime(time, clock, this.#chance(2 ** 31))
    const { owner } = runtime
    this.#owner = owner
    void this.#work(runtime).catch(() => undefined) // The database is away.
    time.after(between(this.#chance, 1, LIFE_MS_MAX), () => {
      if (this.#owner === owner) this.kill()
    })
  }

  async #work(runtime: VirtualRuntime): Promise<void> {
    const { database, isShared } = this.#parts
    const opener = database.openerFor(runtime.owner, { isShared })
    const store = await openStore({ url: '', opener, meter: new FakeMeter(), runtime })
    await joinOld(store)
    await mergeAll(store, DUE_MS)
  }
}
