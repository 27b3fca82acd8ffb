// Tiers of a fleet that reports for thirty days, whose times are handed in: what they add to the
// joining of an update, what they take, and how long a series takes over HTTP.

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { TIERS, TIER_MS } from '#domain/history/series'
import { systemRuntime } from '#src/process/system-runtime'
import { RUN_UPDATES } from '#src/store/retention/joining'
import { openStore } from '#src/store/store'
import type { Store } from '#src/store/store'
import { Buckets } from '#src/store/tiers/buckets'
import { addChunk } from '#src/store/tiers/chunk'
import { thingIdOf } from '#test/bench/load/payload'
import { percentile, spread } from '#test/bench/load/statistics'
import { Caller } from '#test/bench/rig/caller'
import { keyedChannels } from '#test/bench/rig/channel-keys'
import { storedIn } from '#test/bench/rig/database'
import { Fleet } from '#test/bench/rig/fleet'
import { databaseIn, startGateway } from '#test/bench/rig/gateway'
import { prepareKeyed } from '#test/bench/rig/keyed'
import { FakeMeter } from '#test/support/fake-telemetry'
import type { Range, Row } from './row.ts'
import type { Session } from './session.ts'

/** A smaller fleet, or one that reports more often: for a figure in between, or a long one. */
const THINGS = Number(process.env['HELIOGRAPH_TIER_THINGS'] ?? 10_000)
const MINUTES = Number(process.env['HELIOGRAPH_TIER_MINUTES'] ?? 30)
const EVERY_MS = MINUTES * 60_000
export const DAYS = 30
const DAY_MS = TIER_MS['1d']

/** Runs of joining that are measured with tiers and without, in turn, and those before. */
const PAIRS = 24
const WARMING = 8
/** Updates that are not joined yet while series are asked for, in turns of a few. */
export const UNJOINED = { updates: 8_000, turns: 1_000 } as const
const ASKED = 500
const CHUNKS_LOOKED_AT = 200

export const TIER_GOALS = {
  cpu: { kind: 'at-most', must: 2, aim: 1 },
  bytes: { kind: 'at-most', must: 90, aim: 45 },
  series: { kind: 'at-most', must: 20, aim: 5 },
} as const

const [CHANNEL] = keyedChannels(1)

export const TIERS_ROW: Row = {
  name: 'tiers',
  async measure(session) {
    const scratch = await session.subjects.scratch()
    const cpu = await joiningCpu(scratch)
    session.options.say(`  tiers: ${cpu.median.toFixed(2)} µs of CPU an update beside joining`)
    const lived = await live(session, join(scratch, 'tiers'))
    const series = await seriesOf(session, lived)
    const { directory: _, token: __, ...told } = lived
    const bytes = Math.max(...Object.values(lived.bytesOfBucket))
    const ms = { unit: 'ms, p99', goal: TIER_GOALS.series, details: {} }
    return [
      {
        row: 'tiers',
        unit: 'µs of CPU an update',
        value: cpu,
        goal: TIER_GOALS.cpu,
        details: { things: THINGS, minutes: MINUTES, days: DAYS, ...told },
      },
      {
        row: 'tiers.bytes',
        unit: 'bytes a bucket',
        value: spread([bytes]),
        goal: TIER_GOALS.bytes,
        details: {},
      },
      { row: 'tiers.series-7d', value: spread([series['7d']]), ...ms },
      { row: 'tiers.series-30d', value: spread([series['30d']]), ...ms },
    ]
  },
}

const open = (directory: string, hasTiers: boolean): Promise<Store> =>
  openStore({
    url: `sqlite:${databaseIn(directory)}`,
    runtime: systemRuntime(),
    meter: new FakeMeter(),
    hasTiers,
  })

/** µs of CPU an update by which joining with tiers takes more than without, run by run. */
async function joiningCpu(scratch: string): Promise<Range> {
  const fleets: { readonly store: Store; readonly fleet: Fleet }[] = []
  for (const hasTiers of [true, false]) {
    const directory = join(scratch, hasTiers ? 'with-tiers' : 'without-tiers')
    await prepareKeyed(directory, { channels: 1 })
    const store = await open(directory, hasTiers)
    fleets.push({ store, fleet: await fleetOf(store, 0) })
  }
  const more: number[] = []
  for (let pair = 0; pair < WARMING + PAIRS; pair += 1) {
    const withTiers = await joined(fleets[0])
    const without = await joined(fleets[1])
    if (pair >= WARMING) more.push(withTiers - without)
  }
  for (const { store } of fleets) await store.close()
  return spread(more)
}

async function joined(one: { readonly store: Store; readonly fleet: Fleet } | undefined) {
  if (one === undefined) throw new Error('there is no fleet')
  const { store, fleet } = one
  await fleet.commit(RUN_UPDATES)
  const before = process.cpuUsage()
  const updates = await store.joining.join(fleet.nowMs)
  const { user, system } = process.cpuUsage(before)
  await fleet.tend()
  return (user + system) / updates
}

async function fleetOf(store: Store, startMs: number): Promise<Fleet> {
  if (CHANNEL === undefined) throw new Error('there is no channel')
  const { channelId } = CHANNEL
  return Fleet.open(store, { channelId, things: THINGS, everyMs: EVERY_MS, startMs })
}

interface Lived {
  readonly directory: string
  readonly token: string
  readonly updates: number
  /** µs of CPU an update for merging and removing. */
  readonly tendingMicros: number
  /** Before compression, by tier. */
  readonly bytesOfBucket: Readonly<Record<string, number>>
  readonly databaseMb: number
  /** Of it, chunks as they are kept. */
  readonly chunksMb: number
}

/** Lets a fleet report for its days, up to now. */
async function live({ options }: Session, directory: string): Promise<Lived> {
  const token = await prepareKeyed(directory, { channels: 1 })
  const store = await open(directory, true)
  const endMs = Date.now()
  const fleet = await fleetOf(store, endMs - DAYS * DAY_MS)
  let updates = 0
  let tendingMicros = 0
  let day = 0
  const lastMs = endMs - (UNJOINED.updates * EVERY_MS) / THINGS
  while (fleet.nowMs < lastMs) {
    await fleet.commit(RUN_UPDATES)
    updates += await store.joining.join(fleet.nowMs)
    const before = process.cpuUsage()
    await fleet.tend()
    const { user, system } = process.cpuUsage(before)
    tendingMicros += user + system
    const today = Math.floor((fleet.nowMs - endMs) / DAY_MS) + DAYS
    if (today > day) options.say(`  tiers: day ${(day = today)} of ${DAYS}`)
  }
  await fleet.commit(UNJOINED.updates, UNJOINED.turns)
  await store.close()
  const path = databaseIn(directory)
  const { bytes } = await storedIn(path)
  const lived = {
    directory,
    token,
    updates,
    tendingMicros: tendingMicros / updates,
    databaseMb: bytes / 1e6,
    ...chunksIn(path),
  }
  options.say(`  tiers: ${JSON.stringify({ ...lived, token: undefined, directory: undefined })}`)
  return lived
}

function chunksIn(path: string): Pick<Lived, 'bytesOfBucket' | 'chunksMb'> {
  const database = new DatabaseSync(path, { readOnly: true })
  const sum = database.prepare('SELECT sum(length(content)) AS bytes FROM tier_chunks').get()
  const some = database.prepare(
    'SELECT bytes, content FROM tier_chunks WHERE tier = ? ORDER BY level DESC LIMIT ?',
  )
  const bytesOfBucket = TIERS.map((tier) => {
    const buckets = new Buckets(TIER_MS[tier])
    let all = 0
    for (const { bytes, content } of some.all(TIER_MS[tier], CHUNKS_LOOKED_AT)) {
      addChunk(buckets, content as Uint8Array, () => true)
      all += Number(bytes)
    }
    return [tier, all / buckets.size] as const
  })
  database.close()
  return {
    bytesOfBucket: Object.fromEntries(bytesOfBucket),
    chunksMb: Number(sum?.['bytes']) / 1e6,
  }
}

/** Asks a gateway of its own for series. */
async function seriesOf({ options }: Session, { directory, token }: Lived) {
  const server = await startGateway(directory, token)
  try {
    const asked = { key: CHANNEL?.key ?? '', things: THINGS, say: options.say }
    return await seriesAt(new Caller(server, token), asked)
  } finally {
    await server.stop()
  }
}

interface AskedSeries {
  readonly key: string
  readonly things: number
  readonly say: (line: string) => void
}

/** Asks for the series of one Thing after the other: the p99 of each span, in milliseconds. */
export async function seriesAt(caller: Caller, { key, things, say }: AskedSeries) {
  const ask = async (days: number, step: string): Promise<number> => {
    const taken: number[] = []
    for (let asked = 0; asked < 2 * ASKED; asked += 1) {
      const thing_id = thingIdOf(Math.floor(Math.random() * things))
      const body = { password: key, thing_id, from: Date.now() - days * DAY_MS, step }
      const startMs = performance.now()
      await caller.post('/thing/series', body)
      if (asked >= ASKED) taken.push(performance.now() - startMs)
    }
    taken.sort((one, other) => one - other)
    const [p50, p99] = [percentile(taken, 0.5), percentile(taken, 0.99)]
    say(`  series: ${days} days by ${step}: ${p50.toFixed(1)} ms p50, ${p99.toFixed(1)} p99`)
    return p99
  }
  return { '7d': await ask(7, '5m'), '30d': await ask(DAYS, '1h') }
}
