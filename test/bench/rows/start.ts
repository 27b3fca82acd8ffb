// From the start of the process to the first accepted request, with a million things in the database.

import { cp } from 'node:fs/promises'
import { join } from 'node:path'

import { spread } from '#test/bench/load/statistics'
import { multiplyThings } from '#test/bench/rig/database'
import { databaseIn, startGateway, submitOnce } from '#test/bench/rig/gateway'
import type { Figure, Row } from './row.ts'
import type { Session } from './session.ts'

const STORED_THINGS = 1_000_000
const FIRST_REQUEST_LIMIT_MS = 30_000

const GOAL = { kind: 'at-most', must: 3, aim: 1 } as const

export const START_ROW: Row = {
  name: 'start',
  async measure(session) {
    try {
      return [await measured(session)]
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error)
      return [{ row: 'start', unit: 's', value: undefined, failure, goal: GOAL, details: {} }]
    }
  },
}

async function measured(session: Session): Promise<Figure> {
  const { directory, filled } = await fill(session)
  const seconds: number[] = []
  for (let run = 0; run < session.options.runs; run += 1) {
    seconds.push(await startOnce(session, directory))
  }
  const details = { ...filled, pageCache: 'warm', runs: seconds }
  return { row: 'start', unit: 's', value: spread(seconds), goal: GOAL, details }
}

/** A database made by the product's own migrations and API, its things multiplied by bulk SQL. */
async function fill(
  session: Session,
): Promise<{ directory: string; filled: Readonly<Record<string, number>> }> {
  const prepared = await session.subjects.prepared('embedded')
  const directory = join(await session.subjects.scratch(), 'start')
  await cp(prepared.directory, directory, { recursive: true })
  const startMs = performance.now()
  const storedThings = await multiplyThings(databaseIn(directory), STORED_THINGS)
  const fillSeconds = (performance.now() - startMs) / 1_000
  session.options.say(`  start: ${storedThings} things stored in ${fillSeconds.toFixed(1)} s`)
  return { directory, filled: { storedThings, fillSeconds } }
}

async function startOnce(session: Session, directory: string): Promise<number> {
  const prepared = await session.subjects.prepared('embedded')
  const startMs = performance.now()
  const server = await startGateway(directory, prepared.token)
  while (!(await submitOnce(server, prepared))) {
    if (performance.now() - startMs > FIRST_REQUEST_LIMIT_MS) throw new Error('nothing is accepted')
  }
  const seconds = (performance.now() - startMs) / 1_000
  await server.stop()
  session.options.say(`  start: ${seconds.toFixed(2)} s to the first accepted request`)
  return seconds
}
