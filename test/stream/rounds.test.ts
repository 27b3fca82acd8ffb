import test from 'ava'

import { Rounds } from '#src/stream/rounds'
import { FakeTime } from '#test/support/fake-timers'

interface World {
  readonly gapMs: number
  readonly callers: number
}

const WORLD: World = { gapMs: 8, callers: 6 }

/** Makes rounds and records their ends, in milliseconds since the beginning. */
function bench({ gapMs, callers }: World = WORLD) {
  const time = new FakeTime(1_000)
  const tasks: (() => void)[] = []
  const ends: number[] = []
  const ports = {
    soon: (task: () => void): void => void tasks.push(task),
    timers: time,
    monotonicMs: time.nowMs,
    callers: () => callers,
  }
  const rounds = new Rounds(ports, gapMs, () => ends.push(time.nowMs() - 1_000))
  const read = (): void => tasks.splice(0).forEach((task) => task())
  const gather = (count: number): void => {
    for (let each = 0; each < count; each += 1) rounds.gather()
    read()
  }
  return { rounds, time, tasks, ends, read, gather }
}

type Step = readonly [afterMs: number, gathered: number, ends: readonly number[]]

const sequences: readonly (readonly [behaviour: string, world: World, steps: Step[]])[] = [
  [
    'rounds/2: after a quiet time a round ends with the input at hand',
    WORLD,
    [
      [0, 1, [0]],
      [8, 1, [0, 8]],
      [100, 2, [0, 8, 108]],
    ],
  ],
  [
    'rounds/1: a submission soon after the end of a round waits for the end of the next',
    WORLD,
    [
      [0, 1, [0]],
      [3, 1, [0]],
      [4, 1, [0]],
      [1, 0, [0, 8]],
      [7, 1, [0, 8]],
      [1, 0, [0, 8, 16]],
    ],
  ],
  [
    'rounds/1: a round ends with the input at hand once two thirds of the callers wait, not before',
    WORLD,
    [
      [0, 1, [0]],
      [1, 3, [0]],
      [0, 1, [0, 1]],
      [0, 4, [0, 1, 1]],
    ],
  ],
  [
    'rounds/1: two thirds of the callers round up to a whole number',
    { gapMs: 8, callers: 5 },
    [
      [0, 1, [0]],
      [1, 3, [0]],
      [0, 1, [0, 1]],
    ],
  ],
  [
    'rounds/1: a single caller waits for no other',
    { gapMs: 8, callers: 1 },
    [
      [0, 1, [0]],
      [1, 1, [0, 1]],
      [1, 1, [0, 1, 2]],
    ],
  ],
  [
    'without a gap each round ends with the input at hand',
    { gapMs: 0, callers: 6 },
    [
      [0, 1, [0]],
      [0, 1, [0, 0]],
    ],
  ],
]

for (const [behaviour, world, steps] of sequences) {
  test(behaviour, (t) => {
    const { time, ends, gather } = bench(world)
    for (const [index, [afterMs, gathered, expected]] of steps.entries()) {
      time.advance(afterMs)
      gather(gathered)
      t.deepEqual(ends, [...expected], `step ${index}`)
    }
    t.is(time.waiting, 0)
  })
}

test('a round that is about to end includes a submission that comes meanwhile', (t) => {
  const { rounds, tasks, ends, read } = bench()
  for (let each = 0; each < 5; each += 1) rounds.gather()
  t.is(tasks.length, 1)
  t.true(rounds.isOpen)
  read()
  t.deepEqual(ends, [0])
  t.false(rounds.isOpen)
})
