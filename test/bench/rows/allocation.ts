// Bytes that an update allocates under load, by thread: what the garbage collector has to do follows
// from them, and they do not depend on the machine as times do.

import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { CHANNEL_COUNT, THING_COUNT, prepareRequests, stamp } from '#test/bench/load/payload'
import { Sender } from '#test/bench/load/sender'
import { spread } from '#test/bench/load/statistics'
import { startKeyed } from '#test/bench/rig/keyed'
import type { Rig } from '#test/bench/rig/rig'
import { metricOf } from '#test/bench/rig/subject'
import { ThreadProbe, functionsOf, placeOf } from '#test/support/thread-probe'
import type { ByThread } from '#test/support/thread-probe'
import type { Site } from '#test/support/probed-thread'
import type { Figure, Row } from './row.ts'
import type { Session } from './session.ts'
import { warmRate } from './warm.ts'

/** With a number in it the row prints so many sites of each thread, and what an update calls. */
const SITES = 'HELIOGRAPH_ALLOCATION_SITES'
/** One sample in so many bytes: some thousands of updates, a few of which each site has. */
const EVERY_BYTES = 32_768

/**
 * Updates a second: a turn has some 160 of them then, and the more share one the less each takes.
 * A machine that cannot keep it gets a part of what a closed loop reaches.
 */
const RATE_PER_SECOND = 8_000
const RATE_RATIO = 0.7

const GOALS = {
  engine: { kind: 'at-most', must: 6_000, aim: 4_000 },
  main: { kind: 'at-most', must: 8_000, aim: 5_000 },
} as const satisfies Readonly<Record<string, Figure['goal']>>
const MEASURED = ['engine', 'main'] as const
/** What the log's thread takes follows from the size of batches alone. */
const THREADS = [...MEASURED, 'log'] as const

export const ALLOCATION_ROW: Row = {
  name: 'allocation',
  async measure(session) {
    const name = 'allocation'
    const scratch = await session.subjects.scratch()
    const probe = await ThreadProbe.listen(scratch, THREADS)
    const of = { channels: CHANNEL_COUNT, things: THING_COUNT, hasDevices: true } as const
    const start = () => startKeyed(join(scratch, name), { name, ...of, settings: probe.env })
    const plan = { name, start, devices: 'with devices' } as const
    const ending = await session.withRig(plan, (rig) => runsOf(session, rig, probe))
    probe.close()
    return MEASURED.map((thread) => {
      const shared = { row: `${name}.${thread}`, unit: 'bytes an update', goal: GOALS[thread] }
      const { ran } = ending
      if (ending.kind === 'failed') {
        return { ...shared, value: undefined, failure: ending.failure, details: { ran } }
      }
      const value = spread(ending.result.map(({ bytes }) => bytes[thread]))
      return { ...shared, value, details: { ran, runs: ending.result } }
    })
  },
}

interface Run {
  readonly bytes: Readonly<Record<(typeof THREADS)[number], number>>
  readonly updates: number
  /** Updates that share a turn, on average: the more, the less each allocates. */
  readonly turn: number
}

async function runsOf({ options }: Session, rig: Rig, probe: ThreadProbe): Promise<readonly Run[]> {
  const { secondsPerStep, runs, say } = options
  const durationMs = secondsPerStep * 1_000
  const closedPerSecond = await warmRate(async () => {
    const { load } = await rig.step({ pace: { kind: 'closed' }, durationMs })
    return load.acceptedPerSecond
  })
  const ratePerSecond = Math.min(RATE_PER_SECOND, Math.round(closedPerSecond * RATE_RATIO))
  const pace = { kind: 'open', ratePerSecond } as const
  const all: Run[] = []
  let sites: ByThread<readonly Site[]> = {}
  for (let run = 0; run < runs; run += 1) {
    const turnsBefore = await turnsOf(rig)
    await probe.ask({ kind: 'sample', everyBytes: EVERY_BYTES })
    const { load } = await rig.step({ pace, durationMs })
    sites = await probe.ask({ kind: 'sites' })
    const updates = load.accepted
    const turn = updates / ((await turnsOf(rig)) - turnsBefore)
    const each = THREADS.map((thread) => [thread, bytesOf(sites[thread] ?? []) / updates] as const)
    all.push({ bytes: Object.fromEntries(each) as Run['bytes'], updates, turn })
    const words = each.map(([thread, amount]) => `${thread} ${amount.toFixed(0)}`).join(', ')
    const at = `at ${Math.round(load.acceptedPerSecond).toLocaleString('en')}/s`
    say(`  allocation: ${words} bytes an update ${at}, in turns of ${turn.toFixed(0)}`)
  }
  const shown = Number(process.env[SITES] ?? 0)
  if (shown === 0) return all
  for (const thread of THREADS) {
    say(`  the most of ${thread}:`)
    const lines = linesOf(sites[thread] ?? [], all.at(-1)?.updates ?? 0)
    for (const line of lines.slice(0, shown)) say(`    ${line}`)
  }
  await showCalls(rig, probe, say)
  return all
}

const bytesOf = (sites: readonly Site[]): number => sites.reduce((sum, { bytes }) => sum + bytes, 0)

async function turnsOf({ subject: { servers, recipe } }: Rig): Promise<number> {
  const [server] = servers
  if (server === undefined) throw new Error('the subject has no server')
  return metricOf(server, { token: recipe.token, name: 'heliograph_turn_seconds_count' })
}

/** A line for each site, the most first: bytes an update, function and place. */
export function linesOf(sites: readonly Site[], updates: number): readonly string[] {
  return sites
    .toSorted((one, other) => other.bytes - one.bytes)
    .map(({ url, name, line, caller, bytes }) => {
      const where = url === '' ? '' : ` ${placeOf(url)}:${line}`
      const by = caller === '' ? '' : `, called by ${caller}`
      const amount = (bytes / updates).toFixed(0)
      return `${amount.padStart(6)} ${name === '' ? '(no name)' : name}${where}${by}`
    })
}

const ONE_BY_ONE = 60
/** Threads race, so now and then one takes another way than it does otherwise. */
const CALLS_MIN = 0.9 * ONE_BY_ONE
/** What goes on at intervals comes to its end meanwhile. */
const QUIET_MS = 1_000
/** A step of one request, beside which others are sent. */
const STEP = { pace: { kind: 'open', ratePerSecond: 1 }, durationMs: 1_000 } as const

/** Shows what each of some updates calls that come one by one. */
async function showCalls(rig: Rig, probe: ThreadProbe, say: (line: string) => void): Promise<void> {
  const { recipe, entrances } = rig.subject
  const sender = new Sender({ port: entrances[0]?.port ?? 0, token: recipe.token })
  let byFile: ReturnType<typeof functionsOf> = new Map()
  await rig.step(STEP, async () => {
    const heldAtMs = Date.now()
    await probe.ask({ kind: 'hold', atMs: heldAtMs })
    await delay(QUIET_MS)
    await probe.ask({ kind: 'mark' })
    for (const request of prepareRequests(recipe).slice(0, ONE_BY_ONE)) {
      await sender.send(stamp(request, heldAtMs + 1, 0))
    }
    byFile = functionsOf(await probe.ask({ kind: 'read' }), CALLS_MIN)
    await probe.ask({ kind: 'release' })
    return ONE_BY_ONE
  })
  sender.close()
  const files = [...byFile].toSorted(([one], [other]) => (one < other ? -1 : 1))
  const functions = files.reduce((sum, [, { size }]) => sum + size, 0)
  say(`  an update calls ${functions} functions in ${files.length} files:`)
  for (const [file, names] of files) {
    say(`    ${String(names.size).padStart(3)} ${file}: ${[...names.values()].join(', ')}`)
  }
}
