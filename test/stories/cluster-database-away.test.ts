// Goal: while the database is away, what needs no answer of it is accepted, as long as the log has
// room; then senders are told to come back, memory stays where it is, and nothing is lost. (W4, W7)
// Method: a log of the smallest size, so that its bound is reached within seconds, and a flood of
// the largest submissions against it.

import type { ExecutionContext } from 'ava'

import type { ChannelId } from '#domain/identity'
import { watch } from '#src/client/watch'
import { TEST_MS } from '#test/support/bounds'
import {
  acceptedMore,
  allLanesApplied,
  busy,
  loadOn,
  nodeOf,
  startCluster,
  testsWithServers,
} from '#test/support/cluster'
import { createChannels, PASSWORD, watchingDevice } from '#test/support/device'
import { figureOf, until } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'
import { drive, sender } from '#test/support/load'
import type { Outcome, Submission } from '#test/support/load'
import { mixedLoad } from '#test/support/mixed-load'
import { seeded } from '#test/support/random'

const CHANNELS = 6
const SMALLEST = { SERVICE_LOG_BYTES: String(2 ** 20) }
const FLOOD_WIDTH = 16
const FLOOD_COUNT = 5_000
const FLOOD_BYTES = 30_000
/** The flood is more than twice as much. */
const GROWTH_BYTES_MAX = 64 * 2 ** 20
const STOP_WITHIN = { SERVICE_DRAIN_TIMEOUT: '6s' }
const FILLING = 'x'.repeat(3_000)

const clusterTest = testsWithServers()

const memoryOf = (gateway: Gateway): Promise<number> =>
  figureOf(gateway, 'process_resident_memory_bytes')

/** The same submissions, large enough to fill the log soon. */
const large = (next: () => Submission) => (): Submission => {
  const { path, body } = next()
  return { path, body: { ...body, description: FILLING } }
}

/** Sends so many of the largest submissions as fast as they are answered. */
async function flood(t: ExecutionContext, gateway: Gateway, channel_id: ChannelId) {
  const { baseUrl, token } = gateway
  const submitting = sender(baseUrl, token, FLOOD_WIDTH)
  t.teardown(() => submitting.close())
  const attrs = { filling: 'x'.repeat(FLOOD_BYTES) }
  const body = { channel_id, password: PASSWORD, thing_id: 'flood', observed_at: 1, attrs }
  let left = FLOOD_COUNT
  return drive(submitting, FLOOD_WIDTH, () => {
    left -= 1
    return left < 0 ? undefined : { path: '/thing/update', body }
  })
}

clusterTest(
  'W4 W7: while the database is away the log fills up and no further',
  async (t, servers) => {
    t.timeout(TEST_MS)
    const cluster = await startCluster(t, servers, [SMALLEST, SMALLEST])
    const first = nodeOf(cluster, 0)
    const next = (of: readonly ChannelId[]) => large(mixedLoad(of, seeded(20_261_125)))
    const work = { channels: CHANNELS, next, accepted: 50 }
    const { channels, load, audited } = await busy(t, cluster, work)

    await servers.mariaDb.kill('SIGKILL')
    await acceptedMore(load, 50)
    await until(
      () => Promise.resolve(load.notAccepted()),
      (count) => count > 20,
    )
    const before = await memoryOf(first)
    const flooded: readonly Outcome[] = await flood(t, first, channels[0] as ChannelId)
    const grown = (await memoryOf(first)) - before
    t.log(`memory: ${Math.round(before / 2 ** 20)} MiB, then ${Math.round(grown / 2 ** 20)} more`)
    t.true(grown < GROWTH_BYTES_MAX)
    const accepted = flooded.filter(({ told }) => told.kind === 'accepted').length
    t.true(accepted * FLOOD_BYTES < 2 ** 20, 'the log has no room for it')

    await servers.mariaDb.restart()
    await acceptedMore(load, 50)
    await audited(first, flooded)
    for (const node of cluster.nodes) t.is(await node.end('SIGTERM'), 0)
  },
)

clusterTest(
  'sessions/2: a node that stops while the database hangs tells its devices',
  async (t, servers) => {
    t.timeout(TEST_MS)
    const cluster = await startCluster(t, servers, [STOP_WITHIN])
    const node = nodeOf(cluster, 0)
    await allLanesApplied(node)
    const channels = await createChannels(node, 1)
    const { key } = await watchingDevice(t, node, channels)
    const told = Promise.withResolvers<string>()
    const opened = Promise.withResolvers<void>()
    const watching = watch({
      ...node,
      deviceKey: key,
      onEntry: () => {},
      onState: (state) => {
        if (state.kind === 'open') opened.resolve()
        if (state.kind === 'waiting') told.resolve(state.reason)
      },
    })
    t.teardown(() => watching.close())
    await opened.promise
    const load = loadOn(cluster, mixedLoad(channels, seeded(20_261_126)))
    t.teardown(() => load.stop())
    await acceptedMore(load, 50)
    await servers.mariaDb.kill('SIGSTOP')
    await acceptedMore(load, 50)
    const ended = node.end('SIGTERM')
    t.is(await told.promise, 'shutdown')
    await ended
    await servers.mariaDb.kill('SIGCONT')
  },
)
