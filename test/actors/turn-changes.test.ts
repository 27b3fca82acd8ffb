// Goal: the changes of one submission are one decision: numbered, committed and told together.
// Method: a reading above a limit opens an Event, by a rule of its channel.

import test from 'ava'

import { checkSeqs } from '#machines/decide'
import { decideMessage } from '#machines/decide'
import { ruleOf } from '#test/support/rules'
import { channel, message, opId, rule, thing } from '#test/support/submissions'
import { newBench } from '#test/support/turn-bench'

const HOT = JSON.stringify(ruleOf({ when: { attr: 'heat', above: 50 } }))

async function benchWithRule() {
  const bench = await newBench()
  await bench.apply(rule('put', 'hot', HOT, { opId: 'put' }))
  return bench
}

const READINGS = [
  thing('update', 'oven', { attrs: { heat: 20 } }),
  thing('update', 'oven', { at: 2, attrs: { heat: 70 }, opId: 'hot' }),
  message(),
]

test('W9, W2: the entries of one submission have consecutive seqs and one commit', async (t) => {
  const bench = await benchWithRule()
  const end = await bench.apply(...READINGS)
  const entries = bench.store.feed.map(({ seq, model, action }) => `${seq} ${model} ${action}`)
  t.deepEqual(entries, ['1 thing update', '2 thing update', '3 event create', '4 message send'])
  t.is(bench.store.commits.length, 2)
  t.is(bench.store.operations.size, 5)
  t.like(bench.store.heads.get(channel(1)), { headSeq: 4, things: 1, openEvents: 1 })
  const fired = bench.store.feed[2]
  t.like(bench.store.event(channel(1), fired?.entityId ?? ''), { state: 'open', seq: 3 })
  t.is(bench.store.operations.get(fired?.opId ?? opId('none'))?.model, 'event')
  // turn/1
  t.deepEqual(end.channels.get(channel(1))?.turn.entries, bench.store.feed)
})

test('W3: several changes of a submission are the same wherever turns are cut', async (t) => {
  const whole = await benchWithRule()
  await whole.apply(...READINGS)
  const single = await benchWithRule()
  for (const one of READINGS) await single.apply(one)
  t.is(whole.store.snapshot(), single.store.snapshot())
})

test('W9: entries that leave the order are a defect', (t) => {
  const { changes } = decideMessage(message(), 7)
  t.notThrows(() => checkSeqs({ headSeq: 7 }, changes))
  for (const headSeq of [6, 8]) t.throws(() => checkSeqs({ headSeq }, changes))
})
