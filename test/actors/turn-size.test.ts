// Goal: what one turn makes is bounded, whatever follows from its submissions, and a log ends in the
// same state as in turns of one.

import test from 'ava'

import { ENTRIES_MAX, decideTurn } from '#actors/turn'
import type { Submission } from '#domain/submission'
import { ruleOf } from '#test/support/rules'
import { running, seqsOf } from '#test/support/running-system'
import { channel, rule, thing } from '#test/support/submissions'
import { newBench } from '#test/support/turn-bench'

const RULES = 200
/** Readings that change every rule's Event, of which a turn may take so many. */
const TOGGLES = 90
const IN_TURN = Math.ceil(ENTRIES_MAX / (RULES + 1))

const rules = (): readonly Submission[] =>
  Array.from({ length: RULES }, (_, number) => rule('put', `r${number}`, JSON.stringify(ruleOf())))

const toggle = (number: number, channelId = channel(1)): Submission =>
  thing('update', 'a', { at: number, attrs: { t: number % 2 === 0 ? 31 : 1 }, channelId })

const toggles = (count = TOGGLES): readonly Submission[] =>
  Array.from({ length: count }, (_, number) => toggle(number))

/** Room for what the rules open. */
const ROOM = { rememberedBytesMax: 10 ** 8, cachedBytesMax: 10 ** 9, endedLifeMs: 10 ** 6 }

test('turn/2: turns stop where they have made enough, and the next ones go on', async (t) => {
  const { log, store, system, meter } = await running(t, ROOM)
  log.put(0, rules())
  const others = [toggle(0, channel(2)), toggle(1, channel(2))]
  log.put(0, [...toggles(), ...others])
  log.put(1, [toggle(0, channel(3))])
  await system.drain()
  const made = store.commits.map(({ channels }) =>
    channels.reduce((sum, { entries }) => sum + entries.length, 0),
  )
  t.true(Math.max(...made) <= ENTRIES_MAX + RULES + 1, made.join(', '))
  t.true(Math.max(...made) >= ENTRIES_MAX, made.join(', '))
  t.is(seqsOf(store).length, TOGGLES * (RULES + 1))
  t.deepEqual(
    seqsOf(store),
    Array.from({ length: TOGGLES * (RULES + 1) }, (_, index) => index + 1),
  )
  t.deepEqual([seqsOf(store, 2), seqsOf(store, 3)], [[1, 2], [1]])
  t.true(meter.total('turns_cut_total') > 0)
  t.is(meter.total('turns_retried_total'), 0)
})

// Method: so many readings stand in one turn, before one of another channel.
for (const [count, fit] of [
  [IN_TURN - 1, IN_TURN],
  [IN_TURN, IN_TURN],
  [IN_TURN + 1, IN_TURN],
] as const) {
  test(`turn/2: of ${count} readings and one behind, ${fit} fit`, async (t) => {
    const bench = await newBench()
    await bench.apply(...rules())
    const turn = bench.turnOf([...toggles(count), toggle(0, channel(2))])
    const { items, moves } = await decideTurn(bench, turn)
    t.is(items.length, fit)
    t.is(moves[0]?.to, items.at(-1)?.placeAfter)
  })
}

test('turn/2: where turns are cut changes no state', async (t) => {
  const [put, readings] = [rules(), toggles(10)]
  const [whole, single] = [await newBench(), await newBench()]
  await whole.apply(...put)
  await whole.apply(...readings)
  await single.apply(...put)
  for (const one of readings) await single.apply(one)
  t.true(whole.store.snapshot() === single.store.snapshot())
})
