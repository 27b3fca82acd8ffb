import test from 'ava'

import { Rounds } from '#src/stream/rounds'
import type { RoundLimits } from '#src/stream/rounds'
import { FakeTime } from '#test/support/fake-timers'

const LIMITS = { gapMs: 8, fullAt: 3 }

/** Rounds whose ends are written down, in milliseconds since the beginning. */
function bench(limits: RoundLimits = LIMITS) {
  const time = new FakeTime(1_000)
  const tasks: (() => void)[] = []
  const ends: number[] = []
  const ports = {
    soon: (task: () => void): void => void tasks.push(task),
    timers: time,
    monotonicMs: time.nowMs,
  }
  const rounds = new Rounds(ports, limits, () => ends.push(time.nowMs() - 1_000))
  const read = (): void => tasks.splice(0).forEach((task) => task())
  const gather = (count: number): void => {
    for (let each = 0; each < count; each += 1) rounds.gather()
    read()
  }
  return { rounds, time, tasks, ends, read, gather }
}

test('R2: after a quiet time a round ends with the input at hand', (t) => {
  const { time, ends, gather } = bench()
  gather(1)
  time.advance(8)
  gather(1)
  time.advance(100)
  gather(2)
  t.deepEqual(ends, [0, 8, 108])
})

test('R1: what comes close behind the end of a round waits for the end of the next', (t) => {
  const { time, ends, gather } = bench()
  gather(1)
  time.advance(3)
  gather(1)
  time.advance(4)
  gather(1)
  t.deepEqual(ends, [0])
  time.advance(1)
  t.deepEqual(ends, [0, 8])
  time.advance(7)
  gather(1)
  time.advance(1)
  t.deepEqual(ends, [0, 8, 16])
  t.is(time.waiting, 0)
})

test('R1: a full round ends with the input at hand, one less does not', (t) => {
  const { time, ends, gather } = bench()
  gather(1)
  time.advance(1)
  gather(2)
  t.deepEqual(ends, [0])
  gather(1)
  t.deepEqual(ends, [0, 1])
  t.is(time.waiting, 0)
  gather(3)
  t.deepEqual(ends, [0, 1, 1])
})

test('what comes while a round ends belongs to it', (t) => {
  const { rounds, tasks, ends, read } = bench()
  for (let each = 0; each < 5; each += 1) rounds.gather()
  t.is(tasks.length, 1)
  t.true(rounds.isOpen)
  read()
  t.deepEqual(ends, [0])
  t.false(rounds.isOpen)
})

test('without a gap each round ends with the input at hand', (t) => {
  const { time, ends, gather } = bench({ gapMs: 0, fullAt: 3 })
  gather(1)
  gather(1)
  t.deepEqual(ends, [0, 0])
  t.is(time.waiting, 0)
})
