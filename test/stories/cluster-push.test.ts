// Goal: whatever happens to Apple's service and to those who dispatch, every operation ends as its
// pushes did, no device gets an entry out of order, and none twice but where a claim was taken over.
// Method: 240 submissions to channels with subscribers of mixed kinds, while Apple refuses,
// then closes connections, then recovers, and two processes that dispatch are killed.

import { setTimeout as delay } from 'node:timers/promises'

import type { ExecutionContext } from 'ava'

import type { ChannelId } from '#domain/identity'
import { createClient } from '#src/client/client'
import type { PushServers } from '#src/dev/servers/push/push-servers'
import { TEST_MS } from '#test/support/bounds'
import { allLanesApplied, nodeOf, startCluster, testsWithServers } from '#test/support/cluster'
import { PASSWORD, createChannels } from '#test/support/device'
import { figureOf, until } from '#test/support/gateway'
import type { Gateway } from '#test/support/gateway'
import { drive, sender } from '#test/support/load'
import type { Outcome } from '#test/support/load'
import { addDevice, pushServers } from '#test/support/push-gateway'
import type { Kind } from '#test/support/push-gateway'

const clusterTest = testsWithServers()

const CHANNELS = 20
const SUBMISSIONS = 240
const SUBSCRIBERS = 4
/** Google's library opens a connection for each batch, so few channels have such a device. */
const CHANNELS_BY_FCM = 4
const DEVICES = CHANNELS + CHANNELS / CHANNELS_BY_FCM
const PUSHES = (SUBMISSIONS / CHANNELS) * DEVICES
const WIDTH = 32
const DISPATCHERS = [1, 2] as const

/** The pushes to each device, in the order in which its service took them. */
type Taken = Map<string, number[]>

clusterTest(
  'every push has one outcome, in order, through refusals and kills',
  async (t, servers) => {
    t.timeout(TEST_MS)
    const push = await pushServers(t)
    const dispatch = { ...push.env, SERVICE_ROLES: 'dispatch' }
    const others = { ...push.env, SERVICE_ROLES: 'ingress,actors' }
    const cluster = await startCluster(t, servers, [others, dispatch, dispatch])
    const gateway = nodeOf(cluster, 0)
    await allLanesApplied(gateway)
    const channels = await populate(gateway)
    const { taken, count } = listen(push)

    push.apns.refuse = () => ({ status: 429, reason: 'TooManyRequests' })
    const sending = submit(gateway, channels)
    await until(
      () => Promise.resolve(push.apns.requests),
      (refused) => refused > CHANNELS * 2,
    )
    for (const index of DISPATCHERS) {
      await nodeOf(cluster, index).end('SIGKILL')
      await cluster.again(index)
    }
    push.apns.refuse = () => undefined
    for (let times = 0; times < 10; times += 1) {
      await delay(300)
      push.apns.standIn.goAway()
    }
    const outcomes = await sending
    t.is(outcomes.filter(({ told }) => told.kind === 'accepted').length, SUBMISSIONS)
    await until(
      () => jobsOf(cluster.nodes),
      (jobs) => jobs === 0 && distinct(taken) === PUSHES,
      TEST_MS,
    )
    await everyOperationSent(t, gateway, outcomes)
    inOrder(t, taken)
    const repeats = count() - PUSHES
    t.log(`${PUSHES} pushes, ${repeats} of them repeated after a kill`)
    // Repeats are pushes that a process had under way when it was killed, and no more.
    t.true(repeats < PUSHES / 5, `${repeats} repeats`)
  },
)

async function populate(gateway: Gateway): Promise<readonly ChannelId[]> {
  const channels = await createChannels(gateway, CHANNELS)
  let number = 0
  for (const [index, channelId] of channels.entries()) {
    const kinds = Array.from({ length: SUBSCRIBERS }, (_, at): Kind => {
      if (at === 0) return 'apns'
      return at === 1 && index % CHANNELS_BY_FCM === 0 ? 'fcm' : 'private'
    })
    const devices = kinds.map((kind) => ({ kind, number: (number += 1) }))
    await Promise.all(devices.map((device) => addDevice(gateway, [channelId], device)))
  }
  return channels
}

function listen({ apns, fcm }: PushServers): { taken: Taken; count: () => number } {
  const taken: Taken = new Map()
  let count = 0
  const take = (token: string, seq: unknown): void => {
    count += 1
    const seqs = taken.get(token) ?? []
    taken.set(token, seqs)
    seqs.push(Number(seq))
  }
  apns.taken = ({ token, payload }) => take(token, payload['seq'])
  fcm.taken = ({ token, data }) => take(token, data['seq'])
  return { taken, count: () => count }
}

async function submit(
  gateway: Gateway,
  channels: readonly ChannelId[],
): Promise<readonly Outcome[]> {
  const submitting = sender(gateway.baseUrl, gateway.token, WIDTH)
  let sent = 0
  const outcomes = await drive(submitting, WIDTH, () => {
    if (sent === SUBMISSIONS) return undefined
    sent += 1
    const channel_id = channels[sent % channels.length]
    return { path: '/message', body: { channel_id, password: PASSWORD, title: `number ${sent}` } }
  })
  submitting.close()
  return outcomes
}

async function jobsOf(nodes: readonly Gateway[]): Promise<number> {
  const figures = await Promise.all(
    nodes.slice(1).map((node) => figureOf(node, 'heliograph_push_jobs')),
  )
  return Math.max(...figures)
}

const distinct = (taken: Taken): number =>
  [...taken.values()].reduce((sum, seqs) => sum + new Set(seqs).size, 0)

/** Without what came again, seqs only grow. */
function inOrder(t: ExecutionContext, taken: Taken): void {
  t.is(taken.size, DEVICES)
  for (const [token, seqs] of taken) {
    const firsts = [...new Set(seqs)]
    t.deepEqual(
      firsts,
      firsts.toSorted((one, other) => one - other),
      token,
    )
    t.is(firsts.length, SUBMISSIONS / CHANNELS)
  }
}

async function everyOperationSent(
  t: ExecutionContext,
  gateway: Gateway,
  outcomes: readonly Outcome[],
): Promise<void> {
  const client = createClient(gateway)
  const waiting = outcomes.flatMap(({ told }) => (told.kind === 'accepted' ? [told.opId] : []))
  const statuses = new Map<string, number>()
  const work = async (): Promise<void> => {
    for (let opId = waiting.pop(); opId !== undefined; opId = waiting.pop()) {
      const { status } = await client.status(opId)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: 16 }, work))
  t.deepEqual([...statuses], [['sent', SUBMISSIONS]])
}
