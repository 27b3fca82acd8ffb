// Goal: whichever node is asked, the answer is the same: what one node accepted is found on every
// other from the moment of its 200, also while the node that accepted it stops. A node whose
// question is answered late says so, and never that there is no such operation. (decisions.md 5,
// inquiry/3)
// Method: roles are split over processes, so that nobody but the node that accepted an operation
// knows it while the only process that applies stands still.

import type { ExecutionContext } from 'ava'

import type { ChannelId } from '#domain/identity'
import { reservePort } from '#src/dev/servers/port'
import { audit } from '#test/support/audit'
import {
  allLanesApplied,
  nodeOf,
  standing,
  startCluster,
  testsWithServers,
} from '#test/support/cluster'
import { createChannels, PASSWORD, watchingDevice } from '#test/support/device'
import { get, post, startGateway, until } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'
import type { Outcome } from '#test/support/load'

const clusterTest = testsWithServers()

const SENT = 60
const ASKED_FOR_MS = 1_000

const INGRESS = { SERVICE_ROLES: 'ingress' }

/** One node that applies, one that accepts, and two that accept on the same port. */
const everything = standing(async (file, servers) => {
  const { port, release } = await reservePort()
  file.teardown(release)
  const sharing = { ...INGRESS, SERVICE_HTTP_ADDR: `127.0.0.1:${port}` }
  const roles = [{ SERVICE_ROLES: 'actors' }, INGRESS, sharing, sharing]
  const cluster = await startCluster(file, servers, roles)
  for (const node of cluster.nodes) await allLanesApplied(node)
  const [applying, one, two] = [nodeOf(cluster, 0), nodeOf(cluster, 1), nodeOf(cluster, 2)]
  return { cluster, applying, one, two }
})

async function oneChannel(gateway: Gateway): Promise<ChannelId> {
  const [channelId] = await createChannels(gateway, 1)
  if (channelId === undefined) throw new Error('no channel')
  return channelId
}

async function send(t: ExecutionContext, gateway: Gateway, body: object): Promise<Outcome> {
  const answer = await post(gateway, '/message', body)
  t.is(answer.status, 200)
  const opId = String(answer.body.data['op_id'])
  return { submission: { path: '/message', body }, told: { kind: 'accepted', opId } }
}

clusterTest('a sender finds its operation on every node at once', async (t, servers) => {
  const { one, two } = await everything(servers)
  const channel_id = await oneChannel(one)
  const statuses = new Set<number>()
  const states = new Set<unknown>()
  for (let count = 0; count < SENT; count += 1) {
    const { told } = await send(t, one, { channel_id, password: PASSWORD, title: `${count}` })
    if (told.kind !== 'accepted') continue
    const { status, body } = await get(two, `/send_status/${told.opId}`)
    statuses.add(status)
    states.add(body.data['status'])
  }
  t.log([...states].join(', '))
  t.deepEqual([...statuses], [200])
  t.is((await get(two, '/send_status/never-heard-of')).status, 404)

  // While the database is away only the node that accepted it knows.
  await servers.mariaDb.kill('SIGKILL')
  const { told } = await send(t, one, { channel_id, password: PASSWORD, title: 'last' })
  if (told.kind === 'accepted') {
    const { status, body } = await get(two, `/send_status/${told.opId}`)
    t.deepEqual([status, body.data['status']], [200, 'accepted'])
  }
  await servers.mariaDb.restart()
})

clusterTest(
  'a node with another number of lanes does not start and says why',
  async (t, servers) => {
    await everything(servers)
    const env = {
      SERVICE_NATS_URL: servers.nats.url,
      SERVICE_DATABASE_URL: servers.databaseUrl,
      SERVICE_LANES: '7',
    }
    const error = await t.throwsAsync(startGateway(t, { env }))
    t.regex(error.message, /made with 6 lanes and SERVICE_LANES is 7: set SERVICE_LANES to 6/)
  },
)

clusterTest('what a node accepted before it stopped is found on the others', async (t, servers) => {
  const { applying, one, two } = await everything(servers)
  const channel_id = await oneChannel(one)
  applying.process.kill('SIGSTOP')
  t.teardown(() => applying.process.kill('SIGCONT'))
  const { status, body } = await post(one, '/message', {
    channel_id,
    password: PASSWORD,
    title: 'a',
  })
  t.is(status, 200)
  const ask = () => get(two, `/send_status/${String(body.data['op_id'])}`)

  const ended = one.end('SIGTERM')
  const startedMs = performance.now()
  const found = new Set<number>()
  await until(ask, (answer) => {
    found.add(answer.status)
    return found.has(200) && performance.now() - startedMs > ASKED_FOR_MS
  })
  found.delete(503)
  t.deepEqual([...found], [200])
  applying.process.kill('SIGCONT')
  t.is(await ended, 0)
  await until(ask, (answer) => answer.status === 200)
})

clusterTest('roles are split over processes, and two of them share a port', async (t, servers) => {
  const { applying, two, cluster } = await everything(servers)
  t.is((await post(applying, '/message', {})).status, 404)
  const channel_id = await oneChannel(two)
  const device = await watchingDevice(t, two, [channel_id])
  const outcomes: Outcome[] = []
  for (let count = 0; count < SENT; count += 1) {
    outcomes.push(await send(t, two, { channel_id, password: PASSWORD, title: `${count}` }))
  }
  await audit(t, { gateway: two, channels: [channel_id], outcomes, device })
  for (const node of [applying, two, nodeOf(cluster, 3)]) t.is(await node.end('SIGTERM'), 0)
})
