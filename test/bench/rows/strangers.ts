// Measures a gateway while strangers flood it: the time of a turn, the time of an update to its
// device, memory and disk, against a quiet time of the same run.

import { stat } from 'node:fs/promises'
import { join } from 'node:path'

import type { Stranger } from '#test/bench/load/strangers'
import { spread } from '#test/bench/load/statistics'
import { keyedChannels } from '#test/bench/rig/channel-keys'
import { databaseIn } from '#test/bench/rig/gateway'
import { startKeyed } from '#test/bench/rig/keyed'
import { Generator, QuicStrangers } from '#test/bench/rig/load-process'
import { OpenDoors, diskMbOf, registerClient } from '#test/bench/rig/open-doors'
import type { Rig, Step } from '#test/bench/rig/rig'
import { metricOf } from '#test/bench/rig/subject'
import type { Figure, Row } from './row.ts'
import type { Session } from './session.ts'

const CHANNELS = 1_000
const THINGS = 10_000
/** A small part of what one process applies, so that it is the strangers who are many. */
const UPDATES_PER_SECOND = 1_000
const STRANGER_CONNECTIONS = 64
const WARM_MS = 10_000
/** Each flood lasts a minute where a step has its five seconds: a minute is what budgets have. */
const STEPS = 12
const SAMPLE_MS = 250

type Kind = Stranger | 'quic'

interface Flood {
  readonly ratePerSecond: number
  readonly turn: Figure['goal']
  /** The gateway keeps what it was sent, so its disk has to grow. */
  readonly isKept?: true
}

const WITHOUT = {
  ratePerSecond: 1_000,
  turn: { kind: 'at-most', must: 1.5, aim: 1.3 },
} as const
/** These have the gateway token, and so no budget. */
const WITH_TOKEN = {
  ratePerSecond: 3_400,
  turn: { kind: 'at-most', must: 2, aim: 1.3 },
} as const
const FLOODS: Readonly<Record<Kind, Flood>> = {
  quic: WITHOUT,
  metadata: WITHOUT,
  oauth: WITHOUT,
  passwords: WITH_TOKEN,
  statuses: WITH_TOKEN,
  registrations: { ...WITH_TOKEN, isKept: true },
}
const MEMORY = { kind: 'at-most', must: 50, aim: 25 } as const
const DISK = { kind: 'at-most', must: 10, aim: 5 } as const

/** What was sent and answered, as far as it is known: answers by status. */
type Counts = Readonly<Record<string, number>>

/** Measurements of one step. */
interface Seen {
  readonly turnMs: number
  readonly submissionsPerTurn: number
  readonly device: { readonly p50Ms: number; readonly p99Ms: number }
  /** The most that the process took, and by how much its files grew. */
  readonly residentMb: number
  readonly diskMb: number
  readonly strangers?: Counts
}

interface Run {
  readonly quiet: Seen
  readonly flooded: ReadonlyMap<Kind, Seen>
}

/** A gateway with its doors open, and the folder with its files. */
interface Target {
  readonly name: string
  readonly kinds: readonly Kind[]
  readonly rig: Rig
  readonly doors: OpenDoors
  readonly directory: string
  readonly clientId: string
}

export const STRANGERS_ROWS: readonly Row[] = [
  rowOf('strangers', ['quic', 'metadata', 'oauth']),
  rowOf('strangers-with-token', ['passwords', 'statuses', 'registrations']),
]

function rowOf(name: string, kinds: readonly Kind[]): Row {
  return {
    name,
    async measure(session) {
      const scratch = await session.subjects.scratch()
      const directory = join(scratch, name)
      const doors = await OpenDoors.open(join(scratch, `${name}-certificate`))
      const keyed = { name, channels: CHANNELS, things: THINGS, hasDevices: true } as const
      try {
        const start = () => startKeyed(directory, { ...keyed, settings: doors.settings })
        const plan = { name, start, devices: 'with devices' } as const
        const { ran, ...ending } = await session.withRig(plan, async (rig) => {
          const [server] = rig.subject.servers
          if (server === undefined) throw new Error('the subject has no server')
          const clientId = await registerClient(server)
          return measured(session, { name, kinds, rig, doors, directory, clientId })
        })
        if (ending.kind === 'done') {
          return kinds.flatMap((kind) => figuresOf(name, kind, ending.result, ran))
        }
        const { failure } = ending
        return [{ ...turnOf(name, 'quic'), value: undefined, failure, details: { ran } }]
      } finally {
        await doors.close()
      }
    },
  }
}

async function measured(session: Session, target: Target): Promise<readonly Run[]> {
  const { runs, secondsPerStep } = session.options
  const say = (line: string) => session.options.say(`  ${target.name}: ${line}`)
  // V8 lets its heap grow to what a full load needs, and gives little of it back.
  await target.rig.step({ pace: { kind: 'closed' }, durationMs: WARM_MS })
  // What the first use of a door loads is not what a flood of it costs.
  for (const kind of target.kinds) await floodedStep(target, kind, secondsPerStep * 1_000)
  const all: Run[] = []
  const durationMs = secondsPerStep * STEPS * 1_000
  for (let run = 0; run < runs; run += 1) {
    const quiet = await seenIn(target, async () => [await updates(target, durationMs)])
    say(`quiet: ${sentenceOf(quiet)}`)
    const flooded = new Map<Kind, Seen>()
    for (const kind of target.kinds) {
      const seen = await floodedStep(target, kind, durationMs)
      say(`${kind}: ${sentenceOf(seen)} ${JSON.stringify(seen.strangers)}`)
      flooded.set(kind, seen)
    }
    all.push({ quiet, flooded })
  }
  return all
}

const turnOf = (name: string, kind: Kind) =>
  ({ row: `${name}.${kind}`, unit: '× turn time', goal: FLOODS[kind].turn }) as const

/** The figures of one flood, each against the quiet time of the same run. */
function figuresOf(
  name: string,
  kind: Kind,
  runs: readonly Run[],
  ran: object | undefined,
): readonly Figure[] {
  const { ratePerSecond, isKept } = FLOODS[kind]
  const over = (give: (flooded: Seen, quiet: Seen) => number) =>
    spread(runs.map(({ quiet, flooded }) => give(flooded.get(kind) ?? quiet, quiet)))
  const turn: Figure = {
    ...turnOf(name, kind),
    value: over((flooded, quiet) => flooded.turnMs / quiet.turnMs),
    details: {
      ran,
      updatesPerSecond: UPDATES_PER_SECOND,
      strangersPerSecond: ratePerSecond,
      strangerConnections: STRANGER_CONNECTIONS,
      runs: runs.map(({ quiet, flooded }) => ({ quiet, flooded: flooded.get(kind) })),
    },
  }
  const memory: Figure = {
    row: `${name}.${kind}.memory`,
    unit: 'MB more',
    value: over((flooded, quiet) => flooded.residentMb - quiet.residentMb),
    goal: MEMORY,
    details: {},
  }
  const disk: Figure = {
    row: `${name}.${kind}.disk`,
    unit: 'MB more',
    value: over((flooded, quiet) => flooded.diskMb - quiet.diskMb),
    goal: DISK,
    details: {},
  }
  return isKept === true ? [turn, memory] : [turn, memory, disk]
}

async function floodedStep(target: Target, kind: Kind, durationMs: number): Promise<Seen> {
  const flood = kind === 'quic' ? quicFlood(target) : await requestFlood(kind, target)
  const { ratePerSecond } = FLOODS[kind]
  try {
    return await seenIn(target, () =>
      Promise.all([updates(target, durationMs), flood.send(ratePerSecond, durationMs)]),
    )
  } finally {
    await flood.stop()
  }
}

interface Sender {
  send(ratePerSecond: number, durationMs: number): Promise<Counts>
  stop(): Promise<void>
}

async function requestFlood(stranger: Stranger, target: Target): Promise<Sender> {
  const { rig, doors, clientId } = target
  const { entrances, recipe } = rig.subject
  const ports = entrances.map(({ port }) => port)
  const { token } = recipe
  const channels = keyedChannels(CHANNELS).map(({ channelId }) => channelId)
  const crowd = new Generator()
  await crowd.connect({
    ports,
    connections: STRANGER_CONNECTIONS,
    recipe: { stranger, token, channels, clientId },
  })
  return {
    async send(ratePerSecond, durationMs) {
      const before = doors.questions
      const report = await crowd.load({ pace: { kind: 'open', ratePerSecond }, durationMs })
      const { accepted, refused, latency } = report
      const namesAsked = doors.questions - before
      return { 200: accepted, ...refused, p50Ms: latency.p50Ms, namesAsked }
    },
    stop: () => crowd.stop(),
  }
}

function quicFlood({ doors }: Target): Sender {
  const crowd = new QuicStrangers()
  return {
    async send(ratePerSecond, durationMs) {
      return { ...(await crowd.flood({ port: doors.quicPort, ratePerSecond, durationMs })) }
    },
    stop: () => crowd.stop(),
  }
}

const updates = ({ rig }: Target, durationMs: number): Promise<Step> =>
  rig.step({ pace: { kind: 'open', ratePerSecond: UPDATES_PER_SECOND }, durationMs })

async function seenIn(
  target: Target,
  work: () => Promise<readonly [Step, Counts?]>,
): Promise<Seen> {
  const { rig } = target
  const residentMb: number[] = []
  const timer = setInterval(() => residentMb.push(rig.residentMb()), SAMPLE_MS)
  try {
    const diskMb = await takenMbOf(target)
    const before = await turnsOf(rig)
    const [{ device }, strangers] = await work()
    const after = await turnsOf(rig)
    const turns = after.turns - before.turns
    const { p50Ms = Number.NaN, p99Ms = Number.NaN } = device?.latency ?? {}
    return {
      turnMs: ((after.seconds - before.seconds) / turns) * 1_000,
      submissionsPerTurn: (after.submissions - before.submissions) / turns,
      device: { p50Ms, p99Ms },
      residentMb: Math.max(...residentMb),
      diskMb: (await takenMbOf(target)) - diskMb,
      ...(strangers !== undefined && { strangers }),
    }
  } finally {
    clearInterval(timer)
  }
}

/** Megabytes of the files without the database's free pages, which new rows take first. */
async function takenMbOf({ rig, directory }: Target): Promise<number> {
  const files = await diskMbOf(directory)
  const { size } = await stat(databaseIn(directory))
  const { bytes = size } = (await rig.subject.stored?.()) ?? {}
  return files - (size - bytes) / 1e6
}

async function turnsOf({ subject }: Rig) {
  const [server] = subject.servers
  if (server === undefined) throw new Error('the subject has no server')
  const { token } = subject.recipe
  const figure = (name: string) => metricOf(server, { token, name: `heliograph_${name}` })
  return {
    seconds: await figure('turn_seconds_sum'),
    turns: await figure('turn_seconds_count'),
    submissions: await figure('turn_submissions_sum'),
  }
}

const sentenceOf = ({ turnMs, submissionsPerTurn, device, residentMb, diskMb }: Seen): string =>
  `a turn of ${submissionsPerTurn.toFixed(1)} takes ${turnMs.toFixed(2)} ms, ` +
  `to device p50 ${device.p50Ms.toFixed(1)} ms, p99 ${device.p99Ms.toFixed(1)} ms, ` +
  `${residentMb.toFixed(0)} MB resident, ${diskMb.toFixed(1)} MB more on disk`
