// A world: machines with gateways, their servers, devices and senders, and everything that goes
// wrong among them. First anything may fail, then all is well again and must come to rest.

import { seeded } from '#test/support/random'
import { between, gapMs, happens, oneOf } from './chance.ts'
import type { Chance } from './chance.ts'
import { Clients } from './clients.ts'
import type { Served } from './clients.ts'
import { Database } from './database.ts'
import type { DatabaseFaults } from './database.ts'
import { SimulatedDevice } from './device.ts'
import { Machine } from './machine.ts'
import { NatsServer } from './nats-server.ts'
import type { StreamFaults } from './nats-server.ts'
import { Observations } from './observations.ts'
import { loggerFor } from './loggers.ts'
import { HAPPENINGS } from './swarm.ts'
import type { ChanceName, Happening, Swarm } from './swarm.ts'
import type { Owner } from './virtual-time.ts'
import { VirtualTime } from './virtual-time.ts'

export interface WorldOptions {
  readonly seed: number
  readonly swarm: Swarm
  readonly tables: readonly string[]
  readonly trace?: ((line: string) => void) | undefined
}

interface Subscriber {
  readonly key: string
  readonly device: SimulatedDevice
}

export class World {
  readonly time = new VirtualTime()
  readonly observations: Observations
  readonly swarm: Swarm
  readonly machines: readonly Machine[]
  readonly devices: Subscriber[] = []
  readonly clients: Clients
  readonly database: Database
  readonly log: Database
  readonly nats: NatsServer | undefined
  readonly #chance: Chance
  readonly #trace: WorldOptions['trace']
  #isFaulty = false
  #isDown = false
  #isFull = false
  #hasLeader = true

  constructor({ seed, swarm, tables, trace }: WorldOptions) {
    const { time } = this
    this.swarm = swarm
    this.#trace = trace
    this.#chance = seeded(seed)
    this.observations = new Observations(() => time.now, trace)
    this.database = new Database(time, this.#databaseFaults(swarm.isCluster), tables)
    this.log = new Database(time, this.#databaseFaults(false), tables)
    this.nats = swarm.isCluster ? new NatsServer(time, this.#streamFaults()) : undefined
    this.machines = Array.from({ length: swarm.nodes }, (_, index) => this.#machine(index))
    this.clients = new Clients({
      time,
      swarm,
      chance: this.#chance,
      observations: this.observations,
      delayMs: () => this.#delay(swarm.delayMsMax.client),
      served: () => this.served(),
      isFaulty: () => this.#isFaulty,
    })
  }

  /** The processes that take requests. */
  served(): readonly Served[] {
    return this.machines.flatMap(({ name, process }) => {
      const stages = process?.stages
      if (process === undefined || stages === undefined) return []
      const { owner, nowMs } = process.parts.runtime
      return [{ name, stages, owner, nowMs }]
    })
  }

  /** Starts everything while all is well; false when that does not end. */
  async begin(withinMs: number): Promise<boolean> {
    const { time, swarm } = this
    for (const machine of this.machines) machine.start()
    const isUp = (): boolean => this.served().length === this.machines.length
    await time.run(withinMs, isUp)
    if (!isUp()) return false
    let isReady = false
    void this.#furnish().then(() => (isReady = true))
    await time.run(time.now + withinMs, () => isReady)
    return isReady && this.clients.channels.length === swarm.channels
  }

  /** Lets anything fail for a time, under load. */
  async fail(forMs: number): Promise<void> {
    const until = this.time.now + forMs
    const isOver = (): boolean => this.time.now >= until
    this.#isFaulty = true
    for (const happening of HAPPENINGS) this.#repeat(happening, isOver)
    this.clients.load(isOver)
    await this.time.run(until)
    this.#heal()
  }

  close(): void {
    for (const { process } of this.machines) {
      if (process !== undefined) process.parts.runtime.owner.state = 'dead'
    }
    this.database.close()
    this.log.close()
  }

  /** Channels, devices and their subscriptions. */
  async #furnish(): Promise<void> {
    const { time, swarm, observations, clients } = this
    for (let count = 0; count < swarm.channels; count += 1) await clients.createChannel()
    for (let count = 0; count < swarm.devices; count += 1) {
      const key = await clients.registerDevice()
      if (key === undefined) continue
      const device = new SimulatedDevice({
        name: `device ${count}`,
        deviceKey: key,
        time,
        observations,
        chance: this.#chance,
        delayMs: () => this.#delay(swarm.delayMsMax.client),
        find: () => {
          const all = this.served()
          if (all.length === 0) return undefined
          const { stages, owner } = oneOf(this.#chance, all)
          return { sessions: stages.sessions, owner }
        },
      })
      this.devices.push({ key, device })
      for (const channel of clients.channels) {
        if (this.#chance(3) > 0) await clients.join({ key }, channel)
      }
    }
  }

  #repeat(happening: Happening, isOver: () => boolean): void {
    const perSecond = this.swarm.perSecond[happening]
    if (perSecond === 0) return
    const next = (): void => {
      if (isOver()) return
      this.#cause(happening)
      this.time.after(gapMs(this.#chance, perSecond), next)
    }
    this.time.after(gapMs(this.#chance, perSecond), next)
  }

  #cause(happening: Happening): void {
    const { time, clients, observations } = this
    const chance = this.#chance
    const machine = oneOf(chance, this.machines)
    observations.note(`${happening} ${machine.name}`)
    const forMs = between(chance, 100, chance(4) === 0 ? 20_000 : 3_000)
    const device = this.devices.length === 0 ? undefined : oneOf(chance, this.devices)
    switch (happening) {
      case 'kill':
        return machine.kill()
      case 'power-cut':
        machine.kill()
        this.database.cutPower()
        this.log.cutPower()
        return
      case 'stop':
        machine.stop()
        time.after(forMs, () => machine.goOn())
        return
      case 'restart':
        return machine.restart()
      case 'cut':
        return this.#cut(machine, forMs)
      case 'database-cut':
        machine.isCutFromDatabase = true
        time.after(forMs, () => (machine.isCutFromDatabase = false))
        return
      case 'database-down':
        this.#isDown = true
        time.after(forMs, () => (this.#isDown = false))
        return
      case 'disk-full':
        this.#isFull = true
        time.after(forMs, () => (this.#isFull = false))
        return
      case 'election':
        this.#hasLeader = false
        this.nats?.loseUnsynced()
        time.after(Math.min(forMs, 6_000), () => (this.#hasLeader = true))
        return
      case 'clock-step':
        machine.clock.setByMs += between(chance, -60_000, 600_000)
        return
      case 'device-cut':
        return device?.device.cut()
      case 'device-wiped':
        return device?.device.wipe()
      case 'password':
        return void clients.changePassword()
      case 'delete':
        return void clients.deleteChannel()
      case 'leave':
        return void (device && clients.leave(device))
      case 'join':
        return void (device && clients.join(device))
    }
  }

  #cut(machine: Machine, forMs: number): void {
    const ways = oneOf(this.#chance, [['there'], ['back'], ['there', 'back']] as const)
    for (const way of ways) machine.cut[way] = true
    this.time.after(forMs, () => {
      for (const way of ways) machine.cut[way] = false
    })
  }

  /** Everything works from here on. */
  #heal(): void {
    this.observations.note('all is well')
    this.#isFaulty = false
    this.#isDown = false
    this.#isFull = false
    this.#hasLeader = true
    for (const machine of this.machines) {
      machine.cut.there = false
      machine.cut.back = false
      machine.isCutFromDatabase = false
      machine.goOn()
    }
  }

  #machine(index: number): Machine {
    const chance = this.#chance
    const { drift, delayMsMax, lanes, logKeepS } = this.swarm
    return new Machine({
      name: `node-${index}`,
      time: this.time,
      chance,
      observations: this.observations,
      logger: loggerFor(`node-${index}`, this.#trace),
      lanes,
      logKeepS,
      clock: { rate: 1 + (drift * (chance(2_001) - 1_000)) / 1_000, setByMs: 0 },
      delayMs: () => this.#delay(delayMsMax.stream),
      nats: this.nats,
      database: this.database,
      log: this.log,
    })
  }

  #delay(mostMs: number): number {
    return (this.#chance(1_000) * mostMs) / 1_000
  }

  #has(name: ChanceName): boolean {
    return this.#isFaulty && happens(this.#chance, this.swarm.chances[name])
  }

  #databaseFaults(isShared: boolean): DatabaseFaults {
    const isCut = (owner: Owner): boolean =>
      this.machines.some(
        ({ process, isCutFromDatabase }) =>
          isCutFromDatabase && process?.parts.runtime.owner === owner,
      )
    return {
      delayMs: () => this.#delay(isShared ? this.swarm.delayMsMax.database : 1),
      begin: (owner) => {
        if (!isShared) return 'well'
        if (isCut(owner)) return 'lost'
        return this.#has('databaseLost') ? 'lost' : 'well'
      },
      commit: (owner) => {
        if (!isShared) return 'well'
        if (isCut(owner)) return this.#chance(2) === 0 ? 'lost-before' : 'lost-after'
        if (this.#has('commitTakenBack')) return 'taken-back'
        if (this.#has('commitLostBefore')) return 'lost-before'
        if (this.#has('commitLostAfter')) return 'lost-after'
        return this.#has('commitSilent') ? 'silent' : 'well'
      },
      isFull: () => this.#isFull,
      isDown: () => isShared && this.#isDown,
    }
  }

  #streamFaults(): StreamFaults {
    return {
      syncMs: () => (this.#has('slowSync') ? between(this.#chance, 10, 2_000) : this.#delay(1)),
      losesAnswer: () => this.#has('streamLosesAnswer'),
      losesDelivery: () => this.#has('streamLosesDelivery'),
      hasLeader: () => this.#hasLeader,
      losesAppend: () => this.#has('losesUnsynced'),
    }
  }
}
