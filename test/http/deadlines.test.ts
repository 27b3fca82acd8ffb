import test from 'ava'

import { Deadlines, Expiring } from '#src/http/deadlines'
import { FakeTime } from '#test/support/fake-timers'

class Body extends Expiring {
  readonly expire: () => void

  constructor(expire: () => void) {
    super()
    this.expire = expire
  }
}

function setUp() {
  const time = new FakeTime(0)
  const deadlines = new Deadlines({
    timers: time,
    monotonicMs: time.monotonicMs,
    timeoutMs: 100,
  })
  const expired: string[] = []
  const body = (name: string): Body => new Body(() => void expired.push(name))
  /** Bodies that are watched 10 ms after each other, from the time that it is now. */
  const watch = (...names: readonly string[]): readonly Body[] =>
    names.map((name) => {
      const watched = body(name)
      deadlines.watch(watched)
      time.advance(10)
      return watched
    })
  return { time, deadlines, expired, body, watch }
}

test('each body expires at its own deadline, with one timer for all', (t) => {
  const { time, deadlines, expired, body } = setUp()
  deadlines.watch(body('first'))
  time.advance(60)
  deadlines.watch(body('second'))
  t.is(time.waiting, 1)
  time.advance(39)
  t.deepEqual(expired, [])
  time.advance(1)
  t.deepEqual(expired, ['first'])
  time.advance(59)
  t.deepEqual(expired, ['first'])
  time.advance(1)
  t.deepEqual(expired, ['first', 'second'])
  t.is(time.waiting, 0)
})

test('a released body never expires and does not hold up the others', (t) => {
  const { time, deadlines, expired, body } = setUp()
  const first = body('first')
  deadlines.watch(first)
  time.advance(50)
  deadlines.watch(body('second'))
  deadlines.release(first)
  time.advance(100)
  t.deepEqual(expired, ['second'])
})

// Method: which of four are released, and which expire, in order.
for (const [released, left] of [
  [['a'], ['b', 'c', 'd']],
  [['d'], ['a', 'b', 'c']],
  [['b'], ['a', 'c', 'd']],
  [
    ['b', 'c'],
    ['a', 'd'],
  ],
  [
    ['c', 'b'],
    ['a', 'd'],
  ],
  [['a', 'd', 'b'], ['c']],
  [['c', 'a', 'd', 'b'], []],
] as const) {
  test(`after ${released.join(', ')} of a, b, c and d are released, the others expire in order`, (t) => {
    const { time, deadlines, expired, body, watch } = setUp()
    const watched = new Map(watch('a', 'b', 'c', 'd').map((each, at) => ['abcd'.charAt(at), each]))
    for (const name of released) deadlines.release(watched.get(name) ?? body(name))
    watch('last')
    t.is(time.waiting, 1)
    time.advance(1_000)
    t.deepEqual(expired, [...left, 'last'])
    t.is(time.waiting, 0)
  })
}

test('the timer of a released body expires nothing, and is set for the next body', (t) => {
  const { time, deadlines, expired, watch } = setUp()
  const [first] = watch('first', 'second')
  if (first !== undefined) deadlines.release(first)
  t.is(time.waiting, 1)
  time.advance(80)
  t.deepEqual(expired, [])
  t.is(time.waiting, 1)
  time.advance(9)
  t.deepEqual(expired, [])
  time.advance(1)
  t.deepEqual(expired, ['second'])
})

test('a body that is released twice, or was never watched, changes nothing', (t) => {
  const { time, deadlines, expired, body, watch } = setUp()
  const [, second] = watch('first', 'second', 'third')
  for (let count = 0; count < 2; count += 1) if (second !== undefined) deadlines.release(second)
  deadlines.release(body('never'))
  time.advance(1_000)
  t.deepEqual(expired, ['first', 'third'])
})

test('a body that is watched again expires at its later deadline, once', (t) => {
  const { time, deadlines, expired, watch } = setUp()
  const [again, restarted] = watch('again', 'restarted', 'other')
  if (again === undefined || restarted === undefined) return t.fail()
  deadlines.release(again)
  deadlines.watch(again)
  deadlines.watch(restarted)
  time.advance(90)
  t.deepEqual(expired, ['other'])
  time.advance(10)
  t.deepEqual(expired, ['other', 'again', 'restarted'])
  time.advance(1_000)
  t.is(expired.length, 3)
})

test('a body that expires may have others released and watched, with one timer for all', (t) => {
  const { time, deadlines, expired, body, watch } = setUp()
  const late = body('late')
  const gone = body('gone')
  deadlines.watch(
    new Body(() => {
      deadlines.release(gone)
      deadlines.watch(late)
    }),
  )
  deadlines.watch(gone)
  watch('other')
  time.advance(90)
  t.is(time.waiting, 1)
  time.advance(100)
  t.deepEqual(expired, ['other', 'late'])
  t.is(time.waiting, 0)
})

test('a released body holds no other', (t) => {
  const { deadlines, watch } = setUp()
  for (const released of watch('a', 'b', 'c').toReversed()) {
    deadlines.release(released)
    t.is(released.earlier, undefined)
    t.is(released.later, undefined)
  }
})

test('nothing expires after the stop', (t) => {
  const { time, deadlines, expired, body } = setUp()
  deadlines.watch(body('first'))
  deadlines.watch(body('second'))
  deadlines.stop()
  t.is(time.waiting, 0)
  time.advance(1_000)
  t.deepEqual(expired, [])
  deadlines.watch(body('third'))
  time.advance(100)
  t.deepEqual(expired, ['third'])
})
