// What one node of a cluster accepts in a closed loop, over few connections and many: each answer
// waits for the disk of NATS, and each turn for that of the database.

import { join } from 'node:path'

import { CHANNEL_COUNT } from '#test/bench/load/payload'
import { spread } from '#test/bench/load/statistics'
import { startClusterSubject } from '#test/bench/rig/cluster'
import type { Rig } from '#test/bench/rig/rig'
import type { Figure, Row } from './row.ts'
import type { Session } from './session.ts'
import { warmRate } from './warm.ts'

/** Room for two nodes: each append of a lane is a message that NATS syncs by itself. */
const LANES = 4
const LOADS = [
  { connections: 64, must: 14_000, aim: 18_000 },
  { connections: 256, must: 24_000, aim: 30_000 },
] as const

export const ONE_NODE_ROW: Row = {
  name: 'one-node',
  async measure(session) {
    const figures: Figure[] = []
    for (const load of LOADS) figures.push(await figureOf(session, load))
    return figures
  },
}

async function figureOf(session: Session, load: (typeof LOADS)[number]): Promise<Figure> {
  const { connections, must, aim } = load
  const name = `one-node.${connections}`
  const directory = join(await session.subjects.scratch(), name)
  const clustered = { name, channels: CHANNEL_COUNT, layout: 'one', lanes: LANES } as const
  const start = () => startClusterSubject(directory, clustered)
  const plan = { name, start, devices: 'without devices', connections } as const
  const { ran, ...ending } = await session.withRig(plan, (rig) => ratesOf(session, rig))
  const shared = { row: name, unit: 'updates/s', goal: { kind: 'at-least', must, aim } } as const
  if (ending.kind === 'failed') {
    return { ...shared, value: undefined, failure: ending.failure, details: { ran } }
  }
  const rates = ending.result
  return { ...shared, value: spread(rates), details: { ran, rates } }
}

async function ratesOf({ options }: Session, rig: Rig): Promise<readonly number[]> {
  const { runs, secondsPerStep, say } = options
  const durationMs = secondsPerStep * 1_000
  const step = async (): Promise<number> => {
    const { load, cpuSeconds } = await rig.step({ pace: { kind: 'closed' }, durationMs })
    const { acceptedPerSecond } = load
    const took = `p50 ${load.latency.p50Ms.toFixed(1)} ms, s of CPU ${JSON.stringify(cpuSeconds)}`
    say(`  ${rig.subject.name}: ${Math.round(acceptedPerSecond).toLocaleString('en')}/s, ${took}`)
    return acceptedPerSecond
  }
  await warmRate(step)
  const rates: number[] = []
  for (let run = 0; run < runs; run += 1) rates.push(await step())
  return rates
}
