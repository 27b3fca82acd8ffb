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

test('failover/2: updates count as rows and in the blocks into which they are gathered', (t) => {
  const payloadOf = (due: number) => JSON.stringify({ attrs: { due: DUE_BASE_US + due, note: '' } })
  const updates = [1, 2, 3].map((seq) => ({
    ...thing('update', 'lamp'),
    id: seq,
    channel: 1,
    seq,
    state: 'active',
    rev: seq,
    payload: payloadOf(seq * 10),
  }))
  const blocks = [...blocksOf(updates)].map(({ row }) => row.content)
  const payloads = [payloadOf(40), JSON.stringify({ attrs: { nonce: 'x' } })]
  t.deepEqual(storedDues({ payloads, blocks }), [40, 10, 20, 30])
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
