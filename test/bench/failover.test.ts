import test from 'ava'

import { channelIdFromBytes, laneOf } from '#domain/identity'
import { LANES } from './rig/cluster.ts'
import { channelsByLane, dueDifference } from './rig/failover.ts'

test('failover/2: a submission that was answered 200 and is there once is no difference', (t) => {
  t.is(dueDifference([1, 2], [2, 1]), undefined)
  t.is(dueDifference([], []), undefined)
})

test('failover/2: a submission without an answer may be there', (t) => {
  t.is(dueDifference([1], [1, 2]), undefined)
})

test('failover/2: an answer without an entry is missing', (t) => {
  t.regex(dueDifference([1, 2, 3], [1, 3]) ?? '', /missing 1; stored twice 0/)
})

test('failover/2: an entry that is stored twice is counted as doubled, also one without a 200', (t) => {
  t.regex(dueDifference([1], [1, 1]) ?? '', /missing 0; stored twice 1/)
  t.regex(dueDifference([1], [1, 2, 2]) ?? '', /missing 0; stored twice 1/)
})

test('every channel lies on the lane that the product puts it on', (t) => {
  const channels = Array.from({ length: 200 }, (_, index) =>
    channelIdFromBytes(Buffer.alloc(16, index)),
  )
  const byLane = channelsByLane(channels)
  t.is(byLane.length, LANES)
  for (const channel of channels) t.true(byLane[laneOf(channel, LANES)]?.includes(channel))
  t.is(byLane.flat().length, channels.length)
})
