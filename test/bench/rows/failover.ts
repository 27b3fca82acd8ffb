// Kills a node of a cluster under load: measures the time until each of its lanes is applied
// elsewhere, and checks that everything answered 200 is there once.

import { join } from 'node:path'

import { spread } from '#test/bench/load/statistics'
import { killUnderLoad, openFailover } from '#test/bench/rig/failover'
import type { Failover, Killed } from '#test/bench/rig/failover'
import type { Figure, Row } from './row.ts'
import type { Session } from './session.ts'

const GOAL = { kind: 'at-most', must: 5, aim: 2 } as const
const SHARED = { row: 'failover', unit: 's', goal: GOAL } as const

export const FAILOVER_ROW: Row = {
  name: 'failover',
  async measure(session) {
    let failover: Failover | undefined
    try {
      failover = await openFailover(join(await session.subjects.scratch(), 'failover'))
      return [await measured(session, failover)]
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error)
      return [{ ...SHARED, value: undefined, failure, details: {} }]
    } finally {
      await failover?.close()
    }
  },
}

async function measured(session: Session, failover: Failover): Promise<Figure> {
  const { runs, say } = session.options
  const all: Killed[] = []
  for (let run = 0; run < runs; run += 1) {
    const killed = await killUnderLoad(failover, run)
    say(
      `  failover: ${killed.lanes} lanes served elsewhere after ${killed.seconds.toFixed(2)} s; ` +
        `${killed.accepted} answered 200, all applied once`,
    )
    all.push(killed)
  }
  const value = spread(all.map(({ seconds }) => seconds))
  return { ...SHARED, value, details: { ran: failover.ran, runs: all } }
}
