import test from 'ava'

import { Circuit } from '#src/dispatch/circuit'
import { backOffMs } from '#src/dispatch/back-off'
import { FakeTime } from '#test/support/fake-timers'

function bench() {
  const time = new FakeTime(0)
  const passed: number[] = []
  const circuit = new Circuit({
    timers: time,
    random: () => 0,
    pass: (atOnce) => passed.push(atOnce),
  })
  return { time, passed, circuit }
}

const fail = (circuit: Circuit, times: number): void => {
  for (let index = 0; index < times; index += 1) circuit.observe('failing', 'Away')
}

test('nine failures in a row leave the circuit closed, ten open it', (t) => {
  const { circuit, passed } = bench()
  fail(circuit, 9)
  circuit.observe('well')
  fail(circuit, 9)
  t.deepEqual(passed, [])
  fail(circuit, 1)
  t.deepEqual(passed, [0])
  t.false(circuit.isClosed)
  t.is(circuit.credentialsReason, undefined)
})

test('after a while one push is let through, and its answer decides', (t) => {
  const { circuit, passed, time } = bench()
  fail(circuit, 10)
  time.advance(999)
  t.deepEqual(passed, [0])
  time.advance(1)
  t.deepEqual(passed, [0, 1])
  fail(circuit, 1)
  t.deepEqual(passed, [0, 1, 0])
  time.advance(1_999)
  t.is(passed.length, 3)
  time.advance(1)
  circuit.observe('well')
  t.deepEqual(passed, [0, 1, 0, 1, Number.POSITIVE_INFINITY])
  t.true(circuit.isClosed)
})

test('a provider that stays away is asked every half a minute', (t) => {
  const { circuit, passed, time } = bench()
  fail(circuit, 10)
  for (let round = 0; round < 10; round += 1) {
    time.advance(30_000)
    fail(circuit, 1)
  }
  const before = passed.length
  time.advance(29_999)
  t.is(passed.length, before)
  time.advance(1)
  t.is(passed.at(-1), 1)
})

test('refused credentials open it at once, and others are tried at once', (t) => {
  const { circuit, passed } = bench()
  circuit.observe('credentials', 'BadKey')
  t.is(circuit.credentialsReason, 'BadKey')
  t.deepEqual(passed, [0])
  circuit.renewed()
  t.deepEqual(passed, [0, 1])
  circuit.observe('well')
  t.is(circuit.credentialsReason, undefined)
})

test('the pause doubles with each attempt, by chance a half more, up to five minutes', (t) => {
  const least = (attempts: number): number => backOffMs({ attempts, random: () => 0 })
  t.deepEqual([0, 1, 2, 3].map(least), [1_000, 2_000, 4_000, 8_000])
  t.is(least(50), 300_000)
  t.is(backOffMs({ attempts: 1, random: () => 0.5 }), 2_500)
})

test('pushes wait as long as the provider asked, not all alike', (t) => {
  t.is(backOffMs({ attempts: 0, afterMs: 60_000, random: () => 0 }), 60_000)
  t.is(backOffMs({ attempts: 0, afterMs: 60_000, random: () => 0.5 }), 63_000)
  t.is(backOffMs({ attempts: 6, afterMs: 10, random: () => 0 }), 64_000)
})
