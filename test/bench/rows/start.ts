// From the start of the process to the first accepted request, with a million things in the database.

import { join } from 'node:path'

import { CHANNEL_COUNT } from '#test/bench/load/payload'
import { spread } from '#test/bench/load/statistics'
import { Caller } from '#test/bench/rig/caller'
import { keysOf } from '#test/bench/rig/channel-keys'
import { startGateway } from '#test/bench/rig/gateway'
import { prepareKeyed } from '#test/bench/rig/keyed'
import type { Server } from '#test/bench/rig/server'
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

async function measured({ subjects, options }: Session): Promise<Figure> {
  const directory = join(await subjects.scratch(), 'start')
  const token = await prepareKeyed(directory, { channels: CHANNEL_COUNT, stored: STORED_THINGS })
  options.say(`  start: ${STORED_THINGS} things stored`)
  const seconds: number[] = []
  for (let run = 0; run < options.runs; run += 1) {
    const taken = await startOnce(directory, token)
    options.say(`  start: ${taken.toFixed(2)} s to the first accepted request`)
    seconds.push(taken)
  }
  const details = { storedThings: STORED_THINGS, pageCache: 'warm', runs: seconds }
  return { row: 'start', unit: 's', value: spread(seconds), goal: GOAL, details }
}

async function startOnce(directory: string, token: string): Promise<number> {
  const startMs = performance.now()
  const server = await startGateway(directory, token)
  try {
    await untilAccepted(server, token, startMs + FIRST_REQUEST_LIMIT_MS)
    return (performance.now() - startMs) / 1_000
  } finally {
    await server.stop()
  }
}

/** Submits one update as the first request of a client would be, until it is accepted. */
async function untilAccepted(server: Server, token: string, untilMs: number): Promise<void> {
  const [key = ''] = keysOf(1)
  const caller = new Caller(server, token)
  for (;;) {
    // Not ready yet: it is asked again, within the limit.
    const opId = await caller.submit(key).catch(() => undefined)
    if (opId !== undefined) return
    if (performance.now() > untilMs) throw new Error('nothing is accepted')
  }
}
