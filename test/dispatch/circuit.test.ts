import test from 'ava'

import { Circuit } from '#src/dispatch/circuit'
import { backOffMs } from '#src/dispatch/delivery'
import { FakeTime } from '#test/support/fake-timers'

function bench() {
  const time = new FakeTime(0)
  const limits: number[] = []
  const circuit = new Circuit({
    timers: time,
    random: () => 0,
    allow: (atOnce) => limits.push(atOnce),
  })
  return { time, limits, circuit }
}

const fail = (circuit: Circuit, times: number): void => {
  for (let index = 0; index < times; index += 1) circuit.observe('failing', 'Away')
}

test('the circuit opens after ten failures in a row, not after nine', (t) => {
  const { circuit, limits } = bench()
  fail(circuit, 9)
  circuit.observe('healthy')
  fail(circuit, 9)
  t.deepEqual(limits, [])
  fail(circuit, 1)
  t.deepEqual(limits, [0])
  t.false(circuit.isClosed)
  t.is(circuit.credentialsReason, undefined)
})

test('an open circuit allows one push after a pause, and its answer closes the circuit', (t) => {
  const { circuit, limits, time } = bench()
  fail(circuit, 10)
  time.advance(999)
  t.deepEqual(limits, [0])
  time.advance(1)
  t.deepEqual(limits, [0, 1])
  fail(circuit, 1)
  t.deepEqual(limits, [0, 1, 0])
  time.advance(1_999)
  t.is(limits.length, 3)
  time.advance(1)
  circuit.observe('healthy')
  t.deepEqual(limits, [0, 1, 0, 1, Number.POSITIVE_INFINITY])
  t.true(circuit.isClosed)
})

test('the circuit probes a provider that stays down every 30 seconds', (t) => {
  const { circuit, limits, time } = bench()
  fail(circuit, 10)
  for (let round = 0; round < 10; round += 1) {
    time.advance(30_000)
    fail(circuit, 1)
  }
  const before = limits.length
  time.advance(29_999)
  t.is(limits.length, before)
  time.advance(1)
  t.is(limits.at(-1), 1)
})

test('refused credentials open the circuit at once, and new ones make it probe at once', (t) => {
  const { circuit, limits } = bench()
  circuit.observe('refusing-credentials', 'BadKey')
  t.is(circuit.credentialsReason, 'BadKey')
  t.deepEqual(limits, [0])
  circuit.credentialsChanged()
  t.deepEqual(limits, [0, 1])
  circuit.observe('healthy')
  t.is(circuit.credentialsReason, undefined)
})

test('the delay doubles with each attempt, with up to a half more at random, up to five minutes', (t) => {
  const least = (attempts: number): number => backOffMs({ attempts, random: () => 0 })
  t.deepEqual([0, 1, 2, 3].map(least), [1_000, 2_000, 4_000, 8_000])
  t.is(least(50), 300_000)
  t.is(backOffMs({ attempts: 1, random: () => 0.5 }), 2_500)
})

test('the delay is at least as long as the provider asked, with jitter', (t) => {
  t.is(backOffMs({ attempts: 0, afterMs: 60_000, random: () => 0 }), 60_000)
  t.is(backOffMs({ attempts: 0, afterMs: 60_000, random: () => 0.5 }), 63_000)
  t.is(backOffMs({ attempts: 6, afterMs: 10, random: () => 0 }), 64_000)
})
