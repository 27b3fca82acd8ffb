// turn-records/5: what a client names has one effect, however often it is in the log.

import test from 'ava'

import { ChannelDirectory } from '#actors/channel'
import { channel, event, message, opId, thing } from '#test/support/submissions'
import { running } from '#test/support/running-system'
import { LIMITS, newBench } from '#test/support/turn-bench'

const claimed = (number: number) =>
  message({ opId: 'mine', claims: true, channelId: channel(number) })

test('turn-records/5: a chosen op_id has one effect within a turn', async (t) => {
  const bench = await newBench()
  await bench.apply(claimed(1), message(), claimed(1))
  t.is(bench.store.feed.filter((entry) => entry.opId === opId('mine')).length, 1)
  t.deepEqual(
    bench.store.feed.map(({ seq }) => seq),
    [1, 2],
  )
})

test('turn-records/5: a chosen op_id has one effect over two turns, also after a restart', async (t) => {
  const bench = await newBench()
  await bench.apply(claimed(1))
  await bench.apply(claimed(1))
  bench.directory = new ChannelDirectory(LIMITS)
  await bench.apply(claimed(1), message())
  t.is(bench.store.feed.length, 2)
  t.deepEqual(bench.store.violations, [])
})

test('turn-records/5: a chosen op_id has one effect over two channels', async (t) => {
  const bench = await newBench()
  await bench.apply(claimed(1), claimed(2))
  await bench.apply(claimed(2))
  t.deepEqual(
    bench.store.feed.map(({ channelId }) => channelId),
    [channel(1)],
  )
})

test('turn-records/5: an op_id has its effect on the channel that is first in the log, wherever turns are cut', async (t) => {
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

test('turn-records/5: a refused use is a use', async (t) => {
  const bench = await newBench()
  await bench.apply(claimed(9))
  bench.store.addChannel(channel(9))
  await bench.apply(claimed(9))
  t.is(bench.statusOf(claimed(9)), 'channel_not_found')
  t.is(bench.store.feed.length, 0)
})

// Method: the gateway made the op_id of an Event, a Thing or a Message; a client chose the same for
// a Message on another channel. Every order, over every cut into turns.
const MADE = [
  event('create', 'e', { opId: 'mine' }),
  thing('create', 't', { opId: 'mine' }),
  message({ opId: 'mine' }),
]
for (const made of MADE) {
  for (const isFirst of [true, false]) {
    const order = isFirst ? 'before' : 'after'
    test(`turn-records/6: an op_id made for a ${made.model} ${order} a client chose it has one record`, async (t) => {
      const chosen = claimed(2)
      const log = [message(), ...(isFirst ? [made, chosen] : [chosen, made]), message()]
      const whole = await newBench()
      await whole.apply(...log)
      const single = await newBench()
      for (const one of log) await single.take(single.turnOf([one], { isCareful: true }))
      t.is(whole.store.snapshot(), single.store.snapshot())
      t.like(whole.store.operations.get(opId('mine')), {
        model: isFirst ? made.model : 'message',
        channelId: isFirst ? channel(1) : channel(2),
      })
      t.is(whole.store.operations.size, 3)
      // A submission whose op_id the gateway made has its effect either way.
      const effects = whole.store.feed.filter((entry) => entry.opId === opId('mine'))
      t.deepEqual(
        effects.map(({ channelId }) => channelId).toSorted(),
        isFirst ? [channel(1)] : [channel(1), channel(2)],
      )
      t.deepEqual([...whole.store.violations, ...single.store.violations], [])
    })
  }
}

test("turn-records/5: a submission that is in the log twice has one effect, also with the gateway's op_id", async (t) => {
  const bench = await newBench()
  const batch = [message(), thing('create', 't'), event('create', 'e')]
  await bench.apply(...batch)
  await bench.take(bench.turnOf([...batch, message()], { isCareful: true }))
  t.is(bench.store.feed.length, 4)
  t.is(bench.store.operations.size, 4)
  t.deepEqual(bench.store.violations, [])
})

test('turn-records/4: op_ids that the gateway made are looked up only when a turn has failed', async (t) => {
  const bench = await newBench()
  await bench.apply(message(), thing('create', 't'))
  await bench.apply(message(), claimed(1))
  const after = [message(), event('create', 'e')]
  await bench.take(bench.turnOf(after, { isCareful: true }))
  t.deepEqual(
    bench.store.loads.map(({ operations }) => operations),
    [[], [opId('mine')], after.map((one) => one.opId)],
  )
})

// Method: many uses of one op_id on a Thing, each in a turn of its own, beside those of another lane.
for (const model of ['thing', 'event', 'message'] as const) {
  test(`turn-records/4: a ${model} that says that it may repeat another never makes a turn fail`, async (t) => {
    const { log, store, system, meter } = await running(t, { turnMax: 2 })
    const named = { opId: 'mine', channelId: channel(1) }
    const made = {
      thing: thing('update', 'a', { ...named, attrs: { t: 1 } }),
      event: event('create', 'a', named),
      message: message(named),
    }[model]
    for (let each = 0; each < 20; each += 1) {
      log.put(0, [{ ...made, mayRepeat: true }])
      log.put(1, [thing('update', 'b', { at: each, channelId: channel(3) })])
    }
    await system.drain()
    t.is(meter.total('turns_retried_total'), 0)
    t.is(store.feed.filter(({ opId: id }) => id === opId('mine')).length, 1)
    t.is(store.operations.get(opId('mine'))?.model, model)
  })
}
