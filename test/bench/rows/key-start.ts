// From a start to an accepted update of each of 10,000 channels, which all send at once by keys.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import { spread } from '#test/bench/load/statistics'
import { Caller } from '#test/bench/rig/caller'
import { keyedChannels } from '#test/bench/rig/channel-keys'
import { addKeyedChannels } from '#test/bench/rig/database'
import { databaseIn, newToken, startGateway } from '#test/bench/rig/gateway'
import type { Figure, Row } from './row.ts'
import type { Session } from './session.ts'

const CHANNELS = 10_000
/** Requests under way: fewer would measure the client's round trips. */
const AT_ONCE = 256
const GOAL = { kind: 'at-most', must: 2, aim: 1 } as const

export const KEY_START_ROW: Row = {
  name: 'key-start',
  async measure(session) {
    const shared = { row: 'key-start', unit: 's', goal: GOAL } as const
    try {
      return [{ ...shared, ...(await measured(session)) }]
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error)
      return [{ ...shared, value: undefined, failure, details: {} }]
    }
  },
}

async function measured(session: Session): Promise<Pick<Figure, 'value' | 'details'>> {
  const token = newToken()
  const directory = join(await session.subjects.scratch(), 'key-start')
  await mkdir(directory, { recursive: true })
  await (await startGateway(directory, token)).stop() // It makes the tables.
  const channels = await addKeyedChannels(databaseIn(directory), CHANNELS)
  const runs: number[] = []
  for (let run = 0; run < session.options.runs; run += 1) {
    const server = await startGateway(directory, token)
    try {
      runs.push(await sendByAll(new Caller(server, token)))
    } finally {
      await server.stop()
    }
    session.options.say(`  key-start: ${runs.at(-1)?.toFixed(2)} s to ${CHANNELS} updates`)
  }
  return { value: spread(runs), details: { channels, atOnce: AT_ONCE, runs } }
}

/** Seconds from the first request of any key until each of them had an update accepted. */
async function sendByAll(caller: Caller): Promise<number> {
  const keys = keyedChannels(CHANNELS).values()
  const startMs = performance.now()
  const send = async (): Promise<void> => {
    for (const { key } of keys) {
      const update = { thing_id: 'first', observed_at: Date.now(), attrs: { on: true } }
      await caller.post('/thing/update', { password: key, ...update })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, send))
  return (performance.now() - startMs) / 1_000
}
