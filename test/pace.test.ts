import test from 'ava'

import { paced } from '#src/pace'
import { FakeTime } from '#test/support/fake-timers'

const GAP_MS = 8

function bench(gapMs: number) {
  const time = new FakeTime(1_000)
  const begun: number[] = []
  const soon = paced({ soon: (task) => task(), timers: time, monotonicMs: time.nowMs }, gapMs)
  const startMs = time.nowMs()
  return { time, begun, ask: () => soon(() => begun.push(time.nowMs() - startMs)) }
}

test('the first task after a quiet time does not wait', (t) => {
  const { time, begun, ask } = bench(GAP_MS)
  ask()
  time.advance(GAP_MS)
  ask()
  time.advance(100)
  ask()
  t.deepEqual(begun, [0, 8, 108])
})

test('a task that comes close behind another waits for the rest of the gap', (t) => {
  const { time, begun, ask } = bench(GAP_MS)
  ask()
  time.advance(3)
  ask()
  time.advance(4)
  t.deepEqual(begun, [0])
  time.advance(1)
  t.deepEqual(begun, [0, 8])
  time.advance(7)
  ask()
  time.advance(1)
  t.deepEqual(begun, [0, 8, 16])
})

test('without a gap nothing waits', (t) => {
  const { begun, ask } = bench(0)
  ask()
  ask()
  t.deepEqual(begun, [0, 0])
})
