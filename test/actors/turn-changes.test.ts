// Goal: the changes of one submission are one decision: numbered, committed and told together.
// Method: a reading above a limit opens an Event, as a rule of its channel would.

import test from 'ava'

import { ChannelDirectory } from '#actors/channel'
import type { Submission } from '#domain/submission'
import { decideEvent } from '#machines/decide'
import { channel, event, message, opId, thing } from '#test/support/submissions'
import { LIMITS, newBench } from '#test/support/turn-bench'

const isHot = (submission: Submission): boolean =>
  submission.model === 'thing' && Number(submission.patch.attrs?.['heat'] ?? 0) > 50

/** `ahead`: by how much the seq of the Event is wrong. */
async function benchWithRule(ahead = 0) {
  const bench = await newBench()
  const rules = { headSeq: 0, endedLifeMs: LIMITS.endedLifeMs }
  bench.directory = new ChannelDirectory({
    ...LIMITS,
    consequences: (submission, _decision, headSeq) => {
      if (!isHot(submission)) return []
      const { opId: id, acceptedAt } = submission
      const opened = event('create', `fire-${id}`, { opId: id, acceptedAt })
      return decideEvent(opened, undefined, { ...rules, headSeq: headSeq + ahead }).changes
    },
  })
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
  const entries = bench.store.feed.map(({ seq, model, opId: id }) => [seq, model, id])
  const [first, hot, last] = READINGS.map((one) => one.opId)
  t.deepEqual(entries, [
    [1, 'thing', first],
    [2, 'thing', hot],
    [3, 'event', hot],
    [4, 'message', last],
  ])
  t.is(bench.store.commits.length, 1)
  t.is(bench.store.operations.size, 3)
  const head = { headSeq: 4, things: 1, openEvents: 1 }
  t.like(bench.store.heads.get(channel(1)), head)
  t.like(bench.store.event(channel(1), `fire-${opId('hot')}`), { state: 'open', seq: 3 })
  // turn/1
  t.deepEqual([...end.entries], [[channel(1), bench.store.feed]])
})

test('W3: several changes of a submission are the same wherever turns are cut', async (t) => {
  const whole = await benchWithRule()
  await whole.apply(...READINGS)
  const single = await benchWithRule()
  for (const one of READINGS) await single.apply(one)
  t.is(whole.store.snapshot(), single.store.snapshot())
})

for (const ahead of [-1, 1]) {
  test(`W9, W6: a submission whose entries leave the order by ${ahead} is a defect alone`, async (t) => {
    const bench = await benchWithRule(ahead)
    await bench.apply(...READINGS)
    t.deepEqual(
      bench.store.feed.map(({ seq, model }) => [seq, model]),
      [
        [1, 'thing'],
        [2, 'message'],
      ],
    )
    t.like(bench.store.heads.get(channel(1)), { headSeq: 2, things: 1, openEvents: 0 })
    t.is(bench.store.operations.get(opId('hot'))?.errorCode, 'internal_error')
    t.is(bench.store.deadLetters.length, 1)
    t.is(bench.store.thing(channel(1), 'oven')?.rev, 1)
  })
}
