// An actor system over fakes, whose parts a test can inspect.

import { ActorSystem } from '#actors/system'
import type { SystemOptions, SystemPorts } from '#actors/options'
import type { Announcement } from '#domain/feed'
import type { Appended, Lease } from '#domain/lane'
import type { LaneLeases, LogReader } from '#domain/ports'
import type { TurnStore } from '#domain/store-ports'
import { FakeBus } from '#test/support/fake-bus'
import { FakeLogger, FakeMeter } from '#test/support/fake-telemetry'
import { derived } from '#test/support/rules'
import { turn } from '#test/support/until'

export class FakeLeases implements LaneLeases {
  readonly refused: Lease[] = []
  #held: readonly Lease[]
  #changed: ((leases: readonly Lease[]) => void | Promise<void>) | undefined

  constructor(held: readonly Lease[]) {
    this.#held = held
  }

  watch(changed: (leases: readonly Lease[]) => void | Promise<void>): Promise<() => Promise<void>> {
    this.#changed = changed
    void changed(this.#held)
    return Promise.resolve(() => {
      this.#changed = undefined
      return Promise.resolve()
    })
  }

  fenced(lease: Lease): void {
    this.refused.push(lease)
  }

  /** Resolves once lanes that are missing from the list may go to another process. */
  async hold(leases: readonly Lease[]): Promise<void> {
    this.#held = leases
    await this.#changed?.(leases)
  }
}

export class RecordingBus extends FakeBus {
  readonly announced: Announcement[] = []

  override announce(announcements: readonly Announcement[]): void {
    this.announced.push(...announcements)
    super.announce(announcements)
  }
}

const UNAVAILABLE: Appended = { kind: 'refused', reason: 'unavailable', retryAfterMs: 0 }

export const SYSTEM_OPTIONS: SystemOptions = {
  endedLifeMs: 1000,
  rememberedBytesMax: 100_000,
  liveMax: 100,
  cachedBytesMax: 1_000_000,
  idleMs: 60_000,
  turnMax: 512,
  recordsUpdates: true,
  logKeepMs: 3000,
  derive: derived,
}

export interface Over {
  readonly store: TurnStore
  readonly log: LogReader
  readonly leases: readonly Lease[]
  readonly options?: Partial<SystemOptions>
  /** Appends ticks; absent for a log that takes none. */
  readonly appendTick?: SystemPorts['appendTick']
  /** Waits for the test; absent for one pass of the event loop. */
  readonly waiting?: () => Promise<void>
}

export function systemOver(over: Over) {
  const { store, log, leases: held, options = {}, waiting = turn, appendTick } = over
  const bus = new RecordingBus()
  const meter = new FakeMeter()
  const logger = new FakeLogger()
  const leases = new FakeLeases(held)
  const waits: number[] = []
  const clock = { now: 10_000 }
  const mismatches: string[] = []
  /** Puts a task off; a test may replace it. */
  const putOff = { soon: (task: () => void): void => void setImmediate(task) }
  const onMismatch = (reason: string): void => void mismatches.push(reason)
  const wait = (delayMs: number): Promise<void> => {
    waits.push(delayMs)
    return waiting()
  }
  const system = new ActorSystem(
    {
      store,
      log,
      leases,
      bus,
      meter,
      logger,
      nowMs: () => clock.now,
      wait,
      soon: (task) => putOff.soon(task),
      appendTick: appendTick ?? (() => Promise.resolve(UNAVAILABLE)),
      onMismatch,
    },
    { ...SYSTEM_OPTIONS, ...options },
  )
  return { system, bus, meter, logger, leases, waits, clock, mismatches, putOff }
}
