// Nodes that share lanes in memory, on time that a test turns.

import type { ExecutionContext } from 'ava'

import type { Lease } from '#domain/lane'
import { SharedLeases } from '#src/stream/leases/leases'
import { FakeBus } from '#test/support/fake-bus'
import { FakeLogger, FakeMeter } from '#test/support/fake-telemetry'
import { HandTurnedRuntime } from '#test/support/hand-turned-runtime'
import { MemoryLeaseTable } from '#test/support/memory-lease-table'
import type { LeaseCall, LeaseFate } from '#test/support/memory-lease-table'

export const LANES = 16
/** A node whose database is silent leaves within this time. */
export const LEAVE_MS_MAX = 2_000

/** Nodes that share lanes, on time that the test turns. */
export class Meeting {
  readonly runtime = new HandTurnedRuntime(0)
  readonly table = new MemoryLeaseTable(LANES, this.runtime.monotonicMs)
  /** Notices that are lost reach nobody. */
  bus = new FakeBus()

  async join(t: ExecutionContext, name: string, stopped?: Promise<void>): Promise<Member> {
    const member = new Member(this, name, stopped)
    await member.start()
    t.teardown(async () => {
      const left = member.leave()
      await this.pass(LEAVE_MS_MAX)
      await left
    })
    return member
  }

  pass(ms: number): Promise<void> {
    return this.runtime.pass(ms)
  }
}

export class Member {
  /** Every list it was told of. */
  readonly told: (readonly Lease[])[] = []
  readonly logger = new FakeLogger()
  readonly leases: SharedLeases
  /** What becomes of its calls. */
  fateOf: (call: LeaseCall) => LeaseFate = () => 'well'
  hasLog = true
  readonly #meeting: Meeting
  readonly #stopped: Promise<void> | undefined
  #leave: (() => Promise<void>) | undefined
  #leaving: Promise<void> | undefined

  constructor(meeting: Meeting, name: string, stopped: Promise<void> | undefined) {
    this.#meeting = meeting
    this.#stopped = stopped
    const { runtime, table, bus } = meeting
    const { monotonicMs, entropy } = runtime
    this.leases = new SharedLeases(
      {
        table: table.reachedBy((call) => this.fateOf(call)),
        bus,
        reachLog: () =>
          this.hasLog ? Promise.resolve() : Promise.reject(new Error('the log is away')),
        meter: new FakeMeter(),
        logger: this.logger,
        timers: runtime,
        monotonicMs,
        entropy,
      },
      name,
    )
  }

  async start(): Promise<void> {
    const watching = this.leases.watch((held) => {
      this.told.push(held)
      return this.#stopped
    })
    this.#leave = await this.#meeting.runtime.until(watching)
    await this.#meeting.runtime.settle()
  }

  get held(): readonly number[] {
    return (this.told.at(-1) ?? []).map(({ lane }) => lane)
  }

  /** As after a kill: nothing of it reaches the database any more. */
  kill(): void {
    this.fateOf = () => 'silent'
  }

  /** Resolves without time passing, as long as the database answers. */
  leave(): Promise<void> {
    this.#leaving ??= this.#leave?.() ?? Promise.resolve()
    return this.#leaving
  }

  facts(): readonly string[] {
    return this.logger.lines.map(({ fact }) => fact)
  }
}
