// Measures a gateway while others flood it: the time of a turn, the time of an update of another
// channel to its device, memory and disk, against a quiet time of the same run.

import { stat } from 'node:fs/promises'
import { join } from 'node:path'

import { spread } from '#test/bench/load/statistics'
import { databaseIn } from '#test/bench/rig/gateway'
import { OpenDoors, diskMbOf } from '#test/bench/rig/open-doors'
import type { Rig, Step } from '#test/bench/rig/rig'
import type { Server } from '#test/bench/rig/server'
import type { Subject } from '#test/bench/rig/subject'
import { metricOf } from '#test/bench/rig/subject'
import type { Figure, Row } from './row.ts'
import type { Session } from './session.ts'

/** The load of those who do not flood, over so many channels, each with a key. */
export const CHANNELS = 1_000
export const THINGS = 10_000
/** A small part of what one process applies, so that it is the others who are many. */
const UPDATES_PER_SECOND = 1_000
const WARM_MS = 10_000
/** Each flood lasts a minute where a step has its five seconds: a minute is what budgets have. */
const STEPS = 12
const SAMPLE_MS = 250

/** What was sent and answered, as far as it is known. */
export type Counts = Readonly<Record<string, number>>

/** Sends what a flood consists of, from processes of its own. */
export interface Sender {
  send(ratePerSecond: number, durationMs: number): Promise<Counts>
  stop(): Promise<void>
}

export interface Flood {
  readonly ratePerSecond: number
  /** The goal of the time of a turn. */
  readonly turn: Figure['goal']
  /** The gateway keeps what it was sent, so its disk has to grow. */
  readonly isKept?: true
  readonly begin: (target: Target) => Promise<Sender>
}

/** A gateway with its doors open, and the folder with its files. */
export interface Target {
  readonly rig: Rig
  readonly doors: OpenDoors
  readonly server: Server
  readonly directory: string
}

/** A row of floods by their names, one after the other. */
export interface Flooding {
  readonly name: string
  readonly floods: Readonly<Record<string, Flood>>
  readonly start: (directory: string, doors: OpenDoors) => Promise<Subject>
  /** Makes what the floods need beforehand. */
  readonly prepare?: (target: Target) => Promise<void>
}

const MEMORY = { kind: 'at-most', must: 50, aim: 25 } as const
const DISK = { kind: 'at-most', must: 10, aim: 5 } as const
const SLOWEST = { kind: 'at-most', must: 1_000, aim: 500 } as const

/** Measurements of one step. */
interface Seen {
  readonly turnMs: number
  readonly submissionsPerTurn: number
  readonly device: { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number }
  /** The most that the process took, and by how much its files grew. */
  readonly residentMb: number
  readonly diskMb: number
  readonly flood?: Counts
}

/** Measurements of a flood, and the most that the process took in the step before it. */
interface Flooded extends Seen {
  readonly residentBeforeMb: number
}

interface Run {
  readonly quiet: Seen
  readonly flooded: ReadonlyMap<string, Flooded>
}

export function floodedRow(flooding: Flooding): Row {
  const { name, floods } = flooding
  return {
    name,
    async measure(session) {
      const scratch = await session.subjects.scratch()
      const directory = join(scratch, name)
      const doors = await OpenDoors.open(join(scratch, `${name}-certificate`))
      try {
        const start = () => flooding.start(directory, doors)
        const plan = { name, start, devices: 'with devices' } as const
        const { ran, ...ending } = await session.withRig(plan, async (rig) => {
          const [server] = rig.subject.servers
          if (server === undefined) throw new Error('the subject has no server')
          return measured(session, flooding, { rig, doors, server, directory })
        })
        const names = Object.keys(floods)
        if (ending.kind === 'done') {
          return names.flatMap((kind) => figuresOf(flooding, kind, { runs: ending.result, ran }))
        }
        const { failure } = ending
        return names.slice(0, 1).map((kind) => ({
          ...turnOf(flooding, kind),
          value: undefined,
          failure,
          details: { ran },
        }))
      } finally {
        await doors.close()
      }
    },
  }
}

async function measured(
  session: Session,
  { name, floods, prepare }: Flooding,
  target: Target,
): Promise<readonly Run[]> {
  const { runs, secondsPerStep } = session.options
  const say = (line: string) => session.options.say(`  ${name}: ${line}`)
  // V8 lets its heap grow to what a full load needs, and gives little of it back.
  await target.rig.step({ pace: { kind: 'closed' }, durationMs: WARM_MS })
  await prepare?.(target)
  // What the first use of a door loads is not what a flood of it costs.
  for (const flood of Object.values(floods)) {
    await floodedStep(target, flood, secondsPerStep * 1_000)
  }
  const all: Run[] = []
  const durationMs = secondsPerStep * STEPS * 1_000
  for (let run = 0; run < runs; run += 1) {
    const quiet = await seenIn(target, async () => [await updates(target, durationMs)])
    say(`quiet: ${sentenceOf(quiet)}`)
    const flooded = new Map<string, Flooded>()
    let { residentMb: residentBeforeMb } = quiet
    for (const [kind, flood] of Object.entries(floods)) {
      const seen = await floodedStep(target, flood, durationMs)
      say(`${kind}: ${sentenceOf(seen)} ${JSON.stringify(seen.flood)}`)
      flooded.set(kind, { ...seen, residentBeforeMb })
      residentBeforeMb = seen.residentMb
    }
    all.push({ quiet, flooded })
  }
  return all
}

const NO_GOAL = { kind: 'at-most', must: 0, aim: 0 } as const

const turnOf = ({ name, floods }: Flooding, kind: string) =>
  ({ row: `${name}.${kind}`, unit: '× turn time', goal: floods[kind]?.turn ?? NO_GOAL }) as const

interface Measured {
  readonly runs: readonly Run[]
  readonly ran: object | undefined
}

/** The figures of one flood, each against the quiet time of the same run. */
function figuresOf(flooding: Flooding, kind: string, { runs, ran }: Measured): readonly Figure[] {
  const { ratePerSecond, isKept } = flooding.floods[kind] ?? {}
  const row = `${flooding.name}.${kind}`
  const over = (give: (flooded: Flooded, quiet: Seen) => number) => {
    const given = runs.map(({ quiet, flooded }) => {
      const seen = flooded.get(kind)
      return seen === undefined ? Number.NaN : give(seen, quiet)
    })
    return spread(given)
  }
  const turn: Figure = {
    ...turnOf(flooding, kind),
    value: over((flooded, quiet) => flooded.turnMs / quiet.turnMs),
    details: {
      ran,
      updatesPerSecond: UPDATES_PER_SECOND,
      floodPerSecond: ratePerSecond,
      runs: runs.map(({ quiet, flooded }) => ({ quiet, flooded: flooded.get(kind) })),
    },
  }
  const slowest: Figure = {
    row: `${row}.slowest`,
    unit: 'ms to device',
    value: over((flooded) => flooded.device.maxMs),
    goal: SLOWEST,
    details: {},
  }
  const memory: Figure = {
    row: `${row}.memory`,
    unit: 'MB more',
    // What an earlier flood left is not this one's.
    value: over(({ residentMb, residentBeforeMb }) => residentMb - residentBeforeMb),
    goal: MEMORY,
    details: {},
  }
  const disk: Figure = {
    row: `${row}.disk`,
    unit: 'MB more',
    value: over((flooded, quiet) => flooded.diskMb - quiet.diskMb),
    goal: DISK,
    details: {},
  }
  return isKept === true ? [turn, slowest, memory] : [turn, slowest, memory, disk]
}

async function floodedStep(target: Target, flood: Flood, durationMs: number): Promise<Seen> {
  const sender = await flood.begin(target)
  try {
    return await seenIn(target, () =>
      Promise.all([updates(target, durationMs), sender.send(flood.ratePerSecond, durationMs)]),
    )
  } finally {
    await sender.stop()
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
    const before = await turnsOf(target)
    const [{ device }, flood] = await work()
    const after = await turnsOf(target)
    const turns = after.turns - before.turns
    const { p50Ms = Number.NaN, p99Ms = Number.NaN, maxMs = Number.NaN } = device?.latency ?? {}
    return {
      turnMs: ((after.seconds - before.seconds) / turns) * 1_000,
      submissionsPerTurn: (after.submissions - before.submissions) / turns,
      device: { p50Ms, p99Ms, maxMs },
      residentMb: Math.max(...residentMb),
      diskMb: (await takenMbOf(target)) - diskMb,
      ...(flood !== undefined && { flood }),
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

async function turnsOf({ server, rig }: Target) {
  const { token } = rig.subject.recipe
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
  `at most ${device.maxMs.toFixed(0)} ms, ` +
  `${residentMb.toFixed(0)} MB resident, ${diskMb.toFixed(1)} MB more on disk`
