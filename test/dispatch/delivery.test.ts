// Method: a dispatcher over a real store sleeps, or meets a defect of the provider.

import test from 'ava'

import type { Outcome } from '#domain/push'
import { DispatchBench, NOW } from '#test/support/dispatch-bench'
import { DELIVERED, FakeProvider } from '#test/support/fake-provider'
import { deviceId, placesOf } from '#test/support/push-jobs'
import { message } from '#test/support/submissions'

const IN_AN_HOUR: Outcome = {
  kind: 'deferred',
  trouble: 'device',
  reason: 'http-503',
  afterMs: 3_600_000,
}
/** Pushes of the bench that may be in flight. */
const SLOTS = 64

test('held-pushes/1: a process that slept through its claims does not send what another one claimed', async (t) => {
  const bench = await DispatchBench.open(t)
  const { writer, provider, time } = bench
  const hanging = Promise.withResolvers<Outcome>()
  provider.answer = ({ entry }) => (entry.seq === 1 ? hanging.promise : DELIVERED)
  writer.take(message(), message(), message())
  await writer.commit()
  const slept = bench.start('slept')
  await bench.advanceUntil('the first is under way', () => provider.sent.length === 1, 1)
  time.hold(31_000)
  const awake = new FakeProvider()
  awake.answer = () => new Promise(() => {})
  const other = bench.start('other', awake)
  await bench.advanceUntil('the other one has them', () => awake.sent.length === 1, 1)
  await bench.advanceUntil('claims were renewed', () => time.nowMs() > NOW + 45_000)
  hanging.resolve(DELIVERED)
  await bench.advanceUntil('the answer was heard', () => time.nowMs() > NOW + 46_000)
  t.deepEqual(placesOf(provider.sent), ['token 1 1'])
  slept.kill()
  other.kill()
})

test('delivery/4: pushes that meet a defect fail and release their slots', async (t) => {
  const bench = await DispatchBench.open(t, 2)
  const { writer, provider } = bench
  provider.answer = ({ route }) => {
    if (route.token === 'token 1') throw new Error('a defect')
    return DELIVERED
  }
  for (let index = 0; index < SLOTS + 1; index += 1) writer.take(message())
  await writer.commit()
  const dispatcher = bench.start()
  await bench.advanceUntil('all have ended', () => bench.ended('apns') === 2 * (SLOTS + 1))
  t.is(bench.counted('failed'), SLOTS + 1)
  t.is(bench.counted('delivered'), SLOTS + 1)
  t.is(bench.meter.gauges.get('push_in_flight{apns}')?.(), 0)
  await dispatcher.stop()
})

test('delivery/1: a new route of a device does not wait as long as the old one was told to', async (t) => {
  const bench = await DispatchBench.open(t)
  const { writer, provider, store } = bench
  provider.answer = ({ route }) => (route.token === 'token 1' ? IN_AN_HOUR : DELIVERED)
  await writer.take(message(), message()).commit()
  const dispatcher = bench.start()
  await bench.advanceUntil('both wait', () => bench.meter.gauges.get('push_held{apns}')?.() === 0)
  t.is(provider.sent.length, 1)
  await store.devices.setRoute(deviceId(1), 'apns', 'token 2')
  await bench.advanceUntil('both are written', () => bench.counted('delivered') === 2)
  t.deepEqual(placesOf(provider.taken), ['token 2 1', 'token 2 2'])
  t.true(bench.time.nowMs() < NOW + 10_000)
  await dispatcher.stop()
})
