// Measures how much processor time a world takes in which nothing goes wrong.

import { loadSchema } from './schema.ts'
import { calmSwarm } from './swarm.ts'
import { World } from './world.ts'

const RUNS = 6
const NODES = 3
const PER_SECOND = 50
const VIRTUAL_S = 100
const BEGIN_MS_MAX = 60_000

const usedS = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/** Returns a line with the least processor time of several runs: the first ones compile the code. */
export async function fastest(): Promise<string> {
  const tables = await loadSchema()
  const runs: number[] = []
  for (let run = 0; run < RUNS; run += 1) {
    const world = new World({ seed: run, swarm: calmSwarm(NODES, PER_SECOND), tables })
    try {
      if (!(await world.begin(BEGIN_MS_MAX))) throw new Error('the gateways do not start')
      const fromS = usedS()
      await world.fail(VIRTUAL_S * 1_000)
      runs.push(usedS() - fromS)
    } finally {
      world.close()
    }
  }
  const what = `${VIRTUAL_S} virtual seconds of ${NODES} nodes with ${PER_SECOND} submissions a second`
  const all = runs.map((seconds) => seconds.toFixed(2)).join(' ')
  return `${what}: ${Math.min(...runs).toFixed(2)} s of a core (${all})`
}
