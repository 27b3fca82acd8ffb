// Resident memory of a sole process: with nothing connected, and under full load.

import { join } from 'node:path'

import { spread } from '#test/bench/load/statistics'
import { newToken, startGateway } from '#test/bench/rig/gateway'
import { residentMbOf } from '#test/bench/rig/processes'
import type { Rig } from '#test/bench/rig/rig'
import type { Figure, Row } from './row.ts'
import type { Session } from './session.ts'

const IDLE_MS = 30_000
const LOAD_PER_SECOND = 20_000
const LOAD_STEPS = 6
const SAMPLE_MS = 500

const IDLE = {
  row: 'idle-memory',
  unit: 'MB resident',
  goal: { kind: 'at-most', must: 120, aim: 90 },
} as const
const LOADED = {
  row: 'idle-memory.load',
  unit: `MB resident at ${LOAD_PER_SECOND.toLocaleString('en')}/s`,
  goal: { kind: 'at-most', must: 300, aim: 200 },
} as const

export const IDLE_MEMORY_ROW: Row = {
  name: 'idle-memory',
  measure: async (session) => [await idle(session), await loaded(session)],
}

async function idle(session: Session): Promise<Figure> {
  const residentMb: number[] = []
  for (let run = 0; run < session.options.runs; run += 1) {
    const directory = join(await session.subjects.scratch(), `idle-memory-${run}`)
    const server = await startGateway(directory, newToken())
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
    residentMb.push(residentMbOf(server.pid))
    await server.stop()
    session.options.say(`  idle-memory: ${residentMb.at(-1)?.toFixed(0)} MB`)
  }
  return { ...IDLE, value: spread(residentMb), details: { idleMs: IDLE_MS, database: 'new' } }
}

async function loaded(session: Session): Promise<Figure> {
  const { secondsPerStep, say } = session.options
  const seconds = secondsPerStep * LOAD_STEPS
  const start = () => session.subjects.product('embedded', 'idle-memory')
  const plan = { name: 'idle-memory', start, devices: 'with devices' } as const
  say(`  idle-memory: ${seconds} s at ${LOAD_PER_SECOND}/s`)
  const ending = await session.withRig(plan, (rig) => underLoad(rig, seconds))
  if (ending.kind === 'failed') {
    return { ...LOADED, value: undefined, failure: ending.failure, details: {} }
  }
  const { residentMb, accepted, due } = ending.result
  const details = { ran: ending.ran, seconds, sampledEveryMs: SAMPLE_MS, residentMb }
  if (accepted < due) {
    const failure = `the load was not constant: ${accepted} of ${due}`
    return { ...LOADED, value: undefined, failure, details }
  }
  // The most that it took: so much memory must be there.
  return { ...LOADED, value: spread([Math.max(...residentMb)]), details }
}

interface UnderLoad {
  readonly residentMb: readonly number[]
  readonly accepted: number
  readonly due: number
}

async function underLoad(rig: Rig, seconds: number): Promise<UnderLoad> {
  const residentMb: number[] = []
  const timer = setInterval(() => residentMb.push(Math.round(rig.residentMb())), SAMPLE_MS)
  try {
    const pace = { kind: 'open', ratePerSecond: LOAD_PER_SECOND } as const
    const { load } = await rig.step({ pace, durationMs: seconds * 1_000 })
    return { residentMb, accepted: load.accepted, due: load.due }
  } finally {
    clearInterval(timer)
  }
}
