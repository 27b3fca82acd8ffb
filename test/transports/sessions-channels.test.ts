// Goal: whatever begins, ends or is lost meanwhile, a session serves the channels of its device.
// Method: sessions with a store in memory, a bus, and carriers that record their texts.
// Time moves only when a test moves it.

import test from 'ava'

import { laneOf } from '#domain/identity'

import { A, B, C, DEVICE, Rig, welcomedRig, LANES } from '#test/support/sessions-rig'
import type { FakeCarrier } from '#test/support/sessions-rig'

test('connection/1, channel-listeners/2: a session gets entries announced while it reads its positions', async (t) => {
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

test('a connected device gets notices of subscriptions that begin and end', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  rig.store.commitThing(B, 't', 'k', 1)
  rig.subscribe(B)
  await rig.rest()
  t.deepEqual(carrier.heard(), ['subscribed B 0/1', 'B 1', 'caught up B 1'])
  rig.announce(rig.store.commitMessage(B))
  t.deepEqual(carrier.heard(), ['B 2'])
  rig.bus.notify({ kind: 'channel-renamed', channelId: B, channelName: 'Cellar' })
  t.regex(String(carrier.sent), /"channel_name":"Cellar"/)
  t.deepEqual(carrier.heard(), ['subscribed B 2/2'])
  rig.bus.notify({ kind: 'unsubscribed', channelId: B, deviceId: DEVICE })
  rig.bus.notify({ kind: 'channel-deleted', channelId: A })
  t.deepEqual(carrier.heard(), ['unsubscribed B', 'channel_deleted A'])
  t.is(rig.bus.listening(A) + rig.bus.listening(B), 0)
})

test('a session serves all subscriptions that begin together', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  for (const channelId of [B, C]) {
    rig.subscribe(channelId)
  }
  await rig.rest()
  const expected = ['subscribed B 0/0', 'caught up B 0', 'subscribed C 0/0', 'caught up C 0']
  t.deepEqual(carrier.heard().toSorted(), expected.toSorted())
  rig.announce(rig.store.commitMessage(B), rig.store.commitMessage(C))
  t.deepEqual(carrier.heard(), ['B 1', 'C 1'])
})

test('a session does not serve a subscription that ends while it reads the position', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  rig.subscribe(B)
  rig.unsubscribe(B)
  await rig.rest()
  t.deepEqual(carrier.heard(), [])
  t.is(rig.bus.listening(B), 0)
})

test('connection/4: a session does not serve a subscription that ends during its admission', async (t) => {
  for (const last of [1, 2]) {
    const rig = new Rig()
    t.teardown(() => rig.sessions.close())
    let readings = 0
    rig.store.meanwhile = () => {
      readings += 1
      if (readings === last) rig.unsubscribe(A)
    }
    const carrier = await rig.welcomed()
    rig.announce(rig.store.commitMessage(A))
    await rig.rest()
    t.deepEqual(carrier.heard(), ['welcome'], `in reading ${last}`)
  }
})

test('a session serves a subscription that begins after the last reading of its admission', async (t) => {
  const rig = new Rig()
  t.teardown(() => rig.sessions.close())
  let readings = 0
  rig.store.meanwhile = () => {
    readings += 1
    if (readings !== 2) return
    rig.subscribe(B)
  }
  const carrier = await rig.welcomed()
  await rig.rest()
  rig.time.advance(1_000)
  await rig.rest()
  const begun = ['welcome A 0/0', 'caught up A 0']
  t.deepEqual(carrier.heard(), [...begun, 'subscribed B 0/0', 'caught up B 0'])
})

test('connection/1: a session reads entries from the feed that came before the bus knew its listener', async (t) => {
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

test('connection/1: so does a subscription that begins while the device is connected', async (t) => {
  const { rig, carrier } = await welcomedRig(t)
  const known = Promise.withResolvers<void>()
  rig.bus.flush = () => known.promise
  rig.subscribe(B)
  await rig.rest()
  rig.store.commitMessage(B)
  known.resolve()
  await rig.rest()
  t.deepEqual(carrier.heard(), ['subscribed B 0/1', 'B 1', 'caught up B 1'])
})

test('sessions/3: within two seconds after a lane got a new owner its sessions compare with the store', async (t) => {
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

test('channel-listeners/3: sessions read an entry too large for the bus once its head is announced', async (t) => {
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
  passWithPongs(rig, carrier, [25_000, 25_000, 10_000])
  await rig.rest()
  const expected = ['ping', 'ping', 'A 1', 'caught up A 1', 'subscribed B 0/0', 'caught up B 0']
  t.deepEqual(carrier.heard().toSorted(), expected.toSorted())
  rig.store.unsubscribe(DEVICE, B)
  passWithPongs(rig, carrier, [15_000, 25_000, 20_000])
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

/** Lets times pass; the device answers the ping that is due behind each but the last. */
function passWithPongs(
  rig: Rig,
  carrier: FakeCarrier,
  [first = 0, ...more]: readonly number[],
): void {
  rig.time.advance(first)
  for (const ms of more) {
    carrier.say({ type: 'pong' })
    rig.time.advance(ms)
  }
}
