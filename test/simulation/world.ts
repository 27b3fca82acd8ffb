// A world: machines with gateways, their servers, devices and senders, and everything that goes
// wrong among them. First anything may fail, then all is well again and must come to rest.

import { seeded } from '#test/support/random'
import { between, gapMs, oneOf } from './chance.ts'
import type { Chance } from './chance.ts'
import { Clients } from './clients.ts'
import type { Served } from './asking.ts'
import type { ClientParts, PushDevice } from './clients.ts'
import { Database } from './database.ts'
import { Machine } from './machine.ts'
import { Faults } from './faults.ts'
import { furnish } from './furnishing.ts'
import { Joiner } from './joiner.ts'
import type { FindingNetwork, Subscriber } from './furnishing.ts'
import { NatsServer } from './nats-server.ts'
import { Observations } from './observations.ts'
import { loggerFor } from './loggers.ts'
import { PushService } from './push-service.ts'
import { HAPPENINGS } from './swarm.ts'
import type { Happening, Swarm } from './swarm.ts'
import type { Owner } from './virtual-time.ts'
import { Senders } from './senders.ts'
import { VirtualTime } from './virtual-time.ts'

export interface WorldOptions {
  readonly seed: number
  readonly swarm: Swarm
  readonly tables: readonly string[]
  readonly trace?: ((line: string) => void) | undefined
}

export class World {
  readonly time = new VirtualTime()
  readonly observations: Observations
  readonly swarm: Swarm
  readonly machines: readonly Machine[]
  readonly devices: Subscriber[] = []
  /** They never connect; a push service reaches them. */
  readonly pushDevices: PushDevice[] = []
  readonly clients: Clients
  readonly senders: Senders
  readonly database: Database
  readonly log: Database
  readonly nats: NatsServer | undefined
  readonly pushes: PushService
  readonly #chance: Chance
  readonly #trace: WorldOptions['trace']
  readonly #faults: Faults
  readonly #joiner: Joiner

  constructor({ seed, swarm, tables, trace }: WorldOptions) {
    const { time } = this
    this.swarm = swarm
    this.#trace = trace
    this.#chance = seeded(seed)
    this.observations = new Observations(() => time.now, trace)
    const faults = new Faults(swarm, this.#chance)
    this.#faults = faults
    const isCut = (owner: Owner): boolean => this.#isCut(owner)
    const options = { tables, losesPower: !swarm.isCluster }
    this.database = new Database(time, faults.ofDatabase(swarm.isCluster, isCut), options)
    this.log = new Database(time, faults.ofDatabase(false, isCut), options)
    this.#joiner = new Joiner({ seed, time, database: this.database, isShared: swarm.isCluster })
    this.nats = swarm.isCluster ? new NatsServer(time, faults.ofStreams()) : undefined
    this.pushes = new PushService(faults.ofPushes(), this.observations, () => time.now)
    this.machines = Array.from({ length: swarm.nodes }, (_, index) => this.#machine(index))
    const parts: ClientParts = {
      time,
      swarm,
      chance: this.#chance,
      observations: this.observations,
      delayMs: () => faults.delayMs(swarm.delayMsMax.client),
      served: () => this.served(),
      isFaulty: () => faults.isOn,
    }
    this.clients = new Clients(parts)
    this.senders = new Senders(parts, this.clients)
  }

  /** The processes that take requests. */
  served(): readonly Served[] {
    return this.machines.flatMap(({ name, process }) => {
      const { stages, mqtt } = process ?? {}
      if (process === undefined || stages === undefined || mqtt === undefined) return []
      const { owner, nowMs } = process.parts.runtime
      return [{ name, stages, mqtt, owner, nowMs }]
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
    void furnish(this, this.#network()).then(() => (isReady = true))
    await time.run(time.now + withinMs, () => isReady)
    return isReady && this.clients.channels.length === swarm.channels
  }

  /** Lets anything fail for a time, under load. */
  async fail(forMs: number): Promise<void> {
    const until = this.time.now + forMs
    const isOver = (): boolean => this.time.now >= until
    this.#faults.isOn = true
    for (const happening of HAPPENINGS) this.#repeat(happening, isOver)
    this.senders.load(isOver)
    this.#joiner.repeat(isOver)
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

  /** The network of devices and clients, which find one of the processes that take requests. */
  #network(): FindingNetwork {
    const { time, swarm } = this
    const chance = this.#chance
    return {
      time,
      chance,
      delayMs: () => this.#faults.delayMs(swarm.delayMsMax.client),
      find: () => {
        const all = this.served()
        return all.length === 0 ? undefined : oneOf(chance, all)
      },
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
    const faults = this.#faults
    const machine = oneOf(chance, this.machines)
    observations.note(`${happening} ${machine.name}`)
    const forMs = between(chance, 100, chance(4) === 0 ? 20_000 : 3_000)
    const device = this.devices.length === 0 ? undefined : oneOf(chance, this.devices)
    switch (happening) {
      case 'kill':
        return machine.kill()
      case 'power-cut':
        machine.kill()
        this.#joiner.kill()
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
        faults.isDatabaseDown = true
        time.after(forMs, () => (faults.isDatabaseDown = false))
        return
      case 'disk-full':
        faults.isDiskFull = true
        time.after(forMs, () => (faults.isDiskFull = false))
        return
      case 'election':
        faults.hasLeader = false
        this.nats?.loseUnsynced()
        time.after(Math.min(forMs, 6_000), () => (faults.hasLeader = true))
        return
      case 'replica':
        faults.replicasLost += 1
        time.after(forMs, () => (faults.replicasLost = Math.max(0, faults.replicasLost - 1)))
        return
      case 'clock-step':
        machine.clock.setByMs += between(chance, -60_000, 600_000)
        return
      case 'clock-stands':
        machine.stopClock()
        time.after(forMs, () => machine.startClock(chance(2) === 0))
        return
      case 'device-cut':
        return device?.device.cut()
      case 'device-wiped':
        return device?.device.wipe()
      case 'mqtt-cut':
        if (clients.mqtt.length > 0) oneOf(chance, clients.mqtt).cut()
        return
      case 'password':
        return void clients.changePassword()
      case 'delete':
        return void clients.deleteChannel()
      case 'leave':
        return void (device && clients.leave(device))
      case 'join':
        return void (device && clients.join(device))
      case 'rule':
        return void clients.changeRule()
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
    this.#faults.heal()
    this.#joiner.kill()
    for (const machine of this.machines) {
      machine.cut.there = false
      machine.cut.back = false
      machine.isCutFromDatabase = false
      machine.startClock(true)
      machine.goOn()
    }
  }

  #isCut(owner: Owner): boolean {
    return this.machines.some(
      ({ process, isCutFromDatabase }) =>
        isCutFromDatabase && process?.parts.runtime.owner === owner,
    )
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
      clock: {
        rate: 1 + (drift * (chance(2_001) - 1_000)) / 1_000,
        setByMs: 0,
        stoodAtMs: undefined,
      },
      delayMs: () => this.#faults.delayMs(delayMsMax.stream),
      nats: this.nats,
      pushes: this.swarm.pushDevices > 0 ? this.pushes : undefined,
      database: this.database,
      log: this.log,
    })
  }
}
