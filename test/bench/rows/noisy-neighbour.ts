// The time of an update to its device while another channel is at its bound: so many connections
// send to that one that submissions of it are refused. Quiet and noisy steps alternate.

import { join } from 'node:path'

import { spread } from '#test/bench/load/statistics'
import { startKeyed } from '#test/bench/rig/keyed'
import { Generator } from '#test/bench/rig/load-process'
import type { LoadReport } from '#test/bench/load/messages'
import type { Rig, Step } from '#test/bench/rig/rig'
import type { Figure, Row } from './row.ts'
import type { Session } from './session.ts'

const CHANNELS = 1_000
const THINGS = 10_000
const UPDATES_PER_SECOND = 1_000
/** More than a channel may have in flight, which is 4,096. */
const NOISY_CONNECTIONS = 4_352
/** So many that none has two updates under way: the later one could have no effect. */
const NOISY_THINGS = 100_000
const STEP_RATIO = 2

const SHARED = {
  row: 'noisy-neighbour',
  unit: 'ms to device p99',
  goal: { kind: 'ratio-at-most', must: 3, aim: 2 },
} as const

export const NOISY_NEIGHBOUR_ROW: Row = {
  name: 'noisy-neighbour',
  async measure(session) {
    const keyed = { channels: CHANNELS, things: THINGS, hasDevices: true } as const
    const name = 'noisy-neighbour'
    const directory = join(await session.subjects.scratch(), name)
    const start = () => startKeyed(directory, { ...keyed, name })
    const plan = { name, start, devices: 'with devices' } as const
    const { ran, ...ending } = await session.withRig(plan, (rig) => runsOf(session, rig))
    if (ending.kind === 'failed') {
      return [{ ...SHARED, value: undefined, failure: ending.failure, details: { ran } }]
    }
    return [figureOf(ending.result, ran)]
  },
}

interface Run {
  readonly quietMs: number
  readonly noisyMs: number
  /** What was sent to the noisy channel, and answered: by status. */
  readonly noise: Readonly<Record<string, number>>
}

function figureOf(runs: readonly Run[], ran: object | undefined): Figure {
  const quiet = spread(runs.map(({ quietMs }) => quietMs))
  const ratio = spread(runs.map(({ quietMs, noisyMs }) => noisyMs / quietMs))
  return {
    ...SHARED,
    value: spread(runs.map(({ noisyMs }) => noisyMs)),
    denominator: { id: 'alone', value: quiet, ratio },
    details: { ran, updatesPerSecond: UPDATES_PER_SECOND, runs },
  }
}

async function runsOf({ options }: Session, rig: Rig): Promise<readonly Run[]> {
  const { runs, secondsPerStep, say } = options
  const durationMs = secondsPerStep * STEP_RATIO * 1_000
  const request = {
    pace: { kind: 'open', ratePerSecond: UPDATES_PER_SECOND },
    durationMs,
  } as const
  const crowd = new Generator()
  try {
    await rig.step({ pace: { kind: 'closed' }, durationMs }) // Every Thing is made before.
    const { entrances, recipe } = rig.subject
    const ports = entrances.map(({ port }) => port)
    // The first of the channels: its own quiet updates are refused now and then, and not counted.
    const noisy = { ...recipe, keys: recipe.keys.slice(0, 1), thingCount: NOISY_THINGS }
    await crowd.connect({
      ports,
      connections: NOISY_CONNECTIONS,
      recipe: { ...noisy, isUntimed: true },
    })
    const all: Run[] = []
    for (let run = 0; run < runs; run += 1) {
      const quiet = await rig.step(request)
      let noise: LoadReport | undefined
      const loud = await rig.step(request, async () => {
        noise = await crowd.load({ pace: { kind: 'closed' }, durationMs })
        return noise.accepted
      })
      all.push({
        quietMs: toDeviceMs(quiet),
        noisyMs: toDeviceMs(loud),
        noise: { 200: noise?.accepted ?? 0, ...noise?.refused },
      })
      say(`  noisy-neighbour: ${JSON.stringify(all.at(-1))}`)
    }
    return all
  } finally {
    await crowd.stop()
  }
}

const toDeviceMs = ({ device }: Step): number => device?.latency.p99Ms ?? Number.NaN
