// A machine of the world: its clock, its network, and the process of the gateway on it, which a
// supervisor starts again whenever it ends.

import type { Logger } from '#domain/telemetry'
import type { Servers } from '#src/runtime/threads/servers'
import { between } from './chance.ts'
import type { Chance } from './chance.ts'
import type { Database } from './database.ts'
import { GatewayProcess } from './gateway-process.ts'
import { NatsClient } from './nats-client.ts'
import type { NatsServer } from './nats-server.ts'
import type { Observations } from './observations.ts'
import type { PushService } from './push-service.ts'
import { VirtualRuntime } from './virtual-runtime.ts'
import type { Clock } from './virtual-runtime.ts'
import type { VirtualTime } from './virtual-time.ts'

export interface MachineParts {
  readonly name: string
  readonly time: VirtualTime
  readonly chance: Chance
  readonly observations: Observations
  readonly logger: Logger
  readonly lanes: number
  readonly logKeepS: number
  readonly clock: Clock
  /** Milliseconds of the way to NATS or back. */
  readonly delayMs: () => number
  /** Absent for a sole process. */
  readonly nats: NatsServer | undefined
  /** Absent where nobody has a device that needs it. */
  readonly pushes: PushService | undefined
  readonly database: Database
  /** The database of a sole process's log. */
  readonly log: Database
}

export class Machine {
  readonly name: string
  /** The directions in which nothing passes to NATS. */
  readonly cut = { there: false, back: false }
  isCutFromDatabase = false
  process: GatewayProcess | undefined
  readonly #parts: MachineParts
  #starts = 0
  /** The counters that processes had which are gone. */
  readonly #counted = new Set<string>()

  constructor(parts: MachineParts) {
    this.#parts = parts
    this.name = parts.name
  }

  get clock(): Clock {
    return this.#parts.clock
  }

  /** True when a process on it has ever counted this. */
  hasCounted(counter: string): boolean {
    return this.#counted.has(counter) || (this.process?.meter.total(counter) ?? 0) > 0
  }

  start(): void {
    if (this.process !== undefined) return
    const { time, chance, clock, logger, lanes, logKeepS, name, nats, pushes } = this.#parts
    this.#starts += 1
    const runtime = new VirtualRuntime(time, clock, chance(2 ** 31))
    const process: GatewayProcess = new GatewayProcess({
      name,
      runtime,
      logger,
      lanes,
      logKeepS,
      isCluster: nats !== undefined,
      hasPushes: pushes !== undefined,
      servers: this.#serversOf(runtime),
      onEnd: (reason) => {
        if (this.process === process) this.#ended(reason)
      },
    })
    this.process = process
    this.#note(`starts for time ${this.#starts}`)
    void process.start()
  }

  /** Ends the process at once, in the middle of its work. */
  kill(): void {
    if (this.process !== undefined) this.#ended('killed')
  }

  /** Nothing runs until `goOn`; the world goes on. */
  stop(): void {
    const owner = this.process?.parts.runtime.owner
    if (owner?.state !== 'running') return
    owner.state = 'stopped'
    this.#note('stands still')
  }

  goOn(): void {
    const owner = this.process?.parts.runtime.owner
    if (owner === undefined) return
    this.#parts.time.resume(owner)
    this.#note('goes on')
  }

  /** The wall clock stands still, and all else goes on. */
  stopClock(): void {
    this.clock.stoodAtMs ??= this.#parts.time.now
  }

  /** The wall clock goes on: from the right time, or from where it stood. */
  startClock(isSet: boolean): void {
    const { stoodAtMs } = this.clock
    if (stoodAtMs === undefined) return
    this.clock.stoodAtMs = undefined
    if (!isSet) this.clock.setByMs -= this.#parts.time.now - stoodAtMs
  }

  /** Stops in order, as for an upgrade. */
  restart(): void {
    const { process } = this
    if (process?.stages !== undefined) void process.stop()
  }

  #ended(reason: string): void {
    const { time, chance, database, log, nats } = this.#parts
    const owner = this.process?.parts.runtime.owner
    if (owner === undefined) return
    this.#note(`ends: ${reason}`)
    owner.state = 'dead'
    for (const counter of this.process?.meter.totals.keys() ?? []) this.#counted.add(counter)
    this.process = undefined
    database.forget(owner)
    log.forget(owner)
    for (const client of nats?.clients ?? []) if (client.isDead) nats?.clients.delete(client)
    time.after(between(chance, 100, 8_000), () => this.start())
  }

  #serversOf(runtime: VirtualRuntime): Servers {
    const { owner, after } = runtime
    const { time, nats, pushes, database, log, delayMs } = this.#parts
    const link = { delayMs, isCut: (way: 'there' | 'back') => this.cut[way] }
    return {
      opener: (url) =>
        (url.endsWith('-log') ? log : database).openerFor(owner, { isShared: nats !== undefined }),
      connect: async () => {
        await new Promise<void>((resolve) => void after(delayMs(), resolve))
        if (nats === undefined || this.cut.there || this.cut.back)
          throw new Error('no route to NATS')
        return new NatsClient({ server: nats, time, link, owner, after }).connection()
      },
      openProvider: async () => pushes?.providerFor(runtime),
    }
  }

  #note(what: string): void {
    this.#parts.observations.note(`${this.name} ${what}`)
  }
}
