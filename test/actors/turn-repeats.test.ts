// T2: what a client names has one effect, however often it is in the log.

import test from 'ava'

import { ChannelDirectory } from '#actors/channel'
import { channel, message, opId } from '#test/support/submissions'
import { LIMITS, newBench } from '#test/support/turn-bench'

const claimed = (number: number) =>
  message({ opId: 'mine', claims: true, channelId: channel(number) })

test('T2: a chosen op_id has one effect within a turn', async (t) => {
  const bench = await newBench()
  await bench.apply(claimed(1), message(), claimed(1))
  t.is(bench.store.feed.filter((entry) => entry.opId === opId('mine')).length, 1)
  t.deepEqual(
    bench.store.feed.map(({ seq }) => seq),
    [1, 2],
  )
})

test('T2: a chosen op_id has one effect over two turns, also after a restart', async (t) => {
  const bench = await newBench()
  await bench.apply(claimed(1))
  await bench.apply(claimed(1))
  bench.directory = new ChannelDirectory(LIMITS)
  await bench.apply(claimed(1), message())
  t.is(bench.store.feed.length, 2)
  t.deepEqual(bench.store.violations, [])
})

test('T2: a chosen op_id has one effect over two channels', async (t) => {
  const bench = await newBench()
  await bench.apply(claimed(1), claimed(2))
  await bench.apply(claimed(2))
  t.deepEqual(
    bench.store.feed.map(({ channelId }) => channelId),
    [channel(1)],
  )
})

test('T2: of two channels the first in the log has the effect, wherever turns are cut', async (t) => {
  // Grouped by channel, channel 1 comes first; in the log, channel 2 was first with this op_id.
  const log = [message({ channelId: channel(1) }), claimed(2), claimed(1)]
  const whole = await newBench()
  await whole.apply(...log)
  const single = await newBench()
  for (const submission of log) await single.apply(submission)
  t.deepEqual(
    single.store.feed.filter((entry) => entry.opId === opId('mine')).map((e) => e.channelId),
    [channel(2)],
  )
  t.is(whole.store.snapshot(), single.store.snapshot())
})

test('T2: a refused use is a use', async (t) => {
  const bench = await newBench()
  await bench.apply(claimed(9))
  bench.store.addChannel(channel(9))
  await bench.apply(claimed(9))
  t.is(bench.statusOf(claimed(9)), 'channel_not_found')
  t.is(bench.store.feed.length, 0)
})
