// Resident memory of a sole process: with nothing connected, and under full load.

import { spread } from '#test/bench/load/statistics'
import { newToken, startGateway } from '#test/bench/rig/gateway'
import { residentMbOf } from '#test/bench/rig/processes'
import type { Rig } from '#test/bench/rig/rig'
import { residentDuring } from './resident.ts'
import type { Figure, Row } from './row.ts'
import type { Plan, Session } from './session.ts'

const IDLE_MS = 30_000
const LOAD_PER_SECOND = 20_000
/** On a machine that does not keep it, the rate is lowered by this, down to the least. */
const RATE_RATIO = 0.8
const RATE_MIN = 2_000
const LOAD_STEPS = 6

const IDLE = {
  row: 'idle-memory',
  unit: 'MB resident',
  goal: { kind: 'at-most', must: 120, aim: 90 },
} as const
const LOADED = {
  row: 'idle-memory.load',
  goal: { kind: 'at-most', must: 300, aim: 200 },
} as const

const unitAt = (ratePerSecond: number): string =>
  `MB resident at ${ratePerSecond.toLocaleString('en')}/s`

export const IDLE_MEMORY_ROW: Row = {
  name: 'idle-memory',
  measure: async (session) => [await idle(session), await loaded(session)],
}

async function idle(session: Session): Promise<Figure> {
  const residentMb: number[] = []
  for await (const directory of session.directories('idle-memory')) {
    const server = await startGateway(directory, newToken())
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
    residentMb.push(residentMbOf(server.pid))
    await server.stop()
    session.options.say(`  idle-memory: ${residentMb.at(-1)?.toFixed(0)} MB`)
  }
  return { ...IDLE, value: spread(residentMb), details: { idleMs: IDLE_MS, database: 'new' } }
}

/**
 * At the full rate, or at the highest below it that this machine keeps: a machine that generates
 * the load, receives it and serves it may be too slow for the full one, and memory at a load that
 * grows behind is another figure.
 */
async function loaded(session: Session): Promise<Figure> {
  const seconds = session.options.secondsPerStep * LOAD_STEPS
  const tried: string[] = []
  for (let rate = LOAD_PER_SECOND; rate >= RATE_MIN; rate = Math.round(rate * RATE_RATIO)) {
    session.options.say(`  idle-memory: ${seconds} s at ${rate}/s`)
    const { ran, ...ending } = await session.withRig(planOf(session, rate), (rig) =>
      underLoad(rig, rate, seconds),
    )
    const details = { ran, seconds, ratePerSecond: rate, tried }
    if (ending.kind === 'failed') return unmeasured(ending.failure, details)
    const { residentMb, accepted, due } = ending.result
    // The most that it took: so much memory must be there.
    const value = spread([Math.max(...residentMb)])
    const unit = unitAt(rate)
    if (accepted === due) return { ...LOADED, unit, value, details: { ...details, residentMb } }
    tried.push(`${rate}/s: ${accepted} of ${due}`)
  }
  return unmeasured(`no constant load: ${tried.join(', ')}`, {})
}

const planOf = ({ subjects }: Session, ratePerSecond: number): Plan => ({
  name: 'idle-memory',
  start: () => subjects.product('embedded', `idle-memory-at-${ratePerSecond}`),
  devices: 'with devices',
})

const unmeasured = (failure: string, details: Figure['details']): Figure => ({
  ...LOADED,
  unit: unitAt(LOAD_PER_SECOND),
  value: undefined,
  failure,
  details,
})

interface UnderLoad {
  readonly residentMb: readonly number[]
  readonly accepted: number
  readonly due: number
}

async function underLoad(rig: Rig, ratePerSecond: number, seconds: number): Promise<UnderLoad> {
  const pace = { kind: 'open', ratePerSecond } as const
  const work = () => rig.step({ pace, durationMs: seconds * 1_000 })
  const { result, residentMb } = await residentDuring(rig, work)
  const { accepted, due } = result.load
  return { residentMb: residentMb.map(Math.round), accepted, due }
}
