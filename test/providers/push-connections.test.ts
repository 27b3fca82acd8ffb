// Method: a stand-in for Apple's server misbehaves on its connections as real ones do.

import { once } from 'node:events'
import { connect } from 'node:http2'

import test from 'ava'

import type { StandIn } from '#src/dev/servers/push/http2-server'
import { until } from '#test/support/gateway'
import { apnsBench, pushOf } from '#test/support/push-servers'

const DELIVERED = { kind: 'delivered' } as const
const ANSWER_MS = 15_000
const PING_MS = 60_000

const unanswered = (standIn: StandIn, count: number): Promise<number> =>
  until(
    () => Promise.resolve(standIn.unanswered),
    (now) => now === count,
  )

test('push-connection/1, push-connections/1: the provider opens a connection only while the others have no room, up to four', async (t) => {
  const { server, provider } = await apnsBench(t, { streamsMax: 1 })
  const { standIn } = server
  t.deepEqual(await provider.send(pushOf('apns')), DELIVERED)
  t.deepEqual(await provider.send(pushOf('apns')), DELIVERED)
  t.is(standIn.accepted, 1, 'the first connection has room')
  standIn.latency = 'hang'
  const pushes: Promise<unknown>[] = []
  for (const count of [1, 2, 3, 4]) {
    pushes.push(provider.send(pushOf('apns')))
    await unanswered(standIn, count)
    t.is(standIn.accepted, count)
  }
  const waiting = provider.send(pushOf('apns'))
  // The server has accepted this later connection, so it would have accepted a fifth one before.
  const later = connect(`https://${server.host}`)
  await once(later, 'remoteSettings')
  t.is(standIn.accepted, 5)
  later.destroy()
  standIn.latency = 0
  standIn.goAway()
  t.deepEqual(await waiting, DELIVERED)
  t.deepEqual(
    await Promise.all(pushes),
    Array.from(pushes, () => DELIVERED),
  )
})

test('push-connections/2: the provider defers pushes without an answer or without a stream', async (t) => {
  const { server, provider, edge } = await apnsBench(t, { streamsMax: 1 })
  const { standIn } = server
  standIn.latency = 'hang'
  let done = 0
  const pushes = Array.from({ length: 5 }, () => provider.send(pushOf('apns')))
  const sending = pushes.map((sent) => sent.finally(() => (done += 1)))
  await unanswered(standIn, 4)
  edge.pass(ANSWER_MS - 5_000)
  edge.look()
  t.is(done, 0)
  edge.pass(6_000)
  edge.look()
  const late = { kind: 'deferred', trouble: 'provider', reason: 'ETIMEDOUT' }
  t.deepEqual(
    await Promise.all(sending),
    Array.from(pushes, () => late),
  )
  standIn.latency = 0
  t.deepEqual(await provider.send(pushOf('apns')), DELIVERED)
  t.is(standIn.accepted, 4, 'the connections stay open')
})

test('push-connections/3: the provider repeats a push whose stream the server refused, at most four times', async (t) => {
  const { server, provider } = await apnsBench(t)
  server.standIn.streamsToRefuse = 4
  t.deepEqual(await provider.send(pushOf('apns')), DELIVERED)
  server.standIn.streamsToRefuse = 5
  t.like(await provider.send(pushOf('apns')), { kind: 'deferred', trouble: 'provider' })
  t.is(server.standIn.streamsToRefuse, 0)
  t.is(server.requests, 1)
})

test('push-connection/2: the provider replaces a connection that answers no ping', async (t) => {
  const { server, provider, edge } = await apnsBench(t)
  const { standIn } = server
  t.deepEqual(await provider.send(pushOf('apns')), DELIVERED)
  for (const _ of ['asked', 'not answered']) {
    standIn.goSilent()
    edge.pass(PING_MS)
    edge.look()
  }
  t.deepEqual(await provider.send(pushOf('apns')), DELIVERED)
  t.is(standIn.accepted, 2)
})
