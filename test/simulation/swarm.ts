// What a seed chooses for its world: its size, its load, and how often what goes wrong. Each fault
// is absent from some seeds, so that no fault hides another one.

import { between, happens, oneOf } from './chance.ts'
import type { Chance } from './chance.ts'

/** Faults and changes that come by themselves, each so many times in a second on average. */
export const HAPPENINGS = [
  'kill',
  'power-cut',
  'stop',
  'restart',
  'cut',
  'database-cut',
  'database-down',
  'disk-full',
  'election',
  'replica',
  'clock-step',
  'clock-stands',
  'device-cut',
  'device-wiped',
  'mqtt-cut',
  'password',
  'delete',
  'leave',
  'join',
  'rule',
] as const
export type Happening = (typeof HAPPENINGS)[number]

/** The probabilities of what may happen to each message or transaction. */
export const CHANCES = [
  'streamLosesAnswer',
  'streamLosesDelivery',
  'streamRepeatsDelivery',
  'slowSync',
  'losesUnsynced',
  'busLost',
  'busRepeated',
  'commitTakenBack',
  'commitLostBefore',
  'commitLostAfter',
  'commitSilent',
  'databaseLost',
  'senderLosesAnswer',
  'lateData',
  'pause',
  'pushRefused',
  'pushLost',
  'pushSilent',
] as const
export type ChanceName = (typeof CHANCES)[number]

export interface Swarm {
  readonly isCluster: boolean
  readonly nodes: number
  readonly lanes: number
  /** Seconds for which the log keeps what is applied. */
  readonly logKeepS: number
  readonly channels: number
  /** The part of the channels that have a rule. */
  readonly ruled: number
  readonly things: number
  readonly devices: number
  /** Devices that a push service reaches. */
  readonly pushDevices: number
  /** MQTT clients with kept sessions. */
  readonly mqttClients: number
  /** Submissions in a second. */
  readonly load: number
  /**
   * The parts of the load that are Messages and Events, and of the Messages those with an op_id and
   * those that wait for their time.
   */
  readonly shares: Readonly<Record<'message' | 'event' | 'claimed' | 'scheduled', number>>
  /** Milliseconds for which a sender waits for an answer before it tries again. */
  readonly patienceMs: number
  /** The greatest delays of the networks, in milliseconds. */
  readonly delayMsMax: Readonly<Record<'stream' | 'database' | 'client', number>>
  /** The greatest difference of a clock's pace from the right one. */
  readonly drift: number
  readonly perSecond: Readonly<Record<Happening, number>>
  readonly chances: Readonly<Record<ChanceName, number>>
}

/** What sets clocks, or has them stand still. */
export const SETS_CLOCKS: ReadonlySet<Happening> = new Set(['clock-step', 'clock-stands'])

/** The most of each happening in a second, and the kinds of process that know it. */
const PER_SECOND_MAX: Readonly<Record<Happening, readonly [most: number, where: Where]>> = {
  kill: [0.2, 'both'],
  'power-cut': [0.1, 'sole'],
  stop: [0.1, 'both'],
  restart: [0.05, 'both'],
  cut: [0.2, 'cluster'],
  'database-cut': [0.1, 'cluster'],
  'database-down': [0.05, 'cluster'],
  'disk-full': [0.05, 'both'],
  election: [0.1, 'cluster'],
  replica: [0.1, 'cluster'],
  'clock-step': [0.1, 'both'],
  'clock-stands': [0.1, 'both'],
  'device-cut': [0.5, 'both'],
  'device-wiped': [0.1, 'both'],
  'mqtt-cut': [0.5, 'both'],
  password: [0.1, 'both'],
  delete: [0.03, 'both'],
  leave: [0.1, 'both'],
  join: [0.2, 'both'],
  rule: [0.5, 'both'],
}
type Where = 'both' | 'sole' | 'cluster'

const CHANCE_MAX: Readonly<Record<ChanceName, number>> = {
  streamLosesAnswer: 0.05,
  streamLosesDelivery: 0.02,
  streamRepeatsDelivery: 0.02,
  slowSync: 0.02,
  losesUnsynced: 0.7,
  busLost: 0.05,
  busRepeated: 0.05,
  commitTakenBack: 0.1,
  commitLostBefore: 0.03,
  commitLostAfter: 0.03,
  commitSilent: 0.002,
  databaseLost: 0.02,
  senderLosesAnswer: 0.1,
  lateData: 0.3,
  pause: 0.05,
  pushRefused: 0.1,
  pushLost: 0.05,
  pushSilent: 0.05,
}

export function swarmOf(chance: Chance, isCluster: boolean): Swarm {
  const part = (): number => (happens(chance, 0.4) ? 0 : (chance(1_000) + 1) / 1_000)
  const rates = HAPPENINGS.map((name) => {
    const [most, where] = PER_SECOND_MAX[name]
    const isHere = where === 'both' || where === (isCluster ? 'cluster' : 'sole')
    const rate = part() * most
    return [name, isHere ? rate : 0] as const
  })
  const chances = CHANCES.map((name) => [name, part() * CHANCE_MAX[name]] as const)
  // What waits for a time of the clock needs one that nobody sets: it would wait for minutes.
  const isScheduling = rates.every(([name, rate]) => !SETS_CLOCKS.has(name) || rate === 0)
  return {
    isCluster,
    nodes: isCluster ? between(chance, 1, 5) : 1,
    lanes: isCluster ? between(chance, 1, 6) : between(chance, 1, 2),
    logKeepS: oneOf(chance, [0, 10, 3_600]),
    channels: between(chance, 1, 6),
    things: between(chance, 1, 10),
    devices: between(chance, 0, 5),
    pushDevices: chance(2) === 0 ? 0 : between(chance, 1, 3),
    mqttClients: chance(2) === 0 ? 0 : between(chance, 1, 4),
    load: between(chance, 2, 40),
    shares: {
      message: part() * 0.4,
      event: part() * 0.3,
      claimed: part(),
      scheduled: isScheduling ? part() : 0,
    },
    patienceMs: oneOf(chance, [300, 2_000, 12_000]),
    delayMsMax: {
      stream: between(chance, 1, 20),
      database: between(chance, 1, 10),
      client: between(chance, 1, 50),
    },
    drift: chance(100) / 10_000,
    perSecond: Object.fromEntries(rates) as Record<Happening, number>,
    chances: Object.fromEntries(chances) as Record<ChanceName, number>,
    ruled: part(),
  }
}

/** A cluster in which nothing goes wrong, for measuring. */
export function calmSwarm(nodes: number, load: number): Swarm {
  const zero = <Name extends string>(names: readonly Name[]) =>
    Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>
  return {
    isCluster: true,
    nodes,
    lanes: 6,
    logKeepS: 3_600,
    channels: 6,
    ruled: 0,
    things: 10,
    devices: 4,
    pushDevices: 0,
    mqttClients: 0,
    load,
    shares: { message: 0.1, event: 0.1, claimed: 0.5, scheduled: 0 },
    patienceMs: 12_000,
    delayMsMax: { stream: 1, database: 1, client: 1 },
    drift: 0,
    perSecond: zero(HAPPENINGS),
    chances: zero(CHANCES),
  }
}
