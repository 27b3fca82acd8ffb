// Goal: the rules of a channel within its turns: what they open, update, close and send, with the
// cause, once. (R1 to R7)

import test from 'ava'

import { decideTurn } from '#actors/turn'
import type { Submission } from '#domain/submission'
import { DUE_MAX, SWEEP_MAX } from '#domain/rules/stored'
import { ruleOf } from '#test/support/rules'
import { channel, event, opId, rule, thing } from '#test/support/submissions'
import { newBench } from '#test/support/turn-bench'
import type { TurnBench } from '#test/support/turn-bench'

const S = 1_000
const SILENT = { when: { silent: '10s' } }

const put = (members: object, s = 0, id = 'r', thingIds: readonly string[] = []): Submission => ({
  ...rule('put', id, JSON.stringify(ruleOf(members)), { acceptedAt: s * S }),
  ...(thingIds.length > 0 && { thingIds: thingIds.map((one) => thing('update', one).entityId) }),
})

const reading = (id: string, s: number, t: number, late = 0): Submission =>
  thing('update', id, { at: s * S, acceptedAt: (s + late) * S, attrs: { t } })

const tickAt = async (bench: TurnBench, s: number): Promise<void> => {
  await bench.take(bench.turnOf([{ model: 'tick', acceptedAt: s * S }]))
}

/** The Events and Messages of the feed: action, Thing, and the second that it names. */
const fired = ({ store }: TurnBench): readonly string[] =>
  store.feed.flatMap(({ model, action, payload, entityId }) => {
    if (model === 'thing') return []
    const { event_time: at, occurred_at: sent } = JSON.parse(payload) as Record<string, number>
    const kept = store.event(channel(1), entityId)?.fields.values['thing_id']
    const thingId = kept ?? (JSON.parse(payload) as { thing_id?: string }).thing_id
    return `${action} ${JSON.stringify(thingId).slice(1, -1)} ${Number(at ?? sent) / S}`
  })

const statuses = ({ store }: TurnBench): readonly unknown[] =>
  store.feed
    .filter(({ action }) => action === 'close')
    .map(({ payload }) => (JSON.parse(payload) as { status?: string }).status)

test('R1: a firing is one Event, with what the rule says', async (t) => {
  const bench = await newBench()
  const output = { severity: 'high', tags: ['cold'], metadata: { team: 'a' } }
  await bench.apply(put({ event: { title: '{thing.id} at {t}', ...output } }))
  await bench.apply(reading('a', 1, 31), reading('a', 2, 32))
  t.deepEqual(fired(bench), ['create a 1'])
  const [, entry] = bench.store.feed
  const kept = bench.store.event(channel(1), entry?.entityId ?? '')
  t.like(kept?.fields.values, { title: 'a at 31', thing_id: 'a', started_at: S, ...output })
  t.is(kept?.attrs.values['rule_id'], 'r')
  t.regex(entry?.entityId ?? '', /^[0-9a-f]{32}$/)
})

test('R1: each firing of a rule and a Thing is an Event of its own', async (t) => {
  const bench = await newBench()
  await bench.apply(put({}), reading('a', 1, 31), reading('a', 2, 1), reading('a', 3, 31))
  const ids = bench.store.feed.flatMap(({ model, entityId }) => (model === 'event' ? entityId : []))
  t.is(ids.length, 3)
  t.is(new Set(ids).size, 2)
})

test('R1, W3: a replay from zero gives the same Events with the same ids', async (t) => {
  const log = [put({ for: '5s' }), reading('a', 1, 31), reading('b', 3, 31), reading('a', 20, 1)]
  const play = async (cut: number): Promise<TurnBench> => {
    const bench = await newBench()
    await bench.apply(...log.slice(0, cut))
    await bench.apply(...log.slice(cut))
    await tickAt(bench, 30)
    return bench
  }
  const one = await play(1)
  const other = await play(3)
  t.deepEqual(fired(one), ['create a 6', 'close a 20', 'create b 8'])
  t.is(one.store.snapshot(), other.store.snapshot())
})

test('R3, R7: a tick fires what is due, once, at the times at which it was due', async (t) => {
  const bench = await newBench()
  await bench.apply(put({ for: '5s' }), reading('b', 2, 31), reading('a', 1, 31))
  await tickAt(bench, 5)
  t.deepEqual(fired(bench), [])
  for (const s of [7_200, 7_201, 3]) await tickAt(bench, s)
  t.deepEqual(fired(bench), ['create a 6', 'create b 7'])
})

test('R3: an actor that forgot everything goes on', async (t) => {
  const bench = await newBench()
  await bench.apply(put({ for: '5s' }), reading('a', 1, 31))
  bench.directory.sleepAll()
  await bench.apply(reading('a', 3, 33))
  bench.directory.sleepAll()
  await tickAt(bench, 6)
  bench.directory.sleepAll()
  await bench.apply(reading('a', 8, 1))
  t.deepEqual(fired(bench), ['create a 6', 'close a 8'])
})

test('R4: silence fires once, and an update writes nothing for it', async (t) => {
  const bench = await newBench()
  await bench.apply(put(SILENT), reading('a', 1, 1))
  const before = bench.store.rules.written
  await bench.apply(reading('a', 2, 1), reading('a', 3, 1))
  t.is(bench.store.rules.written, before)
  for (const s of [11, 12, 13, 14]) await tickAt(bench, s)
  await bench.apply(reading('a', 20, 1))
  t.deepEqual(fired(bench), ['create a 13', 'close a 20'])
})

test('watching/2: a reading that leaves its watches as they are takes no note of them', async (t) => {
  const bench = await newBench()
  await bench.apply(put(SILENT), reading('a', 1, 31))
  const decided = await decideTurn(bench, bench.turnOf([reading('a', 2, 31)]))
  t.deepEqual(
    [...decided.channels.values()].map(({ turn: { decided: left } }) => [
      left.things.size,
      left.watches.size,
    ]),
    [[1, 0]],
  )
})

test('R4: an update without effect was heard, too', async (t) => {
  const bench = await newBench()
  await bench.apply(put(SILENT), reading('a', 1, 1), reading('a', 1, 1, 7))
  for (const s of [11, 17, 18]) await tickAt(bench, s)
  t.deepEqual(fired(bench), ['create a 18'])
})

test('R4: Things from before the rule count from their last update, those named from its time', async (t) => {
  const bench = await newBench()
  await bench.apply(reading('old', 1, 1), reading('new', 98, 1))
  await bench.apply(put(SILENT, 100), put(SILENT, 100, 'named', ['lost', 'old']))
  const named = { ...SILENT, things: { ids: ['lost', 'old'] } }
  await bench.apply(put(named, 100, 'named', ['lost', 'old']))
  await tickAt(bench, 100)
  t.deepEqual(fired(bench), ['create old 100', 'create old 100'])
  await tickAt(bench, 108)
  await tickAt(bench, 110)
  t.deepEqual(fired(bench).slice(2), ['create new 108', 'create lost 110'])
})

test('R5: a changed rule keeps its Events while Things and condition are the same', async (t) => {
  const bench = await newBench()
  await bench.apply(put({}), reading('a', 1, 31))
  await bench.apply(put({ title: 'another', clear: { attr: 't', below: 10 } }, 2))
  await tickAt(bench, 3)
  await bench.apply(reading('a', 4, 20))
  t.deepEqual(fired(bench), ['create a 1'])
  await bench.apply(reading('a', 5, 5))
  t.deepEqual(fired(bench), ['create a 1', 'close a 5'])
})

const ENDS: readonly (readonly [string, () => Submission, string])[] = [
  ['with another condition', () => put({ when: { attr: 't', above: 40 } }, 2), 'rule changed'],
  ['that is disabled', () => put({ enabled: false }, 2), 'rule disabled'],
  ['that is deleted', () => rule('delete', 'r', '', { acceptedAt: 2 * S }), 'rule deleted'],
]
for (const [which, change, status] of ENDS) {
  test(`R5: a rule ${which} closes its Events, without a reading`, async (t) => {
    const bench = await newBench()
    await bench.apply(put({}), reading('a', 1, 31), reading('b', 1, 31))
    await bench.apply(change())
    bench.directory.sleepAll()
    await tickAt(bench, 2)
    t.deepEqual(statuses(bench), [status, status])
    t.is(bench.store.heads.get(channel(1))?.openEvents, 0)
    t.is(bench.store.rules.rows.size, 0)
  })
}

test('R5: the Events of more Things than one sweep takes are closed, some at each tick', async (t) => {
  const bench = await newBench()
  const count = SWEEP_MAX + 10
  const readings = Array.from({ length: count }, (_, index) => reading(`t${index}`, 1, 31))
  await bench.apply(put({}), ...readings, rule('delete', 'r', '', { acceptedAt: 2 * S }))
  await tickAt(bench, 2)
  t.is(statuses(bench).length, SWEEP_MAX)
  await tickAt(bench, 2)
  t.is(statuses(bench).length, count)
  t.is(bench.store.rules.nextDue(0), undefined)
})

test('R5: an archived, a deleted and a Thing that lost its tag close their Events', async (t) => {
  const bench = await newBench()
  const tagged = (id: string, tags: readonly string[], s: number): Submission =>
    thing('update', id, { at: s * S, acceptedAt: s * S, attrs: { t: 31 }, fields: { tags } })
  await bench.apply(put({ things: { tag: 'cold' } }))
  await bench.apply(...['a', 'b', 'c'].map((id) => tagged(id, ['cold'], 1)), tagged('d', [], 1))
  await bench.apply(
    thing('archive', 'a', { at: 2 * S, acceptedAt: 2 * S }),
    thing('delete', 'b', { at: 2 * S, acceptedAt: 2 * S }),
    tagged('c', [], 2),
  )
  t.deepEqual(statuses(bench), ['thing archived', 'thing deleted', 'no longer watched'])
  t.is(bench.store.rules.rows.size, 0)
})

test('R6: an evaluation that fails is counted, and stops neither the reading nor other rules', async (t) => {
  const bench = await newBench()
  await bench.apply(put({ when: { cel: 'attrs.gone > 1' } }, 0, 'bad'), put({}, 0, 'good'))
  await bench.apply(reading('a', 1, 31), reading('a', 2, 32))
  t.deepEqual(fired(bench), ['create a 1'])
  t.is(bench.store.rules.failures.get('bad'), 2)
  t.is(bench.store.deadLetters.length, 0)
})

test('R7: one tick works off no more than DUE_MAX, in the order of deadline, rule and Thing', async (t) => {
  const bench = await newBench()
  const ids = Array.from({ length: DUE_MAX + 5 }, (_, index) => `t${10_000 + index}`)
  await bench.apply(put({ for: '5s' }), ...ids.toReversed().map((id) => reading(id, 1, 31)))
  await tickAt(bench, 60)
  t.deepEqual(
    fired(bench),
    ids.slice(0, DUE_MAX).map((id) => `create ${id} 6`),
  )
  await tickAt(bench, 60)
  t.is(fired(bench).length, ids.length)
})

test('consequences/1: an Event closed by hand stays closed until its rule has cleared', async (t) => {
  const bench = await newBench()
  await bench.apply(put({}), reading('a', 1, 31))
  const id = bench.store.feed[1]?.entityId ?? ''
  await bench.apply(event('close', id, { at: 2 * S, acceptedAt: 2 * S }))
  await bench.apply(reading('a', 3, 32), reading('a', 4, 1), reading('a', 5, 31))
  t.deepEqual(fired(bench), ['create a 1', 'close a 2', 'create a 5'])
})

test('a Message of a rule is a Message of the channel', async (t) => {
  const bench = await newBench()
  const message = { title: '{thing.id} is hot', body: 'since {since}', at_most_every: '1d' }
  await bench.apply(put({ event: undefined, message }))
  await bench.apply(reading('a', 1, 31), reading('a', 2, 1), reading('a', 3, 31))
  t.deepEqual(fired(bench), ['send a 1'])
  const sent = JSON.parse(bench.store.feed[1]?.payload ?? '{}') as object
  t.like(sent, { title: 'a is hot', body: 'since 1970-01-01T00:00:01Z', severity: 'normal' })
})

test('a rule is deleted once, and a channel has no more than its limit', async (t) => {
  const bench = await newBench()
  const gone = rule('delete', 'r', '', { opId: 'gone' })
  await bench.apply(gone)
  t.is(bench.store.operations.get(opId('gone'))?.errorCode, 'rule_not_found')
  const rules = Array.from({ length: 1_000 }, (_, index) => put({}, 0, `r${index}`))
  await bench.apply(...rules)
  const last = put({}, 0, 'one-more')
  await bench.apply(last, put({ title: 'again' }, 0, 'r1'))
  t.is(bench.statusOf(last), 'rules_limit_exceeded')
  t.is(bench.store.rules.stored.size, 1_000)
})

test('rule-set/3: rules that are small as text and large when compiled are limited, too', async (t) => {
  const bench = await newBench()
  const cel = Array<string>(40).fill('!true').join('||')
  const large = (index: number): Submission =>
    put({ when: { any: Array.from({ length: 32 }, () => ({ cel })) } }, 0, `r${index}`)
  const rules = Array.from({ length: 40 }, (_, index) => large(index))
  await bench.apply(...rules)
  const kept = rules.filter((one) => bench.statusOf(one) === 'sent').length
  t.is(bench.store.rules.stored.size, kept)
  t.true(kept > 5 && kept < 30, String(kept))
  t.is(bench.statusOf(rules.at(-1) ?? large(0)), 'rules_limit_exceeded')
  const [again, small] = [large(0), put({}, 0, 'small')]
  await bench.apply(again, small)
  t.deepEqual([bench.statusOf(again), bench.statusOf(small)], ['sent', 'sent'])
})

test('watching/1, W7: a channel without rules reads and keeps no watches', async (t) => {
  const bench = await newBench()
  await bench.apply(reading('a', 1, 31))
  await bench.apply(reading('b', 1, 31))
  t.deepEqual(bench.store.loads.at(-1)?.watched, [])
  t.is(bench.directory.remembered, 2)
})
