// Kills one node of a cluster under load and audits every submission.
//
// Invariants:
//   failover/1. The time counts from the signal until an operation that was submitted after it, to
//     a channel of every lane, has been seen as `sent`: the survivor's lanes are no slower for it,
//     so the last one is a lane of the node that was killed.
//   failover/2. Every request that was answered 200 is in the feed exactly once, found by the time
//     at which it was due; what was not answered may be there or not, but nothing is there twice.

import { setTimeout as delay } from 'node:timers/promises'

import { laneOf } from '#domain/identity'
import { updatesIn } from '#src/store/feed/update-blocks'
import { numberAt } from '#test/bench/load/entry-counter'
import type { LoadReport } from '#test/bench/load/messages'
import { CHANNEL_COUNT, DUE_BASE_US } from '#test/bench/load/payload'
import type { Recipe } from '#test/bench/load/payload'
import { BACKING_SYNC, columnsAt, countRowsAt } from './backend.ts'
import { Caller, textOf } from './caller.ts'
import { keyedChannels } from './channel-keys.ts'
import type { KeyedChannel } from './channel-keys.ts'
import { LANES, lanesOf, lanesSpread, startCluster } from './cluster.ts'
import type { Cluster } from './cluster.ts'
import { QUERIES } from './gateway.ts'
import { Generator } from './load-process.ts'
import { cpuSecondsByName, secondsBetween } from './processes.ts'
import type { Server } from './server.ts'

const CHANNELS_PER_LANE = 4
const THINGS_PER_CHANNEL = 10
const CONNECTIONS = 64
const RATE_PER_SECOND = 1_000
const LOAD_MS = 12_000
const KILL_AFTER_MS = 2_000
const SERVED_LIMIT_MS = 60_000
const APPLIED_LIMIT_MS = 60_000
const LOOK_AGAIN_MS = 20

export interface Failover {
  readonly cluster: Cluster
  readonly recipe: Recipe
  /** The key of a channel of each lane. */
  readonly probes: readonly string[]
  readonly ran: Readonly<Record<string, string | number>>
  close(): Promise<void>
}

/** The outcome of one kill. */
export interface Killed {
  readonly seconds: number
  /** Lanes that the node had. */
  readonly lanes: number
  readonly accepted: number
  readonly due: number
  readonly refused: LoadReport['refused']
  /** Connections that broke, each with one request whose fate nobody was told. */
  readonly lost: number
  readonly cpuSeconds: Readonly<Record<string, number>>
}

/** Starts a cluster, whose updates go to a few channels of each lane. */
export async function openFailover(directory: string): Promise<Failover> {
  const byLane = channelsByLane(keyedChannels(CHANNEL_COUNT))
  const chosen = byLane.flatMap((ofLane) => ofLane.slice(0, CHANNELS_PER_LANE))
  const probes = byLane.flatMap(([first]) => first?.key ?? [])
  if (probes.length < LANES) throw new Error(`channels lie on ${probes.length} of ${LANES} lanes`)
  const cluster = await startCluster(directory, { channels: CHANNEL_COUNT, layout: 'even' })
  return {
    cluster,
    probes,
    recipe: {
      token: cluster.token,
      keys: chosen.map(({ key }) => key),
      thingCount: chosen.length * THINGS_PER_CHANNEL,
    },
    ran: {
      engine: 'cluster (NATS JetStream + MariaDB over mysql2)',
      sync: BACKING_SYNC,
      load: `${RATE_PER_SECOND}/s for ${LOAD_MS / 1_000} s`,
      connections: `${CONNECTIONS}, in turn to both nodes`,
      kill: `SIGKILL after ${KILL_AFTER_MS / 1_000} s; nodes in turn`,
      channels: `${chosen.length}, ${CHANNELS_PER_LANE} of each of ${LANES} lanes`,
    },
    close: () => cluster.end(),
  }
}

/** Channels of each lane, lane by lane. */
export function channelsByLane(
  channels: readonly KeyedChannel[],
): readonly (readonly KeyedChannel[])[] {
  const byLane: KeyedChannel[][] = Array.from({ length: LANES }, () => [])
  for (const channel of channels) byLane[laneOf(channel.channelId, LANES)]?.push(channel)
  return byLane
}

/** One kill; afterwards the node is there again and everything was counted. */
export async function killUnderLoad(failover: Failover, run: number): Promise<Killed> {
  const { cluster, recipe } = failover
  const { token } = cluster
  const index = run % cluster.nodes.length
  const victim = nodeAt(cluster, index)
  const survivor = nodeAt(cluster, (index + 1) % cluster.nodes.length)
  const lanes = await lanesOf(victim, token)
  const generator = new Generator()
  try {
    const ports = [victim.port, survivor.port]
    await generator.connect({ ports, connections: CONNECTIONS, recipe })
    const before = cpuOf(cluster, survivor)
    const pace = { kind: 'open', ratePerSecond: RATE_PER_SECOND } as const
    const loading = generator.load({ pace, durationMs: LOAD_MS, namesAccepted: true })
    const served = delay(KILL_AFTER_MS).then(() => timeToServe(failover, { victim, survivor }))
    const [load, seconds] = await Promise.all([loading, served])
    const cpuSeconds = secondsBetween(before, cpuOf(cluster, survivor))
    await audit(cluster, load) // failover/2
    await cluster.again(index)
    await lanesSpread(cluster.nodes, token)
    const { accepted, due, refused, lost } = load
    return { seconds, lanes, accepted, due, refused, lost, cpuSeconds }
  } finally {
    await generator.stop()
  }
}

function nodeAt({ nodes }: Cluster, index: number): Server {
  const node = nodes[index]
  if (node === undefined) throw new Error(`there is no node ${index}`)
  return node
}

/** failover/1 */
async function timeToServe(
  { cluster, probes }: Failover,
  { victim, survivor }: { readonly victim: Server; readonly survivor: Server },
): Promise<number> {
  const caller = new Caller(survivor, cluster.token)
  const startMs = performance.now()
  const gone = victim.kill()
  await Promise.all(
    probes.map((key) => untilSent(caller, { key, deadlineMs: startMs + SERVED_LIMIT_MS })),
  )
  const seconds = (performance.now() - startMs) / 1_000
  await gone
  return seconds
}

async function untilSent(
  caller: Caller,
  { key, deadlineMs }: { readonly key: string; readonly deadlineMs: number },
): Promise<void> {
  let opId: string | undefined
  while (performance.now() < deadlineMs) {
    // A refusal for now, or an answer that is late, is asked for again.
    opId ??= await caller.submit(key).catch(() => undefined)
    if (opId !== undefined && (await statusOf(caller, opId)) === 'sent') return
    await delay(LOOK_AGAIN_MS)
  }
  throw new Error(`a channel was not served within ${SERVED_LIMIT_MS / 1_000} s`)
}

const statusOf = (caller: Caller, opId: string): Promise<string> =>
  caller.get(`/send_status/${opId}`).then(
    (data) => textOf(data, 'status'),
    () => '',
  )

/** failover/2: waits until what was accepted is applied, then compares. */
async function audit({ backend }: Cluster, load: LoadReport): Promise<void> {
  const deadlineMs = performance.now() + APPLIED_LIMIT_MS
  let difference = await differenceIn(backend.databaseUrl, load)
  while (difference !== undefined && performance.now() < deadlineMs) {
    await delay(LOOK_AGAIN_MS * 10)
    difference = await differenceIn(backend.databaseUrl, load)
  }
  if (difference !== undefined) throw new Error(difference)
}

const BLOCKS = 'SELECT content FROM update_blocks'

async function differenceIn(databaseUrl: string, load: LoadReport): Promise<string | undefined> {
  const [blocks = []] = await columnsAt(databaseUrl, [BLOCKS])
  const { operations, revisions, feed } = await countRowsAt(databaseUrl, QUERIES)
  const isEven = operations === revisions && revisions === feed
  return (
    dueDifference(load.acceptedDueUs ?? [], storedDues(blocks)) ??
    (isEven ? undefined : `stored ${JSON.stringify({ operations, revisions, feed })}`)
  )
}

/** The times at which stored updates were due; others than those of the workload have none. */
export function storedDues(blocks: readonly unknown[]): readonly number[] {
  const updates = blocks.flatMap((block) => (block instanceof Uint8Array ? updatesIn(block) : []))
  return updates.flatMap(({ payload }) => {
    const due = numberAt(payload, '"due":')
    return due > 0 ? [due - DUE_BASE_US] : []
  })
}

/** Compares the feed with the 200 answers; undefined when it has each of them once. */
export function dueDifference(
  accepted: readonly number[],
  stored: readonly number[],
): string | undefined {
  const kept = new Set(stored)
  const missing = accepted.filter((due) => !kept.has(due)).length
  const doubled = stored.length - kept.size
  if (missing + doubled === 0) return undefined
  return `answered 200: ${accepted.length}; of them missing ${missing}; stored twice ${doubled}`
}

/** CPU time of the servers and the survivor: that of the killed node is lost with it. */
const cpuOf = ({ backend }: Cluster, survivor: Server): Readonly<Record<string, number>> =>
  cpuSecondsByName({ survivor: survivor.pid, ...backend.pids })
