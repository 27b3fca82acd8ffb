// The cost of an update when there is more of something, against less of it: Things, lanes,
// channels. Both at full speed in a closed loop, their steps in turn.

import { join } from 'node:path'

import { spread } from '#test/bench/load/statistics'
import { startKeyed } from '#test/bench/rig/keyed'
import type { Keyed } from '#test/bench/rig/keyed'
import type { Rig, Step } from '#test/bench/rig/rig'
import type { Denominator, Figure, Row } from './row.ts'
import type { Plan, Session } from './session.ts'
import { residentDuring } from './resident.ts'

/** A step of five seconds becomes one of ten: caches and heaps turn over within it. */
const STEP_RATIO = 2
const WARM_RATIO = 4
const WARM_MAX = 4

interface Growth {
  readonly name: string
  readonly less: Omit<Keyed, 'name'> & { readonly id: Denominator['id'] }
  readonly more: Omit<Keyed, 'name'>
  readonly cost: Figure['goal']
  /** The goal of the most memory that the process with more took; absent: no figure. */
  readonly memory?: Figure['goal']
}

const COST = { kind: 'ratio-at-most', must: 1.3, aim: 1.15 } as const

const GROWTHS: readonly Growth[] = [
  {
    name: 'many-things',
    less: { id: '1,000 things', channels: 1_000, things: 1_000 },
    more: { channels: 1_000, things: 1_000_000 },
    cost: COST,
    memory: { kind: 'at-most', must: 420, aim: 350 },
  },
  {
    name: 'lanes',
    less: { id: '1 lane', channels: 1_000, things: 10_000 },
    more: { channels: 1_000, things: 10_000, settings: { SERVICE_LANES: '64' } },
    cost: COST,
  },
  {
    name: 'channels',
    less: { id: '1,000 channels', channels: 1_000, things: 100_000 },
    more: { channels: 100_000, things: 100_000 },
    cost: { kind: 'ratio-at-most', must: 1.15, aim: 1.05 },
  },
]

export const GROWTH_ROWS: readonly Row[] = GROWTHS.map((growth) => ({
  name: growth.name,
  measure: (session) => measured(session, growth),
}))

interface Cost {
  readonly micros: number
  readonly step: Step
  readonly residentMb: number
}

async function measured(session: Session, growth: Growth): Promise<readonly Figure[]> {
  const { name, cost, memory } = growth
  const { id, ...less } = growth.less
  const plans = [
    planOf(session, { ...less, name: `${name}-less` }),
    planOf(session, { ...growth.more, name: `${name}-more` }),
  ]
  const ending = await session.withRigs(plans, (rigs) => costsOf(session, rigs))
  const shared = { row: name, unit: 'µs of CPU', goal: cost } as const
  if (ending.kind === 'failed') {
    return [{ ...shared, value: undefined, failure: ending.failure, details: {} }]
  }
  const { less: below, more } = ending.result
  const microsOf = (costs: readonly Cost[]) => costs.map(({ micros }) => micros)
  const ratios = more.map(({ micros }, run) => micros / (below[run]?.micros ?? Number.NaN))
  const detailsOf = (costs: readonly Cost[]) =>
    costs.map(({ micros, residentMb, step }) => ({
      micros,
      residentMb,
      acceptedPerSecond: Math.round(step.load.acceptedPerSecond),
    }))
  const figure: Figure = {
    ...shared,
    value: spread(microsOf(more)),
    denominator: { id, value: spread(microsOf(below)), ratio: spread(ratios) },
    details: { less, more: growth.more, runs: { less: detailsOf(below), more: detailsOf(more) } },
  }
  if (memory === undefined) return [figure]
  const most = Math.max(...more.map(({ residentMb }) => residentMb))
  const [row, unit] = [`${name}.memory`, 'MB resident']
  return [figure, { row, unit, value: spread([most]), goal: memory, details: {} }]
}

const planOf = (session: Session, keyed: Keyed): Plan => ({
  name: keyed.name,
  start: async () => startKeyed(join(await session.subjects.scratch(), keyed.name), keyed),
  devices: 'without devices',
})

async function costsOf(
  session: Session,
  rigs: readonly Rig[],
): Promise<{ readonly less: readonly Cost[]; readonly more: readonly Cost[] }> {
  const [less, more] = rigs
  if (less === undefined || more === undefined) throw new Error('there is nothing to compare')
  const { runs, secondsPerStep } = session.options
  const durationMs = secondsPerStep * STEP_RATIO * 1_000
  for (const rig of rigs) await warm(rig, secondsPerStep * WARM_RATIO * 1_000)
  const costs = { less: [] as Cost[], more: [] as Cost[] }
  for (let run = 0; run < runs; run += 1) {
    costs.less.push(await costOf(session, less, durationMs))
    costs.more.push(await costOf(session, more, durationMs))
  }
  return costs
}

/** Until every channel was used: the first use of a key is read and noted. */
async function warm(rig: Rig, durationMs: number): Promise<void> {
  const { keys } = rig.subject.recipe
  let accepted = 0
  for (let times = 0; times === 0 || (accepted < keys.length && times < WARM_MAX); times += 1) {
    accepted += (await closed(rig, durationMs)).load.accepted
  }
}

const closed = (rig: Rig, durationMs: number): Promise<Step> =>
  rig.step({ pace: { kind: 'closed' }, durationMs })

async function costOf({ options }: Session, rig: Rig, durationMs: number): Promise<Cost> {
  const { result: step, residentMb } = await residentDuring(rig, () => closed(rig, durationMs))
  const micros = (step.cpuSeconds.server / step.load.accepted) * 1e6
  const most = Math.max(...residentMb)
  options.say(
    `  ${rig.subject.name}: ${micros.toFixed(1)} µs of CPU an update at ` +
      `${Math.round(step.load.acceptedPerSecond).toLocaleString('en')}/s, ${most.toFixed(0)} MB`,
  )
  return { micros, step, residentMb: most }
}
