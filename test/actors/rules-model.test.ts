// Goal: what the rules of a channel open and close, against a model that knows no watches, no
// deadlines and no turns. (R1 to R7)
// Method: random readings, delayed, late and repeated, with ticks, turns of any size, and actors
// that forget everything in between.

import test from 'ava'
import * as fc from 'fast-check'

import type { Submission, Tick } from '#domain/submission'
import { ruleOf } from '#test/support/rules'
import { rule, thing } from '#test/support/submissions'
import { newBench } from '#test/support/turn-bench'
import type { TurnBench } from '#test/support/turn-bench'

const S = 1_000
const FOR = 5
const SILENT = 10

const RULES = {
  hot: { for: `${FOR}s` },
  silent: { when: { silent: `${SILENT}s` } },
  bad: { when: { cel: 'attrs.gone > 1' } },
}

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom('now', 'now', 'delayed', 'late', 'repeated', 'tick', 'restart', 'cut'),
    gap: fc.integer({ min: 1, max: 8 }),
    isHot: fc.boolean(),
  }),
  { maxLength: 25 },
)

interface Moment {
  /** The time of the lane. */
  readonly s: number
  /** observed_at, or absent for a tick. */
  readonly at?: number
  readonly isHot?: boolean
}

/** The moments of a log, with what else happens between them. */
function momentsOf(list: readonly Step[]) {
  let s = 20
  let last: { readonly at: number; readonly isHot: boolean } | undefined
  return list.map(({ kind, gap, isHot }) => {
    s += gap
    if (kind === 'restart' || kind === 'cut') return kind
    if (kind === 'tick') return { s }
    if (kind === 'late' && last !== undefined) return { s, at: last.at - gap, isHot }
    if (kind === 'repeated' && last !== undefined) return { s, ...last }
    const at = kind === 'delayed' ? Math.max(s - gap, last?.at ?? 0) : s
    last = { at, isHot }
    return { s, ...last }
  })
}

interface Step {
  readonly kind: string
  readonly gap: number
  readonly isHot: boolean
}

/** What each rule says, by a plain reading of the specification. */
function expected(
  moments: readonly Moment[],
  begin: number,
): Record<'hot' | 'silent', readonly string[]> {
  const hot: string[] = []
  const silent: string[] = []
  let at = -Infinity
  let since: number | undefined
  let heardAt: number | undefined
  let firing = false
  let silentSince: number | undefined
  /** R3: `for` has ended by a time, though nobody looked. */
  const elapse = (until: number): void => {
    if (since === undefined || firing || since + FOR > until) return
    firing = true
    hot.push(`create ${since + FOR}`)
  }
  for (const [index, { s, at: observed, isHot = false }] of moments.entries()) {
    if (observed === undefined) {
      elapse(s)
      if (silentSince === undefined && heardAt !== undefined && heardAt + SILENT <= s) {
        silentSince = heardAt + SILENT // R4
        silent.push(`create ${silentSince}`)
      }
      continue
    }
    elapse(Math.min(s, observed))
    heardAt = s // R4: also late data is heard.
    if (silentSince !== undefined) silent.push(`close ${Math.max(observed, silentSince)}`)
    silentSince = undefined
    if (observed < at) continue // R2
    at = observed
    if (index < begin) continue // The rule is not there yet.
    if (isHot) since ??= observed
    else {
      if (firing) hot.push(`close ${observed}`)
      since = undefined
      firing = false
    }
  }
  return { hot, silent }
}

const put = (id: keyof typeof RULES, s = 20): Submission =>
  rule('put', id, JSON.stringify(ruleOf(RULES[id])), { acceptedAt: s * S })

const itemOf = ({ s, at, isHot }: Moment): Submission | Tick =>
  at === undefined
    ? { model: 'tick', acceptedAt: s * S }
    : thing('update', 'a', { at: at * S, acceptedAt: s * S, attrs: { t: isHot ? 31 : 1 } })

/** The Events of a rule in the feed: the action and its second. */
function saidBy({ store }: TurnBench, ruleId: string): readonly string[] {
  return store.feed.flatMap(({ channelId, model, action, entityId, payload }) => {
    const kept = store.event(channelId, entityId)?.attrs.values['rule_id']
    const { event_time: time = 0 } = JSON.parse(payload) as { event_time?: number }
    return model === 'event' && kept === ruleId ? [`${action} ${time / S}`] : []
  })
}

/** `isWhole`: nothing is forgotten, and turns are as large as they can be. */
async function played(list: readonly Step[], { isWhole = false } = {}) {
  const bench = await newBench()
  await bench.apply(put('silent'), put('bad'))
  const moments = momentsOf(list)
  let turn: (Submission | Tick)[] = []
  const cut = async (): Promise<void> => {
    if (turn.length > 0) await bench.take(bench.turnOf(turn))
    turn = []
  }
  const log = moments.filter((moment) => typeof moment !== 'string')
  // A rule that comes later looks at a threshold with the next reading that counts. (R2)
  const begin = Math.floor(log.length / 3)
  const first = log[begin]
  for (const moment of moments) {
    if (typeof moment === 'string') {
      if (isWhole) continue
      await cut()
      if (moment === 'restart') bench.directory.sleepAll()
      continue
    }
    if (moment === first) {
      await cut()
      await bench.apply(put('hot', moment.s))
    }
    if (moment.at === undefined) await cut() // R7: a tick stands first in its turn.
    turn.push(itemOf(moment))
  }
  await cut()
  return { bench, log, begin }
}

const check = async (t: { pass(): void }, holds: (list: readonly Step[]) => Promise<void>) => {
  await fc.assert(fc.asyncProperty(steps, holds), { numRuns: 150, includeErrorInReport: true })
  t.pass()
}

test('R2, R3, R4, R7: rules open and close what a plain model does', (t) =>
  check(t, async (list) => {
    const { bench, log, begin } = await played([...list, { kind: 'tick', gap: 90, isHot: false }])
    const { hot, silent } = expected(log, begin)
    t.deepEqual([saidBy(bench, 'hot'), saidBy(bench, 'silent')], [hot, silent])
  }))

test('R1: an Event is opened once, under an id of its own; forgetting and cutting change none', (t) =>
  check(t, async (list) => {
    const { bench } = await played(list)
    const opened = bench.store.feed.filter(({ action }) => action === 'create')
    t.is(new Set(opened.map(({ entityId }) => entityId)).size, opened.length)
    const again = await played(list, { isWhole: true })
    const idsOf = ({ store }: TurnBench) => store.feed.map(({ entityId, seq }) => [entityId, seq])
    t.deepEqual(idsOf(again.bench), idsOf(bench))
  }))

test('R5: a deleted rule leaves no open Event, whatever happened before', (t) =>
  check(t, async (list) => {
    const { bench, log } = await played(list)
    const s = (log.at(-1)?.s ?? 20) + 1
    await bench.apply(put('hot', s))
    const gone = ['hot', 'silent'].map((id) => rule('delete', id, '', { acceptedAt: s * S }))
    await bench.apply(...gone)
    await bench.take(bench.turnOf([{ model: 'tick', acceptedAt: s * S }]))
    t.is(
      [...bench.store.heads.values()].reduce((sum, head) => sum + head.openEvents, 0),
      0,
    )
    t.is(bench.store.rules.rows.size, 0)
  }))

test('R6: a rule that fails on every value opens nothing, counts, and stops no other', (t) =>
  check(t, async (list) => {
    const { bench, log } = await played(list)
    const readings = log.filter(({ at }) => at !== undefined).length
    t.deepEqual(saidBy(bench, 'bad'), [])
    t.true((bench.store.rules.failures.get('bad') ?? 0) <= readings)
    t.is(bench.store.rules.failures.has('bad'), readings > 0)
    t.is(bench.store.deadLetters.length, 0)
  }))
