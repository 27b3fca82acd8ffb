import test from 'ava'

import { BodyDeadlines } from '#src/ingress/body-deadlines'
import { FakeTime } from '#test/support/fake-timers'

function setUp() {
  const time = new FakeTime(0)
  const deadlines = new BodyDeadlines({ timers: time, nowMs: time.nowMs, timeoutMs: 100 })
  const expired: string[] = []
  const body = (name: string) => ({ expire: () => expired.push(name) })
  return { time, deadlines, expired, body }
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

test('nothing expires after the stop', (t) => {
  const { time, deadlines, expired, body } = setUp()
  deadlines.watch(body('first'))
  deadlines.stop()
  t.is(time.waiting, 0)
  time.advance(1_000)
  t.deepEqual(expired, [])
})
