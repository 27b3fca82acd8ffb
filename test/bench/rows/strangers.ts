// Measures turns while strangers flood the gateway, and the time of an update to its device,
// against a quiet time of the same run.

import { STRANGERS } from '#test/bench/load/strangers'
import type { Stranger } from '#test/bench/load/strangers'
import { spread } from '#test/bench/load/statistics'
import { Generator } from '#test/bench/rig/load-process'
import type { Rig, Step } from '#test/bench/rig/rig'
import { metricOf } from '#test/bench/rig/subject'
import type { Figure, Row } from './row.ts'
import type { Session } from './session.ts'

/** A small part of what one process applies, so that it is the strangers who are many. */
const UPDATES_PER_SECOND = 1_000
const STRANGERS_PER_SECOND = 3_400
const STRANGER_CONNECTIONS = 64
const WARM_STEPS = 2

const GOAL = { kind: 'at-most', must: 2, aim: 1.3 } as const
const SHARED = { row: 'strangers', unit: '× turn time', goal: GOAL } as const

export const STRANGERS_ROW: Row = {
  name: 'strangers',
  async measure(session) {
    const start = () => session.subjects.product('embedded', 'strangers')
    const plan = { name: 'strangers', start, devices: 'with devices' } as const
    const ending = await session.withRig(plan, (rig) => measured(session, rig))
    const { ran } = ending
    if (ending.kind === 'done')
      return [{ ...ending.result, details: { ran, ...ending.result.details } }]
    return [{ ...SHARED, value: undefined, failure: ending.failure, details: { ran } }]
  },
}

/** Measurements of one step. */
interface Seen {
  readonly turnMs: number
  readonly submissionsPerTurn: number
  readonly device: { readonly p50Ms: number; readonly p99Ms: number }
  /** Answers to strangers, by status. */
  readonly strangers?: Readonly<Record<string, number>>
}

type Run = Readonly<Record<'quiet' | Stranger, Seen>>

async function measured(session: Session, rig: Rig): Promise<Figure> {
  const { runs, say } = session.options
  for (let step = 0; step < WARM_STEPS; step += 1) await quietStep(session, rig)
  const all: Run[] = []
  for (let run = 0; run < runs; run += 1) {
    const quiet = await quietStep(session, rig)
    say(`  strangers: quiet: ${sentenceOf(quiet)}`)
    const flooded: Partial<Record<Stranger, Seen>> = {}
    for (const stranger of STRANGERS) {
      const seen = await floodedStep(session, rig, stranger)
      say(`  strangers: ${stranger}: ${sentenceOf(seen)} ${JSON.stringify(seen.strangers)}`)
      flooded[stranger] = seen
    }
    all.push({ quiet, ...(flooded as Readonly<Record<Stranger, Seen>>) })
  }
  return { ...SHARED, value: spread(all.map(worstOf)), details: { ...detailsOf(all) } }
}

/** The turn under the worst of the floods, against the quiet one. */
const worstOf = ({ quiet, ...flooded }: Run): number =>
  Math.max(...Object.values(flooded).map(({ turnMs }) => turnMs / quiet.turnMs))

const detailsOf = (all: readonly Run[]) => ({
  updatesPerSecond: UPDATES_PER_SECOND,
  strangersPerSecond: STRANGERS_PER_SECOND,
  strangerConnections: STRANGER_CONNECTIONS,
  runs: all,
})

function quietStep(session: Session, rig: Rig): Promise<Seen> {
  return seenIn(rig, () => updates(session, rig))
}

async function floodedStep(session: Session, rig: Rig, stranger: Stranger): Promise<Seen> {
  const { entrances, recipe } = rig.subject
  const ports = entrances.map(({ port }) => port)
  const { token, channels } = recipe
  const crowd = new Generator()
  try {
    const connections = STRANGER_CONNECTIONS
    await crowd.connect({ ports, connections, recipe: { stranger, token, channels } })
    const pace = { kind: 'open', ratePerSecond: STRANGERS_PER_SECOND } as const
    const flood = crowd.load({ pace, durationMs: durationOf(session) })
    const seen = await seenIn(rig, () => updates(session, rig))
    const { accepted, refused, latency } = await flood
    return { ...seen, strangers: { 200: accepted, ...refused, p50Ms: latency.p50Ms } }
  } finally {
    await crowd.stop()
  }
}

const durationOf = ({ options }: Session): number => options.secondsPerStep * 1_000

const updates = (session: Session, rig: Rig): Promise<Step> =>
  rig.step({
    pace: { kind: 'open', ratePerSecond: UPDATES_PER_SECOND },
    durationMs: durationOf(session),
  })

async function seenIn(rig: Rig, work: () => Promise<Step>): Promise<Seen> {
  const before = await turnsOf(rig)
  const { device } = await work()
  const after = await turnsOf(rig)
  const turns = after.turns - before.turns
  const { p50Ms = Number.NaN, p99Ms = Number.NaN } = device?.latency ?? {}
  return {
    turnMs: ((after.seconds - before.seconds) / turns) * 1_000,
    submissionsPerTurn: (after.submissions - before.submissions) / turns,
    device: { p50Ms, p99Ms },
  }
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

const sentenceOf = ({ turnMs, submissionsPerTurn, device }: Seen): string =>
  `a turn of ${submissionsPerTurn.toFixed(1)} takes ${turnMs.toFixed(2)} ms, ` +
  `to device p50 ${device.p50Ms.toFixed(1)} ms, p99 ${device.p99Ms.toFixed(1)} ms`
