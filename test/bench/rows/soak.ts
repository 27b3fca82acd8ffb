// Half an hour at half of the knee: rate, latency, memory and disk in each part of it. It is
// measured only when it is asked for by its name.

import { join } from 'node:path'

import { spread } from '#test/bench/load/statistics'
import { diskMbOf } from '#test/bench/rig/open-doors'
import type { Rig } from '#test/bench/rig/rig'
import { growthPercent } from './memory.ts'
import { residentDuring } from './resident.ts'
import type { Figure, Row } from './row.ts'
import type { Session } from './session.ts'

/** Parts of a minute a step's second: five minutes where a step has its five seconds. */
const PARTS = 6
const PART_RATIO = 60
const SAMPLE_MS = 1_000

const SHARED = {
  row: 'soak',
  unit: '% more memory',
  goal: { kind: 'at-most', must: 10, aim: 5 },
} as const

export const SOAK_ROW: Row = {
  name: 'soak',
  async measure(session) {
    const { knee, failure, ran } = await session.measure(session.endToEnd('embedded'))
    if (knee === undefined) {
      const why = failure ?? 'no rate was sustained'
      return [{ ...SHARED, value: undefined, failure: why, details: { ran } }]
    }
    return [await soaked(session, Math.round(knee.median / 2))]
  },
}

interface Part {
  readonly acceptedPerSecond: number
  readonly accepted: number
  readonly due: number
  readonly acceptP99Ms: number
  readonly deviceP99Ms: number | undefined
  readonly residentMb: readonly number[]
  readonly diskMb: number
}

async function soaked(session: Session, ratePerSecond: number): Promise<Figure> {
  const name = 'soak'
  const directory = join(await session.subjects.scratch(), name)
  const start = () => session.subjects.product('embedded', name)
  const plan = { name, start, devices: 'with devices' } as const
  const ending = await session.withRig(plan, (rig) =>
    partsOf(session, rig, { ratePerSecond, directory }),
  )
  const shared = { ratePerSecond, ran: ending.ran }
  if (ending.kind === 'failed') {
    return { ...SHARED, value: undefined, failure: ending.failure, details: shared }
  }
  const parts = ending.result
  const growth = growthPercent(parts.flatMap(({ residentMb }) => residentMb))
  const details = parts.map(({ residentMb, ...part }) => ({
    ...part,
    residentMb: spread(residentMb),
  }))
  return { ...SHARED, value: spread([growth]), details: { ...shared, parts: details } }
}

interface Soak {
  readonly ratePerSecond: number
  /** The folder with the subject's files. */
  readonly directory: string
}

async function partsOf(
  { options }: Session,
  rig: Rig,
  { ratePerSecond, directory }: Soak,
): Promise<readonly Part[]> {
  const durationMs = options.secondsPerStep * PART_RATIO * 1_000
  const pace = { kind: 'open', ratePerSecond } as const
  const parts: Part[] = []
  for (let part = 0; part < PARTS; part += 1) {
    const work = () => rig.step({ pace, durationMs })
    const { result, residentMb } = await residentDuring(rig, work, SAMPLE_MS)
    const { load, device } = result
    const seen: Part = {
      acceptedPerSecond: Math.round(load.acceptedPerSecond),
      accepted: load.accepted,
      due: load.due,
      acceptP99Ms: load.latency.p99Ms,
      deviceP99Ms: device?.latency.p99Ms,
      residentMb,
      diskMb: await diskMbOf(directory),
    }
    parts.push(seen)
    options.say(
      `  soak: ${seen.acceptedPerSecond}/s, ${seen.accepted} of ${seen.due}, p99 ` +
        `${seen.acceptP99Ms.toFixed(1)} ms, to device ${seen.deviceP99Ms?.toFixed(1)} ms, ` +
        `${Math.max(...residentMb).toFixed(0)} MB, ${seen.diskMb.toFixed(0)} MB on disk`,
    )
  }
  return parts
}
