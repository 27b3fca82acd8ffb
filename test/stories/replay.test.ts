// Goal: the log alone leads to the state. Applied anew, from its first entry, by another process
// and in other turns, it writes the same bytes. (W3)
// Method: gateways under a load of every kind, one of them killed; then a gateway applies the whole
// log into an empty database. What is not in the log is copied there first: channels with their
// numbers, devices, subscriptions.

import { copyFile } from 'node:fs/promises'

import test from 'ava'
import type { ExecutionContext } from 'ava'

import type { ChannelId } from '#domain/identity'
import { placeOf } from '#domain/lane'
import { TEST_MS } from '#test/support/bounds'
import {
  acceptedMore,
  allLanesApplied,
  LANES,
  loadOn,
  nodeOf,
  startCluster,
  testsWithServers,
} from '#test/support/cluster'
import type { Cluster } from '#test/support/cluster'
import { createChannels, PASSWORD, watchingDevice } from '#test/support/device'
import { post, startGateway, temporaryFolder, until } from '#test/support/gateway'
import { newDatabase } from '#test/support/mariadb'
import { connectNode, openLog } from '#test/support/nats'
import { seeded } from '#test/support/random'
import { variedLoad } from '#test/support/varied-load'
import { differencesOf, makeUnwritten, placesOf, writtenState } from '#test/support/written-state'
import type { WrittenState } from '#test/support/written-state'

const CHANNELS = 8
const SENT = 600
/** Tiers come of joining, which begins when there are enough blocks, and not of the log. */
const KEPT = { SERVICE_LOG_KEEP: '30d', SERVICE_TIER_RETENTION: 'off' }
const NOT_IN_THE_LOG = ['channels', 'devices', 'subscriptions']

const clusterTest = testsWithServers()

/** Sends until enough was accepted; half-way something may happen. */
async function sendVaried(
  t: ExecutionContext,
  nodes: Cluster['nodes'],
  meanwhile?: () => Promise<unknown>,
): Promise<void> {
  const [first] = nodes
  if (first === undefined) throw new Error('there is no node')
  const channels = await createChannels(first, CHANNELS)
  await watchingDevice(t, first, channels)
  const load = loadOn({ nodes }, variedLoad(channels, seeded(20_261_124)))
  t.teardown(() => load.stop())
  await sendTwice(nodes, channels)
  await acceptedMore(load, SENT / 2)
  await meanwhile?.()
  await acceptedMore(load, SENT / 2)
  const outcomes = await load.stop()
  const codes = new Set(outcomes.map(({ told }) => (told.kind === 'refused' ? told.status : 200)))
  codes.delete(503)
  t.deepEqual([...codes], [200])
}

/** Messages that several nodes append, or one several times, because they come at once. */
async function sendTwice(nodes: Cluster['nodes'], channels: readonly ChannelId[]): Promise<void> {
  for (const [index, channel_id] of [...channels, ...channels].entries()) {
    const op_id = `twice-${index}`
    const body = { channel_id, password: PASSWORD, op_id, title: op_id }
    await Promise.all([...nodes, ...nodes].map((node) => post(node, '/message', body)))
  }
}

const isEveryKindIn = (
  t: ExecutionContext,
  state: WrittenState,
  tables: readonly string[],
): void => {
  const counts = Object.entries(state).map(([table, rows]) => [table, rows.length] as const)
  t.log(counts.map(([table, count]) => `${count} ${table}`).join(', '))
  for (const [table, count] of counts) t.is(count > 0, tables.includes(table), table)
}

const WRITTEN = [
  'lanes',
  'channel_heads',
  'things',
  'events',
  'tombstones',
  'feed_entries',
  'updates',
  'operations',
]

/** Waits until the lanes stand at these places in a database. */
const applied = (url: string, places: ReadonlyMap<number, number>): Promise<unknown> =>
  until(
    () => placesOf(url),
    (now) => [...places].every(([lane, place]) => (now.get(lane) ?? 0) === place),
  )

clusterTest(
  'W3: a replay of the stream into an empty MySQL gives equal bytes',
  async (t, servers) => {
    t.timeout(TEST_MS)
    const cluster = await startCluster(t, servers, [KEPT, KEPT])
    await allLanesApplied(nodeOf(cluster, 0))
    await sendVaried(t, cluster.nodes, () => nodeOf(cluster, 1).end('SIGKILL'))

    const node = await connectNode(t, servers.nats.url)
    const stream = { name: 'HELIOGRAPH', prefix: 'heliograph', replicas: 1, bytesMax: 2 ** 30 }
    const log = await openLog(t, node, { ...stream, tailBytesMax: 0, pendingBytesMax: 2 ** 20 })
    await log.append({ lane: 1, count: 2, payload: '[{"no":"submission"},"Ünlesbares"]' })
    const places = new Map<number, number>()
    for (let lane = 0; lane < LANES; lane += 1) {
      places.set(lane, placeOf((await log.bounds(lane)).last, 0))
    }
    await applied(servers.databaseUrl, places)
    t.is(await nodeOf(cluster, 0).end('SIGTERM'), 0)
    const state = await writtenState(servers.databaseUrl)
    isEveryKindIn(t, state, [...WRITTEN, 'dead_letters'])

    const databaseUrl = await newDatabase(servers.mariaDb)
    await makeUnwritten(databaseUrl, { from: servers.databaseUrl, tables: NOT_IN_THE_LOG })
    const again = await startCluster(t, { ...servers, databaseUrl }, [KEPT])
    await applied(databaseUrl, places)
    t.is(await nodeOf(again, 0).end('SIGTERM'), 0)
    t.deepEqual(differencesOf(await writtenState(databaseUrl), state), {})
  },
)

test('W3: a replay of the embedded log into an empty SQLite gives equal bytes', async (t) => {
  t.timeout(TEST_MS)
  const gateway = await startGateway(t, { env: KEPT })
  await sendVaried(t, [gateway])
  t.is(await gateway.end('SIGTERM'), 0)
  const from = `sqlite:${gateway.database}`
  const state = await writtenState(from)
  isEveryKindIn(t, state, WRITTEN)

  const database = `${await temporaryFolder(t)}/replayed.db`
  const url = `sqlite:${database}`
  await makeUnwritten(url, { from, tables: NOT_IN_THE_LOG })
  await copyFile(`${gateway.database}-log`, `${database}-log`)
  const again = await startGateway(t, { env: { ...KEPT, SERVICE_DATABASE_URL: url } })
  await applied(url, await placesOf(from))
  t.is(await again.end('SIGTERM'), 0)
  t.deepEqual(differencesOf(await writtenState(url), state), {})
})
