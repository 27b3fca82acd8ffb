// Goal: whichever node is asked, the answer is the same: what one node accepted is found on every
// other from the moment of its 200, also while the node that accepted it stops. A node whose
// question is answered late says so, and never that there is no such operation. (decisions.md 5,
// inquiry/3)
// A channel with hundreds of rules, or with expressions that need more work than there is for a
// reading, holds up no other channel of its lane, when one node accepts and another owns the lane:
// neither on the owner nor on the process that takes over once it is killed. The acceptor learns
// from the owner how far the rules reach. (W8, announcing/2, work/1, watching/5, R6)
// Method: roles are split over processes, so that nobody but the node that accepted an operation
// knows it while the only process that applies stands still. What rules hold up is counted in
// firings of the owner, not in time, as in rules-burst.test.ts.

import type { ExecutionContext } from 'ava'

import { laneOf } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import { createClient } from '#src/client/client'
import { reservePort } from '#src/dev/servers/port'
import { audit } from '#test/support/audit'
import {
  LANES,
  allLanesApplied,
  nodeOf,
  startCluster,
  testsWithServers,
} from '#test/support/cluster'
import type { Servers } from '#test/support/cluster'
import {
  createChannels,
  credentialsOf,
  makeKeys,
  PASSWORD,
  watchingDevice,
} from '#test/support/device'
import { figureOf, get, post, startGateway, until } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'
import type { Outcome } from '#test/support/load'
import { FIRINGS, firingsBeforeOthers } from '#test/support/rules-burst'
import { standing } from '#test/support/standing'

const clusterTest = testsWithServers()

const SENT = 60
const ASKED_FOR_MS = 1_000

const RULES = 20
const READINGS = 20
/** Seconds of work for each, if evaluations had no budget. */
const CEL = '[attrs.a + attrs.a + attrs.a].exists(x, (x + x + x + x).contains(attrs.b + attrs.b))'
const ATTRS = { a: 'a'.repeat(10_000), b: `${'a'.repeat(5_000)}b${'a'.repeat(5_000)}` }

const INGRESS = { SERVICE_ROLES: 'ingress' }

/** One node that applies, one that accepts, and two that accept on the same port. */
const everything = standing(async (file, servers: Servers) => {
  const { port, release } = await reservePort()
  file.teardown(release)
  const sharing = { ...INGRESS, SERVICE_HTTP_ADDR: `127.0.0.1:${port}` }
  const roles = [{ SERVICE_ROLES: 'actors' }, INGRESS, sharing, sharing]
  const cluster = await startCluster(file, servers, roles)
  for (const node of cluster.nodes) await allLanesApplied(node)
  return { cluster, one: nodeOf(cluster, 1), two: nodeOf(cluster, 2) }
})

async function oneChannel(gateway: Gateway): Promise<ChannelId> {
  const [channelId] = await createChannels(gateway, 1)
  if (channelId === undefined) throw new Error('no channel')
  return channelId
}

/** Two channels of one lane. */
async function neighbours(gateway: Gateway): Promise<readonly [ChannelId, ChannelId]> {
  const channels = await createChannels(gateway, LANES + 1)
  const byLane = Map.groupBy(channels, (id) => laneOf(id, LANES))
  const [one, other] = [...byLane.values()].find(({ length }) => length > 1) ?? []
  if (one === undefined || other === undefined) throw new Error('no two channels share a lane')
  return [one, other]
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
  const { cluster, one, two } = await everything(servers)
  const applying = nodeOf(cluster, 0)
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
  const { cluster, two } = await everything(servers)
  t.is((await post(nodeOf(cluster, 0), '/message', {})).status, 404)
  const channel_id = await oneChannel(two)
  const device = await watchingDevice(t, two, [channel_id])
  const outcomes: Outcome[] = []
  for (let count = 0; count < SENT; count += 1) {
    outcomes.push(await send(t, two, { channel_id, password: PASSWORD, title: `${count}` }))
  }
  await audit(t, { gateway: two, channels: [channel_id], outcomes, device })
  t.is(await nodeOf(cluster, 3).end('SIGTERM'), 0)
})

clusterTest(
  'W8: rules that one node applies are charged where another accepts',
  async (t, servers) => {
    const { cluster, two: accepting } = await everything(servers)
    const nodes = { accepting, applying: nodeOf(cluster, 0) }
    const counts = await firingsBeforeOthers(nodes, await neighbours(accepting))
    t.log(`${counts.join(', ')} firings before the updates of another channel`)
    t.true(Math.max(...counts) < FIRINGS / 2, counts.join(', '))
  },
)

clusterTest(
  'R6: hostile expressions of a channel fail alone, on the owner of its lane and on its successor',
  async (t, servers) => {
    const { cluster, two: accepting } = await everything(servers)
    const owner = nodeOf(cluster, 0)
    const [hostile, other] = await neighbours(accepting)
    await makeKeys(accepting, [hostile, other])
    const { rule, thing, status } = createClient(accepting)
    for (let each = 0; each < RULES; each += 1) {
      const when = { cel: CEL }
      const put = { things: 'all', when, event: { title: 'never' } }
      await rule.put({ ...credentialsOf(hostile), rule_id: `r${each}`, rule: put })
    }
    const update = (channel: ChannelId, at: number, attrs: object) =>
      thing.update({
        ...credentialsOf(channel),
        thing_id: 'a',
        observed_at: at,
        attrs: attrs as never,
      })
    const applied = async (ops: readonly { readonly op_id: string }[]): Promise<void> => {
      for (const { op_id } of ops) {
        await until(
          () => status(op_id),
          (operation) => operation.status === 'sent',
        )
      }
    }
    const failures = (node: Gateway) => figureOf(node, 'heliograph_rule_failures_total')
    const startMs = Date.now()
    const attack = async (first: number) => {
      const ops = []
      for (let each = 0; each < READINGS; each += 1) {
        ops.push(await update(hostile, startMs + first + each, { ...ATTRS, n: first + each }))
      }
      return [...ops, await update(other, startMs + first, { n: first })]
    }
    const ops = await attack(0)
    await until(
      () => failures(owner),
      (count) => count > 0,
    )
    await owner.end('SIGKILL') // Some of them are replayed by its successor.
    const successor = await cluster.again(0)
    await applied([...ops, ...(await attack(READINGS))])
    t.true((await failures(successor)) > 0)
    for (const node of [accepting, successor]) t.is(await node.end('SIGTERM'), 0)
  },
)
