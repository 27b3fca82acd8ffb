// Goal: rules that need too much for a reading fail and count, stop neither the channel nor the
// engine, and do so in a replay as well.

import test from 'ava'

import type { Fields, Submission } from '#domain/submission'
import { EXPRESSION_STEPS_MAX, READING_STEPS_MAX } from '#src/rules/work'
import { ruleOf } from '#test/support/rules'
import { rule, thing } from '#test/support/submissions'
import { newBench } from '#test/support/turn-bench'
import type { TurnBench } from '#test/support/turn-bench'

const S = 1_000

const put = (id: string, members: object): Submission =>
  rule('put', id, JSON.stringify(ruleOf(members)), { acceptedAt: 0 })

const reading = (s: number, attrs: Fields, late = 0): Submission =>
  thing('update', 'a', { at: s * S, acceptedAt: (s + late) * S, attrs })

/** Some 150 characters, which took the library 15 seconds on these attrs. */
const HOSTILE = {
  when: {
    cel:
      '[attrs.a + attrs.a + attrs.a].exists(x, ' +
      '(x + x + x + x + x + x + x).contains(attrs.b + attrs.b + attrs.b))',
  },
}
const ATTRS = { a: 'a'.repeat(30_000), b: `${'a'.repeat(15_000)}b${'a'.repeat(15_000)}`, t: 31 }

const created = ({ store }: TurnBench): number =>
  store.feed.filter(({ action }) => action === 'create').length

const failuresOf = ({ store }: TurnBench): Readonly<Record<string, number>> =>
  Object.fromEntries(store.rules.failures)

test('watching/5, work/1: rules that need too much fail for their reading, and all go on with the next', async (t) => {
  const log = [
    ...Array.from({ length: 100 }, (_, index) => put(`h${100 + index}`, HOSTILE)),
    put('g', {}),
    put('z', {}),
    reading(1, ATTRS),
    reading(2, { a: 'a', b: 'b' }),
  ]
  const play = async (cut: number): Promise<TurnBench> => {
    const bench = await newBench()
    await bench.apply(...log.slice(0, cut))
    await bench.apply(...log.slice(cut))
    return bench
  }
  const bench = await play(log.length)
  const failures = failuresOf(bench)
  const whole = Math.floor(READING_STEPS_MAX / EXPRESSION_STEPS_MAX)
  t.is(failures['h100'], 1)
  t.is(failures[`h${100 + whole}`], 1)
  t.deepEqual([failures['g'], failures['z']], [undefined, 1])
  t.is(Object.keys(failures).length, 101)
  // g watched the first reading and z the second one: nothing was left for it in the first.
  t.is(created(bench), 2)
  t.is(bench.store.deadLetters.length, 0)
  const again = await play(102)
  t.deepEqual(again.store.feed, bench.store.feed)
  t.deepEqual(failuresOf(again), failures)
})

test('watching/5: each deadline has a budget of its own', async (t) => {
  const bench = await newBench()
  const when = { any: [{ cel: 'attrs.l.exists(x, x == 2)' }, { silent: '1s' }] }
  const rules = Array.from({ length: 50 }, (_, index) => put(`r${index}`, { when }))
  await bench.apply(...rules)
  await bench.apply(reading(1, { l: [] }), reading(2, { l: Array<number>(1_900).fill(1) }))
  await bench.take(bench.turnOf([{ model: 'tick', acceptedAt: 9 * S }]))
  t.is(created(bench), rules.length)
})

/** How often one value of late data is written as JSON, beside so many rules that fire. */
async function writtenBeside(count: number): Promise<number> {
  const bench = await newBench()
  const rules = Array.from({ length: count }, (_, index) => put(`r${index}`, {}))
  await bench.apply(...rules, reading(5, { t: 31 }))
  const { stringify } = JSON
  let written = 0
  JSON.stringify = ((value: unknown) => {
    if (Array.isArray(value) && value.length === 7) written += 1
    return stringify(value)
  }) as typeof stringify
  try {
    await bench.apply(reading(4, { m: Array<number>(7).fill(1) }, 2))
  } finally {
    JSON.stringify = stringify
  }
  return written
}

test('watching/5: late data is compared once for all rules', async (t) => {
  const one = await writtenBeside(1)
  t.true(one > 0)
  t.is(await writtenBeside(30), one)
})
