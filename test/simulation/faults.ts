// What goes wrong in a world at a moment: its conditions, and what each server makes of them.

import { between, happens } from './chance.ts'
import type { Chance } from './chance.ts'
import type { DatabaseFaults } from './database.ts'
import type { StreamFaults } from './nats-server.ts'
import type { PushFaults } from './push-service.ts'
import type { ChanceName, Swarm } from './swarm.ts'
import type { Owner } from './virtual-time.ts'

export class Faults {
  /** True while anything may fail. */
  isOn = false
  isDatabaseDown = false
  isDiskFull = false
  hasLeader = true
  /** Replicas of JetStream that are away, of three. */
  replicasLost = 0
  readonly #swarm: Swarm
  readonly #chance: Chance

  constructor(swarm: Swarm, chance: Chance) {
    this.#swarm = swarm
    this.#chance = chance
  }

  /** Everything works from here on. */
  heal(): void {
    this.isOn = false
    this.isDatabaseDown = false
    this.isDiskFull = false
    this.hasLeader = true
    this.replicasLost = 0
  }

  /** Milliseconds of one way through a network. */
  delayMs(mostMs: number): number {
    return (this.#chance(1_000) * mostMs) / 1_000
  }

  has(name: ChanceName): boolean {
    return this.isOn && happens(this.#chance, this.#swarm.chances[name])
  }

  /** `isCut`: true while a process does not reach the database. */
  ofDatabase(isShared: boolean, isCut: (owner: Owner) => boolean): DatabaseFaults {
    return {
      delayMs: () => this.delayMs(isShared ? this.#swarm.delayMsMax.database : 1),
      begin: (owner) => {
        if (!isShared) return 'well'
        if (isCut(owner)) return 'lost'
        return this.has('databaseLost') ? 'lost' : 'well'
      },
      commit: (owner) => {
        if (!isShared) return 'well'
        if (isCut(owner)) return this.#chance(2) === 0 ? 'lost-before' : 'lost-after'
        if (this.has('commitTakenBack')) return 'taken-back'
        if (this.has('commitLostBefore')) return 'lost-before'
        if (this.has('commitLostAfter')) return 'lost-after'
        return this.has('commitSilent') ? 'silent' : 'well'
      },
      isFull: () => this.isDiskFull,
      isDown: () => isShared && this.isDatabaseDown,
    }
  }

  ofStreams(): StreamFaults {
    return {
      syncMs: () => this.#syncMs(),
      losesAnswer: () => this.has('streamLosesAnswer'),
      losesDelivery: () => this.has('streamLosesDelivery'),
      repeatsDelivery: () => this.has('streamRepeatsDelivery'),
      losesMessage: () => this.has('busLost'),
      repeatsMessage: () => this.has('busRepeated'),
      // Two of three replicas are needed to decide anything.
      hasLeader: () => this.hasLeader && this.replicasLost < 2,
      isStale: () => this.replicasLost > 0 && this.#chance(2) === 0,
      losesAppend: () => this.has('losesUnsynced'),
    }
  }

  /** An append waits for two replicas: without the third one, for the slower of both. */
  #syncMs(): number {
    const one = (): number =>
      this.has('slowSync') ? between(this.#chance, 10, 2_000) : this.delayMs(1)
    return this.replicasLost === 0 ? one() : Math.max(one(), one())
  }

  ofPushes(): PushFaults {
    return {
      delayMs: () => this.delayMs(200),
      fate: () => {
        if (this.has('pushRefused')) return 'refused'
        if (this.has('pushLost')) return 'lost'
        return this.has('pushSilent') ? 'silent' : 'well'
      },
    }
  }
}
