// Method: sessions with a store in memory, a bus, and carriers that write down what they are given.
// Time moves only when a test moves it.

import test from 'ava'

import { laneOf } from '#domain/identity'

import { WINDOW_ENTRIES_MAX } from '#src/transports/signals'
import { admissionFor } from '#test/support/admission'
import { until } from '#test/support/until'
import {
  A,
  B,
  C,
  DEVICE,
  FakeCarrier,
  Rig,
  deviceIdOf,
  openOther,
  welcomedRig,
  LANES,
} from '#test/support/sessions-rig'

test('an announced entry goes to every session of its channel as the same text', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  const other = await openOther(rig)
  rig.announce(rig.store.commitMessage(A))
  t.is(carrier.sent.at(-1), other.sent.at(-1))
  t.deepEqual(carrier.heard(), ['A 1'])
  t.is(rig.meter.total('deliveries_total{live}'), 2)
  t.is(rig.gauge('sessions{wss}'), 2)
})

test('outbox/1: the texts of one round go out in one write, in order', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  const rounds: (() => void)[] = []
  rig.soon = (task) => rounds.push(task)
  carrier.writes = 0
  for (let entry = 0; entry < 3; entry += 1) rig.announce(rig.store.commitMessage(A))
  carrier.say({ type: 'ping', t: 5 })
  t.deepEqual(carrier.heard(), [])
  t.is(rounds.length, 1)
  rounds.splice(0).forEach((end) => end())
  t.is(carrier.writes, 1)
  t.deepEqual(carrier.heard(), ['A 1', 'A 2', 'A 3', 'pong 5'])
  t.is(rounds.length, 0)
})

test('outbox/1: the texts that wait for the end of a round are bounded', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  rig.soon = () => undefined
  const announce = (): void => rig.announce(rig.store.commitMessage(A))
  for (let entry = 1; entry < WINDOW_ENTRIES_MAX; entry += 1) announce()
  t.is(carrier.sent.length, 0)
  announce()
  t.is(carrier.sent.length, WINDOW_ENTRIES_MAX)
})

test('outbox/1: a session sends its waiting texts before it ends', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  rig.soon = () => undefined
  rig.announce(rig.store.commitMessage(A))
  await rig.sessions.close()
  t.deepEqual(carrier.heard(), ['A 1'])
  t.is(carrier.closedWith, '1001 going away')
})

test('connection/1: entries announced while the positions are read are not lost', async (t) => {
  const rig = new Rig()
  t.teardown(() => rig.sessions.close())
  let readings = 0
  rig.store.meanwhile = () => {
    readings += 1
    // Behind the second reading: the head in its answer is older than this entry.
    if (readings === 2) rig.announce(rig.store.commitMessage(A))
  }
  const carrier = await rig.welcomed()
  await rig.rest()
  t.deepEqual(carrier.heard(), ['welcome A 0/1', 'A 1', 'caught up A 1'])
})

test('the gateway token is taken from the upgrade or the hello', async (t) => {
  const token = 'secret-token'
  const attempts: string[] = []
  const budget = {
    take: (address: string) =>
      attempts.push(address) > 1 ? { limit: 1, resetMs: 60_000 } : undefined,
  }
  const rows: readonly (readonly [authorization: string, hello: object, expected: string])[] = [
    ['', {}, 'error authentication_failed'],
    ['Bearer wrong', { gateway_token: 'wrong' }, 'error authentication_failed'],
    ['', { gateway_token: 'wrong' }, 'error rate_limited'],
    [`Bearer ${token}`, {}, 'welcome A 0/0'],
    ['', { gateway_token: token }, 'welcome A 0/0'],
  ]
  const rig = new Rig({ admission: admissionFor(token, budget) })
  t.teardown(() => rig.sessions.close())
  for (const [authorization, hello, expected] of rows) {
    const carrier = rig.open(new FakeCarrier(authorization))
    carrier.hello(hello)
    await rig.rest()
    t.is(carrier.heard()[0], expected)
  }
  t.deepEqual(attempts, ['192.0.2.1', '192.0.2.1'], 'a device that sends none does not guess')
  t.false(JSON.stringify(rig.logger.lines).includes(token))
})

test('an unknown device key is refused', async (t) => {
  const rig = new Rig()
  t.teardown(() => rig.sessions.close())
  const carrier = rig.open()
  carrier.hello({ device_key: '9'.repeat(32) })
  await rig.rest()
  t.deepEqual(carrier.heard(), ['error device_key_not_found'])
  t.is(carrier.closedWith, '1008 device_key_not_found')
  t.is(rig.sessions.count(), 0)
})

test('subscriptions that begin and end are told while connected', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  rig.store.commitThing(B, 't', 'k', 1)
  rig.store.subscribe(DEVICE, B)
  rig.bus.notify({ kind: 'subscribed', channelId: B, deviceId: DEVICE })
  await rig.rest()
  t.deepEqual(carrier.heard(), ['subscribed B 0/1', 'B 1', 'caught up B 1'])
  rig.announce(rig.store.commitMessage(B))
  t.deepEqual(carrier.heard(), ['B 2'])
  rig.bus.notify({ kind: 'unsubscribed', channelId: B, deviceId: DEVICE })
  rig.bus.notify({ kind: 'channel-deleted', channelId: A })
  t.deepEqual(carrier.heard(), ['unsubscribed B', 'channel_deleted A'])
  t.is(rig.bus.listening(A) + rig.bus.listening(B), 0)
})

test('subscriptions that begin together are all served', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  for (const channelId of [B, C]) {
    rig.store.subscribe(DEVICE, channelId)
    rig.bus.notify({ kind: 'subscribed', channelId, deviceId: DEVICE })
  }
  await rig.rest()
  const expected = ['subscribed B 0/0', 'caught up B 0', 'subscribed C 0/0', 'caught up C 0']
  t.deepEqual(carrier.heard().toSorted(), expected.toSorted())
  rig.announce(rig.store.commitMessage(B), rig.store.commitMessage(C))
  t.deepEqual(carrier.heard(), ['B 1', 'C 1'])
})

test('a subscription that ends while its position is read is not served', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  rig.store.subscribe(DEVICE, B)
  rig.bus.notify({ kind: 'subscribed', channelId: B, deviceId: DEVICE })
  rig.store.unsubscribe(DEVICE, B)
  rig.bus.notify({ kind: 'unsubscribed', channelId: B, deviceId: DEVICE })
  await rig.rest()
  t.deepEqual(carrier.heard(), [])
  t.is(rig.bus.listening(B), 0)
})

test('a subscription that begins behind the last reading of an admission is served', async (t) => {
  const rig = new Rig()
  t.teardown(() => rig.sessions.close())
  let readings = 0
  rig.store.meanwhile = () => {
    readings += 1
    if (readings !== 2) return
    rig.store.subscribe(DEVICE, B)
    rig.bus.notify({ kind: 'subscribed', channelId: B, deviceId: DEVICE })
  }
  const carrier = await rig.welcomed()
  await rig.rest()
  rig.time.advance(1_000)
  await rig.rest()
  const begun = ['welcome A 0/0', 'caught up A 0']
  t.deepEqual(carrier.heard(), [...begun, 'subscribed B 0/0', 'caught up B 0'])
})

test('connection/1: entries announced before the bus knows of a listener are read from the feed', async (t) => {
  const rig = new Rig()
  t.teardown(() => rig.sessions.close())
  const known = Promise.withResolvers<void>()
  rig.bus.flush = () => known.promise
  const carrier = rig.open()
  carrier.hello()
  await rig.rest()
  rig.store.commitMessage(A) // Its announcement does not come this far.
  t.deepEqual(carrier.heard(), [])
  known.resolve()
  await rig.rest()
  t.deepEqual(carrier.heard(), ['welcome A 0/1', 'A 1', 'caught up A 1'])
})

test('connection/1: the same holds for a subscription that begins while connected', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  const known = Promise.withResolvers<void>()
  rig.bus.flush = () => known.promise
  rig.store.subscribe(DEVICE, B)
  rig.bus.notify({ kind: 'subscribed', channelId: B, deviceId: DEVICE })
  await rig.rest()
  rig.store.commitMessage(B)
  known.resolve()
  await rig.rest()
  t.deepEqual(carrier.heard(), ['subscribed B 0/1', 'B 1', 'caught up B 1'])
})

test('sessions/3: when a lane gets a new owner its sessions look again within two seconds', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  rig.store.commitMessage(A)
  const lane = laneOf(A, LANES)
  for (let other = 0; other < LANES; other += 1) {
    if (other !== lane) rig.bus.notify({ kind: 'lane-taken', lane: other })
  }
  rig.time.advance(2_000)
  await rig.rest()
  t.deepEqual(carrier.heard(), [])
  let readings = 0
  rig.store.meanwhile = () => (readings += 1)
  for (let times = 0; times < 3; times += 1) rig.bus.notify({ kind: 'lane-taken', lane })
  rig.time.advance(2_000)
  await rig.rest()
  t.deepEqual(carrier.heard(), ['A 1', 'caught up A 1'])
  t.is(readings, 1, 'however many lanes are taken together, it looks once')
})

test('channel-listeners/3: an entry too large for the bus is read as soon as its head is announced', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  rig.store.commitMessage(A)
  rig.announce({ channelId: A, entries: [], headSeq: 1 })
  await rig.rest()
  t.deepEqual(carrier.heard(), ['A 1', 'caught up A 1'])
})

test('a check finds announcements and notices that the bus has lost', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  rig.store.commitMessage(A)
  rig.store.subscribe(DEVICE, B)
  rig.time.advance(25_000)
  carrier.say({ type: 'pong' })
  rig.time.advance(25_000)
  carrier.say({ type: 'pong' })
  rig.time.advance(10_000)
  await rig.rest()
  const expected = ['ping', 'ping', 'A 1', 'caught up A 1', 'subscribed B 0/0', 'caught up B 0']
  t.deepEqual(carrier.heard().toSorted(), expected.toSorted())
  rig.store.unsubscribe(DEVICE, B)
  rig.time.advance(15_000)
  carrier.say({ type: 'pong' })
  rig.time.advance(25_000)
  carrier.say({ type: 'pong' })
  rig.time.advance(20_000)
  await rig.rest()
  t.true(carrier.heard().includes('unsubscribed B'))
})

test('a recheck finds entries that the bus has lost, within two seconds', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  rig.store.commitMessage(A)
  rig.sessions.recheck()
  rig.time.advance(2_000)
  await rig.rest()
  t.deepEqual(carrier.heard(), ['A 1', 'caught up A 1'])
})

test('acknowledgements are coalesced and written every five seconds', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  for (let seq = 1; seq <= 3; seq += 1) {
    rig.announce(rig.store.commitMessage(A))
    carrier.say({ type: 'ack', channel_id: A, seq })
  }
  t.deepEqual(rig.store.writes, [])
  t.is(rig.gauge('acknowledgements_waiting'), 1)
  rig.time.advance(4_000)
  await rig.rest()
  t.deepEqual(rig.store.writes, [])
  rig.time.advance(1_000)
  await rig.rest()
  t.deepEqual(rig.store.writes, [[{ deviceId: DEVICE, channelId: A, seq: 3 }]])
})

test('acknowledgement-writer/2: an acknowledgement that could not be written is written later', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  rig.announce(rig.store.commitMessage(A))
  carrier.say({ type: 'ack', channel_id: A, seq: 1 })
  rig.store.failure = new Error('down')
  rig.time.advance(5_000)
  await rig.rest()
  t.is(rig.gauge('acknowledgements_waiting'), 1)
  rig.store.failure = undefined
  rig.time.advance(5_000)
  await rig.rest()
  t.is(rig.store.writes.length, 1)
})

test('a carrier that is slow is waited for, and the others are not', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  carrier.held = 2_000_000
  rig.announce(rig.store.commitMessage(A))
  rig.announce(rig.store.commitMessage(A))
  t.deepEqual(carrier.heard(), ['A 1'])
  t.is(rig.gauge('session_buffered_bytes'), 2_000_000)
  t.is(rig.gauge('sessions_behind'), 1)
  carrier.held = 0
  carrier.handle?.drained(0)
  await rig.rest()
  t.deepEqual(carrier.heard(), ['A 2', 'caught up A 2'])
})

test('a fleet that comes back together reads a few pages at once', async (t) => {
  const rig = new Rig()
  t.teardown(() => rig.sessions.close())
  rig.store.commitMessage(A)
  const carriers = Array.from({ length: 60 }, (_, at) => {
    const key = at.toString(16).padStart(32, 'f')
    rig.store.subscribe(deviceIdOf(key), A)
    return [key, rig.open()] as const
  })
  rig.store.commitMessage(A)
  for (const [key, carrier] of carriers) carrier.hello({ device_key: key })
  await until('all have caught up', () =>
    carriers.every(([, { sent }]) => sent.some((text) => text.includes('caught_up'))),
  )
  t.true(rig.store.readingMost > 1 && rig.store.readingMost <= 16)
})

test('a device that never acknowledges gets its window and no more', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  for (let count = 0; count < WINDOW_ENTRIES_MAX + 50; count += 1) {
    rig.announce(rig.store.commitMessage(A))
  }
  await rig.rest()
  t.is(carrier.sent.length, WINDOW_ENTRIES_MAX)
})
