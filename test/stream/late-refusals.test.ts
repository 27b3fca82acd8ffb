import test from 'ava'

import { fault } from '#domain/fault'
import { LateRefusals, WAITING_MAX } from '#src/stream/late-refusals'
import { FakeTime } from '#test/support/fake-timers'
import { turn } from '#test/support/until'

function bench() {
  const time = new FakeTime(1_000)
  const refusals = new LateRefusals(fault('submission_not_accepted'), time)
  let refused = 0
  const refuse = (): void => void refusals.refuse().then(() => (refused += 1))
  return { time, refuse, refused: () => refused }
}

test('late-refusals/1: a caller that asks again at once is refused four times a second', async (t) => {
  const { time, refuse, refused } = bench()
  for (const passed of [0, 1, 2, 3]) {
    refuse()
    time.advance(249)
    await turn()
    t.is(refused(), passed)
    time.advance(1)
    await turn()
    t.is(refused(), passed + 1)
  }
  t.is(time.waiting, 0)
})

test('late-refusals/2: only so many refusals wait', async (t) => {
  const { time, refuse, refused } = bench()
  for (let each = 0; each <= WAITING_MAX; each += 1) refuse()
  await turn()
  t.is(refused(), 1)
  time.advance(250)
  await turn()
  t.is(refused(), WAITING_MAX + 1)
})
