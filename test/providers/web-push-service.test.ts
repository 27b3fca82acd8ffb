// Method: a service with requests that the test answers by hand.

import test from 'ava'
import type { Dispatcher } from 'undici'

import type { Exchange, Reply } from '#src/providers/webpush/exchange'
import { Service } from '#src/providers/webpush/service'
import { Services } from '#src/providers/webpush/services'
import { testEdge } from '#test/support/push-servers'

const REQUEST = { path: '/1', headers: {}, body: Buffer.alloc(1) }
const controller = { abort: () => undefined } as unknown as Dispatcher.DispatchController

function rig(untried = { inFlight: 0, max: Infinity }) {
  let nowMs = 0
  let tokens = 0
  const open: Exchange[] = []
  const service = new Service({
    connections: {
      dispatch: (_, handler) => open.push(handler as Exchange) > 0,
      destroy: () => Promise.resolve(),
    },
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    authorize: () => `token ${(tokens += 1)}`,
    tokenUseMs: 1_000,
    untried,
  })
  return {
    service,
    open,
    pass: (ms: number) => (nowMs += ms),
    answer: (status: number, headers = {}) => {
      const exchange = open.shift()
      exchange?.onResponseStart(controller, status, headers)
      exchange?.onResponseEnd()
    },
    fail: () => open.shift()?.onResponseError(controller, new Error('gone')),
  }
}

const RESTING = (afterMs: number): Reply => ({ kind: 'unanswered', reason: 'resting', afterMs })

test('webpush-service/1: a service has few requests until it answers, and never more than 128', async (t) => {
  const { service, open, answer } = rig()
  for (let count = 0; count < 1_000; count += 1) void service.send(REQUEST)
  t.is(open.length, 8)
  answer(201)
  t.is(open.length, 9)
  for (let count = 0; count < 300; count += 1) answer(201)
  t.is(open.length, 128)
})

test('webpush-service/3: a service that fails three times in a row rests, and then gets one push', async (t) => {
  const { service, open, answer, fail, pass } = rig()
  for (const status of [500, 503]) {
    const sent = service.send(REQUEST)
    answer(status)
    t.like(await sent, { kind: 'answered', answer: { status } })
    pass(1)
  }
  const third = service.send(REQUEST)
  fail()
  t.like(await third, { kind: 'unanswered' })
  t.deepEqual(await service.send(REQUEST), RESTING(1_000))
  pass(1_000)
  const probe = service.send(REQUEST)
  t.is(open.length, 1)
  t.like(await service.send(REQUEST), { reason: 'resting' }, 'the others wait for the probe')
  answer(503, { 'retry-after': '60' })
  await probe
  t.deepEqual(await service.send(REQUEST), RESTING(60_000))
  pass(60_000)
  void service.send(REQUEST)
  answer(201)
  for (let count = 0; count < 3; count += 1) void service.send(REQUEST)
  t.is(open.length, 2, 'it is trusted again, little by little')
})

test('webpush-service/4: a burst of failures counts once, and puts off those that wait', async (t) => {
  const { service, open, fail, pass } = rig()
  const sent = Array.from({ length: 8 }, () => service.send(REQUEST))
  pass(10)
  while (open.length > 0) fail()
  await Promise.all(sent)
  t.false(service.isResting)
  void service.send(REQUEST)
  pass(10)
  fail()
  void service.send(REQUEST)
  const waiting = service.send(REQUEST)
  t.is(open.length, 1)
  pass(10)
  fail()
  t.deepEqual(await waiting, RESTING(1_000))
  t.true(service.isResting)
})

test('webpush-service/5: a service whose answers are late holds few pushes, and puts off the others', async (t) => {
  const { service, open, answer, pass } = rig()
  for (let count = 0; count < 10; count += 1) void service.send(REQUEST)
  const waiting = service.send(REQUEST)
  pass(1_999)
  service.check()
  answer(201)
  t.is(open.length, 9, 'this one was in time')
  pass(1)
  service.check()
  const SLOW: Reply = { kind: 'unanswered', reason: 'slow', afterMs: 1_000 }
  t.deepEqual([await waiting, await service.send(REQUEST)], [SLOW, SLOW])
  pass(2_000)
  while (open.length > 0) answer(201)
  for (let count = 0; count < 9; count += 1) void service.send(REQUEST)
  t.is(open.length, 8, 'late answers earn no more at once')
})

test('webpush-service/6: services that answer late share places, and leave the others theirs', async (t) => {
  const untried = { inFlight: 0, max: 500 }
  const good = rig(untried)
  void good.service.send(REQUEST)
  good.answer(201)
  t.is(untried.inFlight, 0)
  const slow = Array.from({ length: 125 }, () => rig(untried))
  const sent = slow.flatMap(({ service }) => Array.from({ length: 8 }, () => service.send(REQUEST)))
  const inFlight = (): number => slow.reduce((sum, { open }) => sum + open.length, 0)
  t.is(inFlight(), 500)
  for (let count = 0; count < 500; count += 1) void good.service.send(REQUEST)
  t.is(good.open.length, 9)
  for (let count = 0; count < 200; count += 1) good.answer(201)
  t.is(good.open.length, 128)
  // Whoever found no place is tried again later, and holds none.
  t.like(await sent.at(-1), { kind: 'unanswered', reason: 'slow' })
  // A late answer of a good one makes it one of them.
  good.pass(2_000)
  while (good.open.length > 0) good.answer(201)
  t.like(await good.service.send(REQUEST), { reason: 'slow' })
  for (const { open, pass, answer, fail } of slow) {
    pass(14_000)
    while (open.length > 0) (open.length % 2 === 0 ? answer : fail)(201)
  }
  t.is(untried.inFlight, 0)
  void good.service.send(REQUEST)
  t.is(good.open.length, 1)
})

test('the token of a service is made anew once it is half as old as it may be', (t) => {
  const { service, pass } = rig()
  t.is(service.authorization, 'token 1')
  pass(999)
  t.is(service.authorization, 'token 1')
  pass(1)
  t.is(service.authorization, 'token 2')
})

test('webpush-services/1: of more than 1,000 services the one that was idle for longest is forgotten', (t) => {
  const edge = testEdge()
  const authorized: string[] = []
  const services = new Services({
    ...edge,
    connectorOf: () => () => undefined,
    authorize: (origin) => `${authorized.push(origin)}`,
  })
  const nameOf = (count: number): string => `https://service-${count}.example`
  const first = services.of(nameOf(0))
  for (let count = 1; count < 1_000; count += 1) services.of(nameOf(count))
  t.is(services.of(nameOf(0)), first)
  void services.of(nameOf(2))?.send(REQUEST)
  t.truthy(services.of(nameOf(1_000)))
  t.is(edge.meter.gauges.get('push_services{webpush}')?.(), 1_000)
  t.is(services.of(nameOf(0)), first)
  edge.pass(600_001)
  edge.look()
  t.is(edge.meter.gauges.get('push_services{webpush}')?.(), 0, 'idle ones are forgotten')
})
