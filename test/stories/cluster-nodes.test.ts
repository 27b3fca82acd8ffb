// Goal: whichever node is asked, the answer is the same: what one node accepted, changed or took
// away holds on every other at once or soon.

import type { ExecutionContext } from 'ava'

import type { ChannelId } from '#domain/identity'
import { reservePort } from '#src/dev/servers/port'
import { audit } from '#test/support/audit'
import { allLanesApplied, nodeOf, startCluster, testsWithServers } from '#test/support/cluster'
import { createChannels, PASSWORD, watchingDevice } from '#test/support/device'
import { get, post, startGateway } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'
import type { Outcome } from '#test/support/load'

const clusterTest = testsWithServers()

const SENT = 60

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
  const cluster = await startCluster(t, servers, 2)
  const [one, two] = [nodeOf(cluster, 0), nodeOf(cluster, 1)]
  await allLanesApplied(one)
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

clusterTest('roles are split over processes, and two of them share a port', async (t, servers) => {
  const { port, release } = await reservePort()
  t.teardown(release)
  const ingress = { SERVICE_ROLES: 'ingress', SERVICE_HTTP_ADDR: `127.0.0.1:${port}` }
  const cluster = await startCluster(t, servers, [ingress, ingress, { SERVICE_ROLES: 'actors' }])
  const [first, applying] = [nodeOf(cluster, 0), nodeOf(cluster, 2)]
  await allLanesApplied(first)
  await allLanesApplied(applying)
  t.is((await post(applying, '/message', {})).status, 404)
  const channel_id = await oneChannel(first)
  const device = await watchingDevice(t, first, [channel_id])
  const outcomes: Outcome[] = []
  for (let count = 0; count < SENT; count += 1) {
    outcomes.push(await send(t, first, { channel_id, password: PASSWORD, title: `${count}` }))
  }
  await audit(t, { gateway: first, channels: [channel_id], outcomes, device })
  for (const node of cluster.nodes) t.is(await node.end('SIGTERM'), 0)
})

clusterTest(
  'a node with another number of lanes does not start and says why',
  async (t, servers) => {
    await startCluster(t, servers, 1)
    const env = {
      SERVICE_NATS_URL: servers.nats.url,
      SERVICE_DATABASE_URL: servers.databaseUrl,
      SERVICE_LANES: '7',
    }
    const error = await t.throwsAsync(startGateway(t, { env }))
    t.regex(error.message, /made with 6 lanes and SERVICE_LANES is 7: set SERVICE_LANES to 6/)
  },
)
