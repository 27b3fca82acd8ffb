import test from 'ava'

import { A, DEVICE, Rig, openOther, welcomedRig } from '#test/support/sessions-rig'

test('H2: a session that is gone holds no interest and hears nothing', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  t.is(rig.bus.listening(A), 1)
  carrier.handle?.closed()
  t.is(rig.bus.listening(A), 0)
  t.is(rig.sessions.count(), 0)
  carrier.hello()
  t.deepEqual(carrier.heard(), [])
})

test('H2: a carrier that went away during admission leaves nothing behind', async (t) => {
  const rig = new Rig()
  t.teardown(() => rig.sessions.close())
  const carrier = rig.open()
  rig.store.meanwhile = () => carrier.handle?.closed()
  carrier.hello()
  await rig.rest()
  t.is(rig.bus.listening(A), 0)
  t.deepEqual(carrier.heard(), [])
})

test('H4: a newer session of a device ends the older one', async (t) => {
  const { rig, carrier: older } = await welcomedRig(t)
  const newer = await rig.welcomed()
  t.deepEqual(older.heard(), ['goaway replaced -'])
  t.deepEqual(newer.heard(), ['welcome A 0/0', 'caught up A 0'])
  rig.time.advance(2_000)
  t.is(older.closedWith, '1001 going away')
  t.is(rig.sessions.count(), 1)
})

test('H4: the newer session wins also when the older one is admitted last', async (t) => {
  const rig = new Rig()
  t.teardown(() => rig.sessions.close())
  const older = rig.open()
  const newer = await rig.welcomed()
  older.hello()
  await rig.rest()
  t.deepEqual(older.heard(), ['goaway replaced -'])
  t.deepEqual(newer.heard(), ['welcome A 0/0', 'caught up A 0'])
})

test('H4: a session that begins on another node ends the older one here', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  const opened = { deviceId: DEVICE, carrier: 'wss', sessionId: 'elsewhere' }
  rig.bus.notify({ kind: 'session-opened', ...opened, openedAt: 999_999 })
  t.deepEqual(carrier.heard(), [])
  rig.bus.notify({ kind: 'session-opened', ...opened, openedAt: 1_000_001 })
  t.deepEqual(carrier.heard(), ['goaway replaced -'])
})

test('what was acknowledged before a subscription ended is not the position of a new one', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  rig.announce(rig.store.commitThing(A, 't', 'k', 1))
  carrier.say({ type: 'ack', channel_id: A, seq: 1 })
  rig.store.unsubscribe(DEVICE, A)
  rig.bus.notify({ kind: 'unsubscribed', channelId: A, deviceId: DEVICE })
  carrier.handle?.closed()
  rig.store.subscribe(DEVICE, A)
  rig.bus.notify({ kind: 'subscribed', channelId: A, deviceId: DEVICE })
  rig.time.advance(5_000)
  await rig.rest()
  const next = await rig.welcomed()
  await rig.rest()
  t.deepEqual(next.heard(), ['welcome A 0/1', 'A 1', 'caught up A 1'])
})

test('H5: draining sends everybody away and writes what is acknowledged late', async (t) => {
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

test('a device that stays after a goaway is closed', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  const drained = rig.sessions.drain()
  rig.time.advance(2_000)
  await drained
  t.is(carrier.closedWith, '1001 going away')
})

test('draining with nobody here ends at once', async (t) => {
  const rig = new Rig()
  await rig.sessions.drain()
  await rig.sessions.close()
  t.is(rig.time.waiting, 0)
})

test('a store that does not answer sends the device away for a while', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  rig.store.failure = new Error('the password is hunter2')
  rig.store.commitMessage(A)
  rig.announce(rig.store.commitMessage(A))
  await rig.rest()
  t.deepEqual(carrier.heard(), ['error internal_error', 'goaway unavailable 5000'])
  t.is(rig.log.lines.length, 1)
  t.false(JSON.stringify(rig.log.lines).includes('hunter2'))
})

test('H3: a defect in one session ends that session and no other', async (t) => {
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

test('more sessions than the limit are sent away', async (t) => {
  const rig = new Rig({ sessionsMax: 1 })
  t.teardown(() => rig.sessions.close())
  await rig.welcomed()
  const second = rig.open()
  t.deepEqual(second.heard(), ['goaway busy 5000'])
  t.is(rig.sessions.count(), 1)
})
