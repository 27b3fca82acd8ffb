// An export of millions of updates of one channel by the command line, in each format: what the
// command takes of memory, and what the gateway takes beside what it had before.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import { FORMATS } from '#src/cli/export/encoders'
import { spread } from '#test/bench/load/statistics'
import { keyedChannels } from '#test/bench/rig/channel-keys'
import { addHistory } from '#test/bench/rig/database'
import { databaseIn, startGateway } from '#test/bench/rig/gateway'
import { prepareKeyed } from '#test/bench/rig/keyed'
import { residentMbOf } from '#test/bench/rig/processes'
import type { Server } from '#test/bench/rig/server'
import type { Row } from './row.ts'

const THINGS = 10_000
/** HELIOGRAPH_EXPORTED sets another number. */
const ENTRIES = Number(process.env['HELIOGRAPH_EXPORTED'] ?? 10_000_000)
const LOOK_EVERY_MS = 50
const PROGRAM = fileURLToPath(new URL('../../../dist/src/cli/heliograph.js', import.meta.url))
const GOALS = {
  command: { kind: 'at-most', must: 100, aim: 100 },
  gateway: { kind: 'at-most', must: 100, aim: 50 },
} as const

interface Measured {
  readonly format: string
  readonly seconds: number
  /** The most of the command, in MB. */
  readonly command: number
  /** The most of the gateway beyond what it had before, in MB. */
  readonly gateway: number
}

export const EXPORT_ROW: Row = {
  name: 'export',
  async measure(session) {
    const runs: Measured[] = []
    for await (const directory of session.directories('export')) {
      const token = await prepareKeyed(directory, { channels: 1, stored: THINGS })
      await addHistory(databaseIn(directory), ENTRIES)
      const server = await startGateway(directory, token)
      try {
        for (const format of FORMATS) {
          runs.push(await exported(server, token, format))
          session.options.say(`  export: ${JSON.stringify(runs.at(-1))}`)
        }
      } finally {
        await server.stop()
      }
    }
    const shared = { unit: 'MB, the most', details: { entries: ENTRIES, things: THINGS, runs } }
    const command = spread(runs.map((run) => run.command))
    const gateway = spread(runs.map((run) => run.gateway))
    return [
      { ...shared, row: 'export', value: command, goal: GOALS.command },
      { ...shared, row: 'export.gateway', value: gateway, goal: GOALS.gateway },
    ]
  },
}

async function exported(server: Server, token: string, format: string): Promise<Measured> {
  const [channel] = keyedChannels(1)
  const before = residentMbOf(server.pid)
  const startMs = performance.now()
  const words = ['export', '--what', 'updates', '--format', format, '--output', '/dev/null']
  const child = spawn(process.execPath, [...process.execArgv, PROGRAM, ...words], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      HELIOGRAPH_URL: `http://127.0.0.1:${server.port}`,
      HELIOGRAPH_TOKEN: token,
      HELIOGRAPH_CHANNEL: channel?.channelId,
      HELIOGRAPH_PASSWORD: channel?.key,
    },
  })
  let [command, gateway] = [0, 0]
  const looking = setInterval(() => {
    gateway = Math.max(gateway, residentMbOf(server.pid) - before)
    const mb = child.exitCode === null && child.pid ? residentMbOf(child.pid) : NaN
    if (mb > command) command = mb
  }, LOOK_EVERY_MS)
  const [exitCode] = (await once(child, 'exit')) as [number]
  clearInterval(looking)
  if (exitCode !== 0) throw new Error(`the export ended with ${exitCode}`)
  const seconds = (performance.now() - startMs) / 1_000
  const rounded = (value: number): number => Math.round(value * 10) / 10
  return {
    format,
    seconds: rounded(seconds),
    command: rounded(command),
    gateway: rounded(gateway),
  }
}
