// Goal: a timer calls back when its delay is over, however long that is.
// Method: timers of a platform whose longest delay is that of Node and of browsers.

import test from 'ava'

import { ofAnyDelay, repeatedBy } from '#domain/runtime'
import type { Runtime } from '#domain/runtime'
import { WEB } from '#src/client/runtime'
import { FakeTime } from '#test/support/fake-timers'
import { realRuntime } from '#test/support/real-runtime'

const LONGEST_MS = 2 ** 31 - 1

/** Timers as a platform has them: a delay that it does not take is one of a millisecond. */
const platform = (time: FakeTime): Runtime['after'] => {
  return (delayMs, callback) => time.after(delayMs > LONGEST_MS ? 1 : delayMs, callback)
}

const DELAYS = [0, 1, LONGEST_MS, LONGEST_MS + 1, 30 * 86_400_000, 2 ** 32 * 1_000]

for (const delayMs of DELAYS) {
  test(`runtime/1: a delay of ${delayMs} ms is over after that time and not before`, (t) => {
    const time = new FakeTime(0)
    const called: number[] = []
    ofAnyDelay(platform(time))(delayMs, () => called.push(time.monotonicMs()))
    time.advance(delayMs - 1)
    t.deepEqual(called, [])
    time.advance(1)
    t.deepEqual(called, [delayMs])
    t.is(time.waiting, 0)
  })

  test(`a delay of ${delayMs} ms is cancelled, at its beginning and in its midst`, (t) => {
    const time = new FakeTime(0)
    const after = ofAnyDelay(platform(time))
    after(delayMs, () => t.fail())()
    const cancel = after(delayMs, () => t.fail())
    time.advance(delayMs - 1)
    cancel()
    t.is(time.waiting, 0)
    time.advance(delayMs)
  })
}

test('an infinite delay is never over', (t) => {
  const time = new FakeTime(0)
  ofAnyDelay(platform(time))(Infinity, () => t.fail())
  time.advance(10 * LONGEST_MS)
  t.is(time.waiting, 1)
})

test('what is repeated after a long time comes after each of them, until it is cancelled', (t) => {
  const time = new FakeTime(0)
  const everyMs = LONGEST_MS + 5
  let called = 0
  const cancel = repeatedBy(ofAnyDelay(platform(time)))(everyMs, () => (called += 1))
  time.advance(everyMs - 1)
  t.is(called, 0)
  time.advance(2 * everyMs)
  t.is(called, 2)
  cancel()
  time.advance(everyMs)
  t.is(called, 2)
})

const PLATFORMS = [
  ['the gateway', realRuntime],
  ['the client', WEB],
] as const

for (const [whose, { after }] of PLATFORMS) {
  test(`runtime/1: a timer of ${whose} beyond the platform's longest one is not over at once`, async (t) => {
    const cancel = after(LONGEST_MS + 1, () => t.fail())
    // A timer that the platform does not take is over before this one, which begins later.
    await new Promise<void>((resolve) => void after(2, resolve))
    cancel()
    t.pass()
  })
}
