import test from 'ava'

import { RecentFrames } from '#src/transports/recent-frames'
import type { Frame } from '#src/transports/signals'
import { channel, frames } from '#test/support/session-words'

const [A, B] = [channel('A'), channel('B')]
const BYTES = frames('A', 10)[0]?.bytes ?? 0
const AMPLE = 2 ** 20

const seqsOf = (found: readonly Frame[]): readonly number[] => found.map(({ seq }) => seq)

/** Room for so many frames, each with a seq of two digits. */
const roomFor = (count: number): RecentFrames => new RecentFrames(count * BYTES)

test('after gives the frames behind a seq in their order, up to the limit', (t) => {
  const recent = new RecentFrames(AMPLE)
  recent.add(A, frames('A', 4, 6))
  recent.add(B, frames('B', 1))
  recent.add(A, frames('A', 7, 9))
  t.deepEqual(seqsOf(recent.after(A, 4, 3)), [5, 6, 7])
  t.deepEqual(seqsOf(recent.after(A, 3, 10)), [4, 5, 6, 7, 8, 9])
  t.deepEqual(seqsOf(recent.after(A, 9, 10)), [])
  t.deepEqual(seqsOf(recent.after(channel('C'), 0, 10)), [])
})

test('recent-frames/1: the kept frames have a bound in bytes, beyond which the oldest are dropped', (t) => {
  const recent = roomFor(20)
  for (let seq = 1; seq <= 95; seq += 1) {
    recent.add(A, frames('A', seq))
    t.true(recent.bytes <= 20 * BYTES, String(seq))
  }
  const kept = seqsOf(recent.after(A, 85, 100))
  t.deepEqual(kept, [86, 87, 88, 89, 90, 91, 92, 93, 94, 95])
  t.deepEqual(seqsOf(recent.after(A, 70, 100)), [])
})

test('recent-frames/2: after gives no frame behind a hole', (t) => {
  const recent = roomFor(20)
  recent.add(A, frames('A', 10, 12))
  recent.add(A, frames('A', 15, 16))
  t.deepEqual(seqsOf(recent.after(A, 10, 9)), [])
  t.deepEqual(seqsOf(recent.after(A, 14, 9)), [15, 16])
  const halves = roomFor(8)
  halves.add(A, frames('A', 10, 13))
  halves.add(A, frames('A', 15, 17))
  t.deepEqual(seqsOf(halves.after(A, 10, 9)), [11, 12, 13])
  t.deepEqual(seqsOf(halves.after(A, 13, 9)), [])
})

test('add keeps a repeated frame once', (t) => {
  const recent = new RecentFrames(AMPLE)
  recent.add(A, frames('A', 1, 3))
  recent.add(A, frames('A', 2, 4))
  t.deepEqual(seqsOf(recent.after(A, 0, 9)), [1, 2, 3, 4])
})

test('recent-frames/3: a session 1,024 entries behind gets frames, one further behind gets none', (t) => {
  const recent = new RecentFrames(AMPLE)
  recent.add(A, frames('A', 1, 1_025))
  t.deepEqual(seqsOf(recent.after(A, 1, 2)), [2, 3])
  t.deepEqual(seqsOf(recent.after(A, 0, 2)), [])
})
