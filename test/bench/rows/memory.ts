// Memory under a constant load, for as long as it takes to see it grow: five minutes where a step
// has its five seconds.

import { spread } from '#test/bench/load/statistics'
import { cpuMicrosOf } from './measured.ts'
import { residentDuring } from './resident.ts'
import type { Figure, Row } from './row.ts'
import type { Session } from './session.ts'

const STEPS = 60
const SAMPLE_MS = 1_000
/** The first fifth fills caches and heaps and counts for nothing. */
const FIFTHS = { before: 1, after: 4 } as const

const GOAL = { kind: 'at-most', must: 10, aim: 5 } as const
const SHARED = { row: 'memory', unit: '% growth', goal: GOAL } as const

export const MEMORY_ROW: Row = {
  name: 'memory',
  async measure(session) {
    const { knee, failure, ran } = await session.measure(session.endToEnd('embedded'))
    if (knee === undefined) {
      const why = failure ?? 'no rate was sustained'
      return [{ ...SHARED, value: undefined, failure: why, details: { ran } }]
    }
    return [await measured(session, Math.round(knee.median / 2))]
  },
}

async function measured(session: Session, ratePerSecond: number): Promise<Figure> {
  const { secondsPerStep, say } = session.options
  const seconds = secondsPerStep * STEPS
  const start = () => session.subjects.product('embedded', 'memory')
  const plan = { name: 'memory', start, devices: 'with devices' } as const
  const ending = await session.withRig(plan, async (rig) => {
    say(`  memory: ${seconds} s at ${ratePerSecond}/s, half of the knee`)
    const pace = { kind: 'open', ratePerSecond } as const
    const work = () => rig.step({ pace, durationMs: seconds * 1_000 })
    return residentDuring(rig, work, SAMPLE_MS)
  })
  const load = { ratePerSecond, seconds, sampledEveryMs: SAMPLE_MS, ran: ending.ran }
  if (ending.kind === 'failed') {
    return { ...SHARED, value: undefined, failure: ending.failure, details: load }
  }
  const { result: step, residentMb } = ending.result
  const growth = growthPercent(residentMb)
  const { accepted, due } = step.load
  return {
    ...SHARED,
    value: accepted === due ? spread([growth]) : undefined,
    details: {
      ...load,
      runs: 1,
      meanMbByFifth: fifthsOf(residentMb).map(meanOf).map(Math.round),
      residentMb: spread(residentMb),
      acceptP99Ms: step.load.latency.p99Ms,
      deviceP99Ms: step.device?.latency.p99Ms,
      accepted,
      // A slow moment in five minutes is told and not held against the memory.
      beyondLimits: step.reasons,
      cpuMicrosPerSubmission: cpuMicrosOf([step]),
    },
    ...(accepted !== due && { failure: `the load was not constant: ${accepted} of ${due}` }),
  }
}

/** By how much the mean of the last fifth is above the mean of the second one. */
export function growthPercent(samples: readonly number[]): number {
  const fifths = fifthsOf(samples).map(meanOf)
  const before = fifths[FIFTHS.before] ?? Number.NaN
  const after = fifths[FIFTHS.after] ?? Number.NaN
  return (after / before - 1) * 100
}

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/** Five parts of as even a length as the number of samples allows. */
function fifthsOf(samples: readonly number[]): readonly (readonly number[])[] {
  const edge = (part: number): number => Math.round((part * samples.length) / 5)
  return Array.from({ length: 5 }, (_, part) => samples.slice(edge(part), edge(part + 1)))
}
