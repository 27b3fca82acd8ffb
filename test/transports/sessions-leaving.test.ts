import test from 'ava'

import { HEARTBEAT_MS } from '#src/transports/signals'
import { A, DEVICE, Rig, openOther, welcomedRig } from '#test/support/sessions-rig'
import { until } from '#test/support/until'

test('connection/2: an ended session listens to no channel and gets no announcement', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  t.is(rig.bus.listening(A), 1)
  carrier.handle?.closed()
  t.is(rig.bus.listening(A), 0)
  t.is(rig.sessions.count(), 0)
  carrier.hello()
  t.deepEqual(carrier.heard(), [])
})

test('connection/2: a carrier that closed during admission leaves no listener behind', async (t) => {
  const rig = new Rig()
  t.teardown(() => rig.sessions.close())
  const carrier = rig.open()
  rig.store.meanwhile = () => carrier.handle?.closed()
  carrier.hello()
  await rig.rest()
  t.is(rig.bus.listening(A), 0)
  t.deepEqual(carrier.heard(), [])
})

test('sessions/1: a newer session of a device ends the older one', async (t) => {
  const { rig, carrier: older } = await welcomedRig(t)
  const newer = await rig.welcomed()
  t.deepEqual(older.heard(), ['goaway replaced -'])
  t.deepEqual(newer.heard(), ['welcome A 0/0', 'caught up A 0'])
  rig.time.advance(2_000)
  t.is(older.closedWith, '1001 going away')
  t.is(rig.sessions.count(), 1)
})

test('sessions/1, rank/1: the newer session wins also when the older one is admitted last', async (t) => {
  const rig = new Rig()
  t.teardown(() => rig.sessions.close())
  const older = rig.open()
  const newer = await rig.welcomed()
  older.hello()
  await rig.rest()
  t.deepEqual(older.heard(), ['goaway replaced -'])
  t.deepEqual(newer.heard(), ['welcome A 0/0', 'caught up A 0'])
})

test('sessions/1: a session that begins on another node ends the older one here', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  const opened = { deviceId: DEVICE, carrier: 'wss' }
  rig.bus.notify({ kind: 'session-opened', ...opened, number: 1 })
  t.deepEqual(carrier.heard(), [])
  rig.bus.notify({ kind: 'session-opened', ...opened, number: 2 })
  t.deepEqual(carrier.heard(), ['goaway replaced -'])
})

test('sessions/1, rank/1: between nodes the session that began later stays, whatever their clocks say', async (t) => {
  for (const aheadMs of [-300_000, 300_000]) {
    const { rig, carrier: older } = await welcomedRig(t)
    const other = new Rig({}, rig, aheadMs)
    t.teardown(() => other.sessions.close())
    const newer = await other.welcomed()
    t.deepEqual(older.heard(), ['goaway replaced -'])
    t.deepEqual(newer.heard(), ['welcome A 0/0', 'caught up A 0'])
    const newest = await rig.welcomed()
    t.deepEqual(newer.heard(), ['goaway replaced -'])
    t.deepEqual(newest.heard(), ['welcome A 0/0', 'caught up A 0'])
  }
})

test('sessions/1: of two sessions that begin at once on two nodes one stays, also with a late number', async (t) => {
  const rig = new Rig()
  const other = new Rig({}, rig)
  t.teardown(() => Promise.all([rig.sessions.close(), other.sessions.close()]))
  const slow = rig.open()
  const { promise, resolve } = Promise.withResolvers<void>()
  rig.store.numbered = () => promise
  slow.hello()
  await rig.rest()
  rig.store.numbered = async () => {}
  const quick = await other.welcomed()
  resolve()
  await rig.rest()
  t.deepEqual(slow.heard(), ['goaway replaced -'])
  t.deepEqual(quick.heard(), ['welcome A 0/0', 'caught up A 0'])
})

test('sessions/1: a session that replaces one with a greater number is newer than it', async (t) => {
  const rig = new Rig()
  t.teardown(() => rig.sessions.close())
  const older = rig.open()
  const newer = rig.open()
  const { promise, resolve } = Promise.withResolvers<void>()
  rig.store.numbered = () => promise
  newer.hello()
  await rig.rest()
  rig.store.numbered = async () => {}
  older.hello()
  await until('the older one is welcomed', () => older.sent.length > 0)
  resolve()
  await until('the newer one is welcomed', () => newer.sent.length > 0)
  t.deepEqual(older.heard(), ['welcome A 0/0', 'caught up A 0', 'goaway replaced -'])
  t.deepEqual(newer.heard(), ['welcome A 0/0', 'caught up A 0'])
})

test('a welcome has the time of the wall clock', async (t) => {
  const rig = new Rig()
  t.teardown(() => rig.sessions.close())
  rig.time.set(86_400_000)
  const [welcome = ''] = (await rig.welcomed()).sent
  t.like(JSON.parse(welcome), { server_time: rig.time.nowMs() })
})

test('session/3: a change of the wall clock ends no session and hides no silence', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  for (const byMs of [86_400_000, -172_800_000]) {
    rig.time.set(byMs)
    rig.time.advance(1_000)
  }
  t.deepEqual(carrier.heard(), [])
  rig.time.advance(HEARTBEAT_MS)
  t.deepEqual(carrier.heard(), ['ping'])
  rig.time.advance(2 * HEARTBEAT_MS)
  t.is(carrier.closedWith, '1008 no answer')
})

test('an acknowledgement before the end of a subscription is not the position of a new one', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  rig.announce(rig.store.commitThing(A, 't', 'k', 1))
  carrier.say({ type: 'ack', channel_id: A, seq: 1 })
  rig.unsubscribe(A)
  carrier.handle?.closed()
  rig.subscribe(A)
  rig.time.advance(5_000)
  await rig.rest()
  const next = await rig.welcomed()
  await rig.rest()
  t.deepEqual(next.heard(), ['welcome A 0/1', 'A 1', 'caught up A 1'])
})

test('sessions/2: drain ends every session and writes late acknowledgements', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  rig.announce(rig.store.commitMessage(A))
  carrier.heard()
  const drained = rig.sessions.drain()
  t.deepEqual(carrier.heard(), ['goaway shutdown 5000'])
  carrier.say({ type: 'ack', channel_id: A, seq: 1 })
  const late = rig.open()
  t.deepEqual(late.heard(), ['goaway shutdown 5000'])
  carrier.handle?.closed()
  await drained
  t.is(rig.sessions.count(), 0)
  t.deepEqual(rig.store.writes, [[{ deviceId: DEVICE, channelId: A, seq: 1 }]])
})

test('sessions/2: devices get a goaway at once, and a store that hangs delays the stop for a bounded time', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  const { promise: hanging, resolve: thaw } = Promise.withResolvers<void>()
  t.teardown(thaw)
  rig.store.written = () => hanging
  rig.announce(rig.store.commitMessage(A))
  carrier.say({ type: 'ack', channel_id: A, seq: 1 })
  rig.time.advance(5_000)
  await rig.rest()
  t.is(rig.store.writes.length, 1)
  carrier.heard()
  let isDrained = false
  const drained = rig.sessions.drain().then(() => (isDrained = true))
  t.deepEqual(carrier.heard(), ['goaway shutdown 5000'])
  rig.time.advance(2_000)
  t.is(carrier.closedWith, '1001 going away')
  await rig.rest()
  rig.time.advance(2_999)
  await rig.rest()
  t.false(isDrained)
  rig.time.advance(1)
  await drained
})

test('a session closes when its device stays after a goaway', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  const drained = rig.sessions.drain()
  rig.time.advance(2_000)
  await drained
  t.is(carrier.closedWith, '1001 going away')
})

test('drain without sessions ends at once', async (t) => {
  const rig = new Rig()
  await rig.sessions.drain()
  await rig.sessions.close()
  t.is(rig.time.waiting, 0)
})

test('a device gets a goaway when the store does not answer', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  rig.store.failure = new Error('the password is hunter2')
  rig.store.commitMessage(A)
  rig.announce(rig.store.commitMessage(A))
  await rig.rest()
  t.deepEqual(carrier.heard(), ['error internal_error', 'goaway unavailable 5000'])
  t.is(rig.logger.lines.length, 1)
  t.false(JSON.stringify(rig.logger.lines).includes('hunter2'))
})

test('connection/3: a defect in one session ends that session and no other', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  const other = await openOther(rig)
  other.heard()
  carrier.send = () => {
    throw new Error('broken carrier')
  }
  const rounds: (() => void)[] = []
  rig.soon = (task) => rounds.push(task)
  rig.announce(rig.store.commitMessage(A))
  rounds.splice(0).forEach((end) => end())
  t.is(carrier.closedWith, '1011 internal error')
  t.deepEqual(other.heard(), ['A 1'])
})
