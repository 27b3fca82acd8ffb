// Method: a dispatcher over a real store sends to a fake provider. The tests check the pushes,
// their order, and the endings in the store.

import test from 'ava'

import type { Outcome, Push } from '#domain/push'
import { DispatchBench, NOW } from '#test/support/dispatch-bench'
import { AWAY, BUSY, DELIVERED, FakeProvider, REFUSED } from '#test/support/fake-provider'
import { deviceId, placesOf } from '#test/support/push-jobs'
import { message, opId } from '#test/support/submissions'

const MESSAGES_A_MINUTE = 20

const places = (pushes: readonly Push[]): readonly string[] => placesOf(pushes).toSorted()

test('a dispatcher sends a due push once, and its operation ends', async (t) => {
  const bench = await DispatchBench.open(t, 3)
  const { writer, provider, store } = bench
  await writer.take(message({ opId: 'm' })).commit()
  const dispatcher = bench.start()
  await bench.advanceUntil('all are written', () => bench.counted('delivered') === 3)
  t.deepEqual(places(provider.taken), ['token 1 1', 'token 2 1', 'token 3 1'])
  t.is((await store.operations.find(opId('m')))?.status, 'sent')
  t.is(bench.meter.total('operations_total{sent}'), 1)

  await writer.take(message()).commit()
  dispatcher.nudge()
  await bench.advanceUntil('the next ones are written', () => bench.counted('delivered') === 6, 0)
  t.is(provider.sent.length, 6)
  await dispatcher.stop()
})

test('a dispatcher finds a job within a second without a nudge', async (t) => {
  const bench = await DispatchBench.open(t)
  const dispatcher = bench.start()
  await bench.advanceUntil('it waits for jobs', () => bench.time.waiting >= 3, 0)
  await bench.writer.take(message()).commit()
  await bench.advanceUntil('it was sent', () => bench.counted('delivered') === 1, 20)
  t.true(bench.time.nowMs() <= NOW + 1_100)
  await dispatcher.stop()
})

test('delivery/1: a device whose push was refused for now gets its pushes later, in order', async (t) => {
  const bench = await DispatchBench.open(t, 2)
  const { writer, provider } = bench
  let refusals = 3
  provider.answer = ({ route, entry }): Outcome => {
    if (route.token !== 'token 1' || entry.seq !== 2 || refusals === 0) return DELIVERED
    refusals -= 1
    return BUSY
  }
  for (let index = 0; index < 5; index += 1) writer.take(message())
  await writer.commit()
  const dispatcher = bench.start()
  await bench.advanceUntil('all are written', () => bench.counted('delivered') === 10)
  const of = (token: string): readonly number[] =>
    provider.taken.filter(({ route }) => route.token === token).map(({ entry }) => entry.seq)
  t.deepEqual(of('token 1'), [1, 2, 3, 4, 5])
  t.deepEqual(of('token 2'), [1, 2, 3, 4, 5])
  t.is(provider.sent.length, 13, 'the dispatcher sends no push behind a refused one')
  t.is(bench.meter.total('push_retries_total{apns}'), 3)
  t.is(bench.meter.total('push_refusals_total{apns,TooMany}'), 3)
  t.true(bench.time.nowMs() - NOW >= 7_000, 'one, two and four seconds')
  t.true((bench.meter.gauges.get('push_concurrency{apns}')?.() ?? 0) >= 8, 'nobody else waits')
  await dispatcher.stop()
})

test('a provider that does not answer opens the circuit, and its next answer closes it', async (t) => {
  const bench = await DispatchBench.open(t, 20)
  const { writer, provider } = bench
  provider.answer = () => AWAY
  for (let index = 0; index < 5; index += 1) writer.take(message())
  await writer.commit()
  const dispatcher = bench.start()
  await bench.advanceUntil('the circuit is open', () => !dispatcher.readiness().ready)
  t.deepEqual(dispatcher.readiness(), {
    name: 'apns',
    ready: false,
    detail: 'does not answer; pushes wait',
    isOptional: true,
  })
  t.is(bench.meter.gauges.get('push_circuit_open{apns}')?.(), 1)
  const before = provider.sent.length
  bench.time.advance(20_000)
  await bench.advanceUntil('the circuit probes it', () => provider.sent.length > before)
  t.true(provider.sent.length < before + 10, 'with a few pushes, not with all')
  provider.answer = () => DELIVERED
  await bench.advanceUntil('all are written', () => bench.counted('delivered') === 100)
  t.true(dispatcher.readiness().ready)
  await dispatcher.stop()
})

test('a provider that hangs for ten minutes delays no push of the other one', async (t) => {
  const bench = await DispatchBench.open(t, 4, 4)
  const { writer, provider, time } = bench
  const google = new FakeProvider('fcm')
  // A provider ends a push that has no answer after fifteen seconds.
  provider.answer = () => new Promise((resolve) => void time.after(15_000, () => resolve(AWAY)))
  const [hanging, other] = [bench.start('one'), bench.start('one', google)]
  for (let minute = 0; minute < 10; minute += 1) {
    const beganMs = time.nowMs()
    for (let count = 0; count < MESSAGES_A_MINUTE; count += 1) {
      writer.take(message({ acceptedAt: beganMs }))
    }
    await writer.commit()
    hanging.nudge()
    other.nudge()
    const sent = (minute + 1) * MESSAGES_A_MINUTE * 4
    await bench.advanceUntil('Google has them', () => google.taken.length === sent, 1)
    t.true(time.nowMs() - beganMs < 100, 'at once')
    await bench.advanceUntil('the minute is over', () => time.nowMs() >= beganMs + 60_000, 500)
  }
  t.true(provider.sent.length < 100, `${provider.sent.length} pushes got no answer`)
  provider.answer = () => DELIVERED
  await bench.advanceUntil('Apple has the rest', () => bench.ended('apns') === 40 * 20, 500)
  t.is(new Set(provider.taken.map(({ id }) => id)).size, 10 * 4 * MESSAGES_A_MINUTE)
  await Promise.all([hanging.stop(), other.stop()])
})

test('dispatcher/3: a dispatcher claims seldom while the provider does not answer', async (t) => {
  const bench = await DispatchBench.open(t, 32)
  const { writer, provider, time } = bench
  for (let index = 0; index < 200; index += 1) writer.take(message())
  await writer.commit()
  provider.answer = () => AWAY
  const dispatcher = bench.start()
  await bench.advanceUntil('a while passes', () => time.nowMs() >= NOW + 900)
  t.false(dispatcher.readiness().ready)
  t.true(bench.claims.length <= 6, `claims gave ${bench.claims.join(', ')} pushes`)
  await dispatcher.stop()
})

test('a dispatcher keeps the jobs while the provider refuses the credentials, and reports that', async (t) => {
  const bench = await DispatchBench.open(t)
  const { writer, provider, store } = bench
  provider.answer = () => REFUSED
  await writer.take(message({ opId: 'm' })).commit()
  const dispatcher = bench.start()
  await bench.advanceUntil('the circuit is open', () => !dispatcher.readiness().ready)
  t.regex(dispatcher.readiness().detail, /credentials: BadKey/)
  t.is(bench.meter.gauges.get('push_credentials_refused{apns}')?.(), 1)
  bench.time.advance(600_000)
  t.is((await store.operations.find(opId('m')))?.status, 'provider_queued')
  provider.answer = () => DELIVERED
  dispatcher.credentialsChanged()
  await bench.advanceUntil('it was sent', () => bench.counted('delivered') === 1)
  t.is(bench.meter.gauges.get('push_credentials_refused{apns}')?.(), 0)
  await dispatcher.stop()
})

test('delivery/2: a dispatcher sends nothing more to a token that is gone', async (t) => {
  const bench = await DispatchBench.open(t)
  const { writer, provider, store } = bench
  provider.answer = () => ({ kind: 'gone', reason: 'Unregistered' })
  writer.take(message({ opId: 'first' }), message({ opId: 'second' }), message())
  await writer.commit()
  const dispatcher = bench.start()
  await bench.advanceUntil('all are written', () => bench.counted('superseded') === 2)
  t.is(provider.sent.length, 1)
  const first = await store.operations.find(opId('first'))
  t.like(first, { status: 'failed', errorCode: 'push_failed' })
  t.is((await store.operations.find(opId('second')))?.status, 'sent')
  t.is((await store.devices.find(deviceId(1)))?.channelType, 'private')
  await dispatcher.stop()
})

test('delivery/3: a dispatcher does not send a push that expired while the provider was down', async (t) => {
  const bench = await DispatchBench.open(t)
  const { writer, provider, store } = bench
  provider.answer = () => AWAY
  writer.take(message({ opId: 'm', fields: { ttl: NOW + 5_000 } }))
  await writer.commit()
  const dispatcher = bench.start()
  await bench.advanceUntil('its time is over', () => bench.counted('expired') === 1)
  t.is((await store.operations.find(opId('m')))?.status, 'sent')
  t.true(provider.sent.length <= 3)
  await dispatcher.stop()
})

test('delivery/3: a dispatcher does not send a push that expired behind another one', async (t) => {
  const bench = await DispatchBench.open(t)
  const { writer, provider } = bench
  const hanging = Promise.withResolvers<Outcome>()
  provider.answer = ({ entry }) => (entry.seq === 1 ? hanging.promise : DELIVERED)
  writer.take(message(), message({ fields: { ttl: NOW + 2_000 } }), message())
  await writer.commit()
  const dispatcher = bench.start()
  await bench.advanceUntil('the first is in flight', () => provider.sent.length === 1, 1)
  await bench.advanceUntil('time passes', () => bench.time.nowMs() > NOW + 3_000)
  hanging.resolve(DELIVERED)
  await bench.advanceUntil('all are written', () => bench.counted('delivered') === 2)
  t.deepEqual(placesOf(provider.sent), ['token 1 1', 'token 1 3'])
  t.is(bench.counted('expired'), 1)
  await dispatcher.stop()
})

test('held-pushes/1: a dispatcher claims a push again whose claim ended, before it sends it', async (t) => {
  const bench = await DispatchBench.open(t)
  const { writer, provider } = bench
  const hanging = Promise.withResolvers<Outcome>()
  provider.answer = ({ entry }) => (entry.seq === 1 ? hanging.promise : DELIVERED)
  writer.take(message(), message())
  await writer.commit()
  bench.isRenewalLost = true
  const dispatcher = bench.start()
  await bench.advanceUntil('the first is in flight', () => provider.sent.length === 1, 1)
  await bench.advanceUntil('the claim is near its end', () => bench.time.nowMs() > NOW + 23_000)
  hanging.resolve(DELIVERED)
  await bench.advanceUntil('the first is written', () => bench.counted('delivered') === 1, 1)
  t.is(provider.sent.length, 1)
  await bench.advanceUntil('the second is written', () => bench.counted('delivered') === 2)
  t.true(bench.time.nowMs() >= NOW + 30_000)
  await dispatcher.stop()
})

test('dispatcher/1: a dispatcher holds no more pushes than its bound while the provider hangs', async (t) => {
  const bench = await DispatchBench.open(t, 32)
  const { writer, provider, meter } = bench
  await writer.take(...Array.from({ length: 100 }, () => message())).commit()
  const hanging = Promise.withResolvers<Outcome>()
  provider.answer = () => hanging.promise
  const dispatcher = bench.start()
  const held = (): number => meter.gauges.get('push_held{apns}')?.() ?? 0
  await bench.advanceUntil('it reaches its bound', () => held() >= 2_000)
  await bench.advanceUntil('time passes', () => bench.time.nowMs() > NOW + 20_000)
  t.is(held(), 2_000)
  hanging.resolve(DELIVERED)
  await bench.advanceUntil('all are written', () => bench.counted('delivered') === 3_200)
  await dispatcher.stop()
})

test("dispatcher/1: a dispatcher sends many pushes at the provider's pace within its bound", async (t) => {
  const bench = await DispatchBench.open(t, 32)
  const { writer, provider, meter } = bench
  await writer.take(...Array.from({ length: 100 }, () => message())).commit()
  let mostHeld = 0
  provider.answer = () => {
    mostHeld = Math.max(mostHeld, meter.gauges.get('push_held{apns}')?.() ?? 0)
    return DELIVERED
  }
  const dispatcher = bench.start()
  await bench.advanceUntil('all are written', () => bench.counted('delivered') === 3_200)
  t.true(mostHeld <= 2_000, `${mostHeld} held`)
  t.true(provider.mostUnderWay <= 64)
  t.is(new Set(provider.taken.map(({ id }) => id)).size, 3_200)
  await dispatcher.stop()
})

test('dispatcher/2: another dispatcher gets the unsent pushes of a stopped one at once', async (t) => {
  const bench = await DispatchBench.open(t, 2)
  const { writer, provider } = bench
  const hanging = Promise.withResolvers<Outcome>()
  provider.answer = ({ route }) => (route.token === 'token 1' ? hanging.promise : DELIVERED)
  await writer.take(message(), message()).commit()
  const first = bench.start('first')
  await bench.advanceUntil(
    'the other device has its pushes',
    () => bench.counted('delivered') === 2,
  )
  const stopped = first.stop()
  hanging.resolve(DELIVERED)
  await bench.advanceUntil('it has stopped', () => bench.counted('delivered') === 3)
  await stopped
  provider.answer = () => DELIVERED
  const second = bench.start('second')
  await bench.advanceUntil('the rest was sent', () => bench.counted('delivered') === 4, 1)
  t.true(bench.time.nowMs() < NOW + 5_000, 'without waiting for the end of a claim')
  t.deepEqual(places(provider.taken), ['token 1 1', 'token 1 2', 'token 2 1', 'token 2 2'])
  await second.stop()
})

test('claiming/1: another worker takes over the jobs of a dead one, in their order', async (t) => {
  const bench = await DispatchBench.open(t)
  const { writer, provider } = bench
  await writer.take(message(), message(), message()).commit()
  const never = new Promise<Outcome>(() => {})
  provider.answer = () => never
  const dead = bench.start('dead')
  await bench.advanceUntil('it holds them', () => provider.sent.length === 1)
  dead.kill()
  provider.answer = () => DELIVERED
  const next = bench.start('next')
  await bench.advanceUntil('the other one has sent them', () => bench.counted('delivered') === 3)
  t.true(bench.time.nowMs() >= NOW + 30_000)
  t.deepEqual(placesOf(provider.taken), ['token 1 1', 'token 1 2', 'token 1 3'])
  await next.stop()
})

test('ending-writer/1: a dispatcher writes endings once the store answers again', async (t) => {
  const bench = await DispatchBench.open(t)
  const { writer, provider, store } = bench
  await writer.take(message()).commit()
  bench.failSettling = 3
  const dispatcher = bench.start()
  await bench.advanceUntil('it was written', () => bench.counted('delivered') === 1)
  t.is(provider.sent.length, 1)
  t.is(bench.failSettling, 0)
  t.is((await store.pushes.backlog('apns')).jobs, 0)
  await dispatcher.stop()
})
