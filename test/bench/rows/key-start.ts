// From a start to an accepted update of each of 10,000 channels, which all send at once by keys.

import { join } from 'node:path'

import { Connection } from '#test/bench/load/connection'
import { spread } from '#test/bench/load/statistics'
import { keysOf } from '#test/bench/rig/channel-keys'
import { startGateway } from '#test/bench/rig/gateway'
import { prepareKeyed } from '#test/bench/rig/keyed'
import type { Server } from '#test/bench/rig/server'
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
  const directory = join(await session.subjects.scratch(), 'key-start')
  const token = await prepareKeyed(directory, { channels: CHANNELS })
  const runs: number[] = []
  for (let run = 0; run < session.options.runs; run += 1) {
    const server = await startGateway(directory, token)
    try {
      runs.push(await sendByAll(server, token))
    } finally {
      await server.stop()
    }
    session.options.say(`  key-start: ${runs.at(-1)?.toFixed(2)} s to ${CHANNELS} updates`)
  }
  return { value: spread(runs), details: { channels: CHANNELS, atOnce: AT_ONCE, runs } }
}

/** Seconds from the first request of any key until each of them had an update accepted. */
async function sendByAll({ port }: Pick<Server, 'port'>, token: string): Promise<number> {
  const requests = keysOf(CHANNELS).map((key) => requestBy(key, token))
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let sent = 0
  let accepted = 0
  const next = (connection: Connection): void => {
    const request = requests[sent]
    if (request === undefined) return
    sent += 1
    connection.send(request)
  }
  const events = {
    answered: (connection: Connection, status: number): void => {
      if (status !== 200) reject(new Error(`a key was answered ${status}`))
      accepted += 1
      if (accepted === CHANNELS) resolve()
      else next(connection)
    },
    ended: (): void => reject(new Error('a connection has ended')),
  }
  const connections = Array.from({ length: AT_ONCE }, () => new Connection(port, events))
  await Promise.all(connections.map((connection) => connection.connected()))
  const startMs = performance.now()
  connections.forEach(next)
  await promise
  for (const connection of connections) connection.close()
  return (performance.now() - startMs) / 1_000
}

function requestBy(key: string, token: string): Buffer {
  const update = { thing_id: 'first', observed_at: Date.now(), attrs: { on: true } }
  const body = JSON.stringify({ password: key, ...update })
  return Buffer.from(
    `POST /thing/update HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
}
