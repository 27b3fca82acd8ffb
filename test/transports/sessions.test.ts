// Method: sessions with a store in memory, a bus, and carriers that record their texts.
// Time moves only when a test moves it.

import test from 'ava'

import { WINDOW_ENTRIES_MAX } from '#src/transports/signals'
import { admissionFor } from '#test/support/admission'
import { until } from '#test/support/until'
import {
  A,
  DEVICE,
  FakeCarrier,
  Rig,
  deviceIdOf,
  openOther,
  welcomedRig,
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

test('outbox/1: the texts of one pass go out in one write, in order', async (t) => {
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

test('outbox/1: the texts that wait for the end of a pass are bounded', async (t) => {
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

test('a session takes the gateway token from the upgrade or the hello', async (t) => {
  const token = 'secret-token'
  const rows: readonly (readonly [authorization: string, hello: object, expected: string])[] = [
    ['', {}, 'error authentication_failed'], // A device that sends none does not guess.
    ['Bearer wrong', { gateway_token: 'wrong' }, 'error authentication_failed'],
    ['', { gateway_token: 'wrong' }, 'error rate_limited'],
    [`Bearer ${token}`, {}, 'welcome A 0/0'],
    ['', { gateway_token: token }, 'welcome A 0/0'],
  ]
  const rig = new Rig({ admission: admissionFor(token, { perAddress: 1, total: 10 }) })
  t.teardown(() => rig.sessions.close())
  for (const [authorization, hello, expected] of rows) {
    const carrier = rig.open(new FakeCarrier(authorization))
    carrier.hello(hello)
    await rig.rest()
    t.is(carrier.heard()[0], expected)
  }
  t.false(JSON.stringify(rig.logger.lines).includes(token))
})

test('a session refuses an unknown device key', async (t) => {
  const rig = new Rig()
  t.teardown(() => rig.sessions.close())
  const carrier = rig.open()
  carrier.hello({ device_key: '9'.repeat(32) })
  await rig.rest()
  t.deepEqual(carrier.heard(), ['error device_key_not_found'])
  t.is(carrier.closedWith, '1008 device_key_not_found')
  t.is(rig.sessions.count(), 0)
})

test('sessions coalesce acknowledgements and write them every five seconds', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  for (let seq = 1; seq <= 3; seq += 1) {
    rig.announce(rig.store.commitMessage(A))
    carrier.say({ type: 'ack', channel_id: A, seq })
  }
  t.deepEqual(rig.store.writes, [])
  t.is(rig.gauge('acknowledgements_waiting'), 1)
  // The next session goes on from them already.
  t.deepEqual((await rig.welcomed()).heard(), ['welcome A 3/3', 'caught up A 3'])
  rig.time.advance(4_000)
  await rig.rest()
  t.deepEqual(rig.store.writes, [])
  rig.time.advance(1_000)
  await rig.rest()
  t.deepEqual(rig.store.writes, [[{ deviceId: DEVICE, channelId: A, seq: 3 }]])
})

test('acknowledgement-writer/2: a failed write of an acknowledgement is repeated later', async (t) => {
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

test('a session waits for a slow carrier, and no other session does', async (t) => {
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

test('a fleet that reconnects at once reads a few pages at a time', async (t) => {
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
