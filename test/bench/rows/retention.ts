// The rate while expired entries and records are removed as fast as new ones come, against the rate
// before any expire: one closed loop with the shortest retentions.

import { join } from 'node:path'

import { spread } from '#test/bench/load/statistics'
import { startKeyed } from '#test/bench/rig/keyed'
import type { Rig } from '#test/bench/rig/rig'
import { metricOf } from '#test/bench/rig/subject'
import type { Figure, Row } from './row.ts'
import type { Session } from './session.ts'

const SETTINGS = { SERVICE_STATUS_RETENTION: '1m', SERVICE_HISTORY_RETENTION: '1m' }
/** Windows of four steps: removal begins every 30 s, so it is under way in most of the last one. */
const WINDOW_STEPS = 4
const WARM_MS = 10_000
/** From the start until what came first has expired, and the next removal has begun. */
const EXPIRING_MS = 95_000
/** Each takes two minutes. */
const RUNS_MAX = 2

const SHARED = {
  row: 'retention',
  unit: 'updates/s',
  goal: { kind: 'ratio-at-least', must: 0.9, aim: 0.97 },
} as const

export const RETENTION_ROW: Row = {
  name: 'retention',
  async measure(session) {
    const runs: Run[] = []
    for (let run = 0; run < Math.min(session.options.runs, RUNS_MAX); run += 1) {
      const name = `retention-${run}`
      const directory = join(await session.subjects.scratch(), name)
      const keyed = { name, channels: 1_000, things: 10_000, settings: SETTINGS }
      // What expires cannot be counted.
      const count = () => Promise.resolve(undefined)
      const start = async () => ({ ...(await startKeyed(directory, keyed)), count })
      const plan = { name, start, devices: 'without devices' } as const
      const { ran, ...ending } = await session.withRig(plan, (rig) => measured(session, rig))
      if (ending.kind === 'failed') {
        return [{ ...SHARED, value: undefined, failure: ending.failure, details: { ran } }]
      }
      runs.push(ending.result)
    }
    return [figureOf(runs)]
  },
}

interface Run {
  readonly before: number
  readonly removing: number
  /** Rows, records and blocks that were removed in the last window. */
  readonly removed: number
}

function figureOf(runs: readonly Run[]): Figure {
  const before = spread(runs.map((run) => run.before))
  const ratio = spread(runs.map((run) => run.removing / run.before))
  return {
    ...SHARED,
    value: spread(runs.map(({ removing }) => removing)),
    denominator: { id: 'before any expire', value: before, ratio },
    details: { settings: SETTINGS, runs },
  }
}

async function measured({ options }: Session, rig: Rig): Promise<Run> {
  const startMs = performance.now()
  const load = async (durationMs: number): Promise<number> => {
    const request = { pace: { kind: 'closed' }, durationMs } as const
    return (await rig.step(request)).load.acceptedPerSecond
  }
  const windowMs = options.secondsPerStep * WINDOW_STEPS * 1_000
  await load(WARM_MS)
  const before = await load(windowMs)
  await load(Math.max(1_000, EXPIRING_MS - (performance.now() - startMs)))
  const removedBefore = await removedBy(rig)
  const removing = await load(windowMs)
  const removed = (await removedBy(rig)) - removedBefore
  options.say(`  retention: ${Math.round(before)}/s, then ${Math.round(removing)}/s`)
  return { before, removing, removed }
}

async function removedBy({ subject }: Rig): Promise<number> {
  const [server] = subject.servers
  if (server === undefined) throw new Error('the subject has no server')
  const name = 'heliograph_retention_removed_total'
  return metricOf(server, { token: subject.recipe.token, name })
}
