// Goal: a deadline whose turn the database refuses is put off alone, and its lane goes on. (W6)
// Method: a store that refuses every commit with an Event of one Thing, or one Message.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { STORE_DEFECT } from '#domain/store-ports'
import type { TurnWrites } from '#domain/store-ports'
import { encodeBatch, encodeSubmission } from '#src/schemas/batch'
import { outage } from '#test/support/memory-turn-store'
import { ruleOf } from '#test/support/rules'
import { running } from '#test/support/running-system'
import { channel, message, rule, thing } from '#test/support/submissions'
import { turn, until } from '#test/support/until'

const S = 1_000
const RULE = JSON.stringify(ruleOf({ for: '5s' }))
const THINGS = Array.from({ length: 50 }, (_, index) => `t${100 + index}`)
const POISONED = 'thing t131'

const titlesIn = ({ channels }: Pick<TurnWrites, 'channels'>): readonly string[] =>
  channels.flatMap(({ entries }) =>
    entries.flatMap(({ model, payload }) => {
      const { title, thing_id: thingId } = JSON.parse(payload) as Record<string, string>
      return model === 'thing' ? [] : [thingId === undefined ? (title ?? '') : `thing ${thingId}`]
    }),
  )

/** A system in which fifty firings and a Message are due, of which one is refused with an error. */
async function poisoned(t: ExecutionContext, poison: string, error: Error) {
  const over = await running(
    t,
    {},
    (log) => (lane, tick) =>
      log.append({ lane, count: 1, payload: encodeBatch([encodeSubmission(tick)]) }),
  )
  const { store, log, clock, system } = over
  const commit = store.commit.bind(store)
  let isPoisoned = true
  store.commit = (writes) =>
    isPoisoned && titlesIn(writes).includes(poison) ? Promise.reject(error) : commit(writes)
  const attrs = { t: 31 }
  const hot = THINGS.map((id) => thing('update', id, { at: 10 * S, acceptedAt: 10 * S, attrs }))
  const later = message({ acceptedAt: 10 * S, deliverAt: 21 * S, fields: { title: 'later' } })
  log.put(0, [rule('put', 'r', RULE, { acceptedAt: 9 * S }), ...hot, later])
  const fired = (): readonly string[] => titlesIn({ channels: [entriesOf(store.feed)] })
  /** Sets the clock, and looks at deadlines until so many fired. */
  const reach = async (s: number, count: number): Promise<void> => {
    clock.now = s * S
    await until(`${count} fired`, () => {
      system.checkDeadlines()
      return fired().length >= count
    })
  }
  await until('all is applied', () => store.scheduled.rows.size === 1)
  const heal = (): void => void (isPoisoned = false)
  return { ...over, fired, reach, heal }
}

const entriesOf = (entries: TurnWrites['channels'][number]['entries']) =>
  ({ entries }) as TurnWrites['channels'][number]

const defect = Object.assign(new Error('a constraint'), { name: STORE_DEFECT })

for (const [what, poison, error] of [
  ['a rule, by a constraint', POISONED, defect],
  ['a rule, for long', POISONED, outage('the trigger says no')],
  ['a Message, by a constraint', 'later', defect],
] as const) {
  test(`W6, lane-troubles/3: a deadline of ${what}, is put off alone, and fires once it is taken`, async (t) => {
    const { fired, reach, heal, meter, store, logger, log } = await poisoned(t, poison, error)
    await reach(30, THINGS.length)
    t.deepEqual(
      fired().toSorted(),
      ['later', ...THINGS.map((id) => `thing ${id}`)].filter((one) => one !== poison).toSorted(),
    )
    await until('it is put off', () => meter.total('deadlines_put_off_total') === 1)
    t.true(logger.lines.some(({ fact }) => fact.startsWith('a deadline is put off')))
    t.deepEqual(store.deadLetters, [])
    log.put(0, [message({ channelId: channel(2), fields: { title: 'another' } })])
    await until('the lane goes on', () => fired().includes('another'))
    heal()
    await reach(31 + 600, THINGS.length + 2)
    for (let round = 0; round < 50; round += 1) await turn()
    t.is(fired().filter((one) => one === poison).length, 1)
    t.is(store.rules.nextDue(0), undefined)
  })
}
