import test from 'ava'

import { laneOf } from '#domain/identity'
import { blocksOf } from '#src/store/feed/update-blocks'
import { thing } from '#test/support/submissions'
import { DUE_BASE_US } from './load/payload.ts'
import { keyedChannels } from './rig/channel-keys.ts'
import { LANES } from './rig/cluster.ts'
import { channelsByLane, dueDifference, storedDues } from './rig/failover.ts'

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

test('failover/2: updates count in their blocks', (t) => {
  const payloadOf = (due: number) => JSON.stringify({ attrs: { due: DUE_BASE_US + due, note: '' } })
  const payloads = [payloadOf(10), payloadOf(20), JSON.stringify({ attrs: { nonce: 'x' } })]
  const updates = payloads.map((payload, seq) => {
    const item = { ...thing('update', 'lamp'), seq, state: 'active', rev: seq, payload }
    return { ref: 1, item }
  })
  t.deepEqual(storedDues([...blocksOf(updates)].map(({ content }) => content)), [10, 20])
})

test('every channel lies on the lane that the product puts it on', (t) => {
  const channels = keyedChannels(200)
  const byLane = channelsByLane(channels)
  t.is(byLane.length, LANES)
  for (const channel of channels) {
    t.true(byLane[laneOf(channel.channelId, LANES)]?.includes(channel))
  }
  t.is(byLane.flat().length, channels.length)
})
