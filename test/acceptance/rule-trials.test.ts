// Goal: trials of rules hold no request up, whatever rule and history are, and end.
// Method: count turns of the loop and steps; the loop turns when the test says so.

import test from 'ava'

import type { FeedEntry } from '#domain/feed'
import { REMINDERS_MAX } from '#domain/rules/attention'
import { isFault } from '#domain/fault'
import type { HistoryQuery } from '#domain/history/ordered-reads'
import type { HistoryPage } from '#domain/store-ports'
import { RuleTrials, TRIALS_MAX } from '#src/acceptance/rules/rule-trials'
import { TRIAL_CHARACTERS_MAX, TRIAL_STEPS_MAX, Trial } from '#src/rules/trial'
import { DEADLINE_STEPS_MAX, READING_STEPS_MAX } from '#src/rules/work'
import { FakeMeter } from '#test/support/fake-telemetry'
import { active } from '#test/support/rules'
import { channel, thing } from '#test/support/submissions'
import { rounds, turn } from '#test/support/until'

const CEL = { cel: 'attrs.l.exists(x, x == 2)' }
const COSTLY = { when: { any: [CEL, CEL, CEL, CEL, CEL] } }

const entry = (seq: number, attrs: object, id = 'a'): FeedEntry => ({
  channelId: channel(1),
  seq,
  opId: thing('update', id).opId,
  model: 'thing',
  action: 'update',
  entityId: thing('update', id).entityId,
  state: 'active',
  rev: seq,
  acceptedAt: seq * 1_000,
  payload: JSON.stringify({ observed_at: seq * 1_000, attrs }),
})

const LIST = Array<number>(1_900).fill(1)

/** Pages without an end, of entries that a rule looks at for long. */
const endless = async ({ afterSeq = 0, limit }: HistoryQuery): Promise<HistoryPage> => ({
  items: Array.from({ length: limit }, (_, index) => entry(afterSeq + index + 1, { l: LIST })),
  next: afterSeq + limit,
  headSeq: Number.MAX_SAFE_INTEGER,
})

function rig(history: (query: HistoryQuery) => Promise<HistoryPage> = endless) {
  const waiting: (() => void)[] = []
  const meter = new FakeMeter()
  const trials = new RuleTrials({
    read: { history },
    nowMs: () => 10 ** 12,
    soon: (task) => void waiting.push(task),
    meter,
  })
  const run = (of = channel(1), members: object = COSTLY) =>
    trials.run(of, { channelId: of, password: '', rule: active(members).rule })
  return { waiting, meter, run }
}

/** Runs what waits for its turn of the loop until a result is there; counts these tasks. */
async function ended<Result>(waiting: (() => void)[], result: Promise<Result>) {
  const answers: Result[] = []
  void result.then((answer) => answers.push(answer))
  let slices = 0
  for (const isWithin = rounds(10_000); isWithin(); slices += 1) {
    await turn()
    const [answer] = answers
    if (answer !== undefined) return { answer, slices }
    waiting.shift()?.()
  }
  throw new Error('it did not end')
}

const codeOf = (answer: unknown): string => (isFault(answer) ? answer.code : 'done')

test('few-at-once/1: one trial of a channel runs, and few in all; each end makes room', async (t) => {
  const { run, meter, waiting } = rig()
  const begun = [run(channel(1))]
  t.is(codeOf(await run(channel(1))), 'rate_limited')
  for (let count = 1; count < TRIALS_MAX; count += 1) begun.push(run(channel(1 + count)))
  t.is(codeOf(await run(channel(99))), 'server_busy')
  const running = meter.gauges.get('rule_trials')
  t.is(running?.(), TRIALS_MAX)
  await ended(waiting, Promise.all(begun))
  t.is(running?.(), 0)
  t.is(codeOf(await rig(async () => ({ items: [], headSeq: 0 })).run()), 'done')
})

test('few-at-once/2: rule-trials/1: a trial lets requests go on after some steps, and gives up in the end', async (t) => {
  const { run, waiting } = rig()
  const { answer, slices } = await ended(waiting, run())
  t.like(answer, { isComplete: false, firings: [] })
  const entries = isFault(answer) ? 0 : answer.entries
  t.true(entries > 500 && entries < 5_000, String(entries))
  t.true(slices >= 200, String(slices))
})

test('a trial shows when an Event would be reminded of and escalated, until it clears', async (t) => {
  const minute = (seq: number, attrs: object): FeedEntry => entry(60 * seq, attrs)
  const items = [minute(1, { t: 31 }), minute(4, { t: 1 }), minute(5, { t: 31 })]
  const { run } = rig(async () => ({ items, headSeq: 0 }))
  const event = { title: 'x', remind_every: '1m', escalate: [{ after: '2m', level: 2 }] }
  const answer = await run(channel(1), { event })
  if (isFault(answer)) return t.fail()
  const [first, last] = answer.firings.map(({ unanswered }) => unanswered)
  t.deepEqual(first?.remindedAt, [120_000, 240_000])
  t.deepEqual(first?.escalated, [{ level: 2, at: 180_000 }])
  t.is(last?.remindedAt.length, REMINDERS_MAX)
  t.is(last?.escalated.length, 1)
})

test('trial/1: no part of a trial takes more than a reading and its entry, or a deadline', (t) => {
  const trial = new Trial(active({ ...COSTLY, for: '1s' }))
  let before = 0
  const longest = { entry: 0, deadline: 0 }
  const through = (parts: Generator<void>, kind: keyof typeof longest): void => {
    for (const _ of parts) {
      longest[kind] = Math.max(longest[kind], trial.steps - before)
      before = trial.steps
    }
  }
  for (let seq = 1; seq < 200; seq += 1) {
    through(trial.take(entry(seq, { l: [...LIST, 2] }, `t${seq}`)), 'deadline')
    longest.entry = Math.max(longest.entry, trial.steps - before)
    before = trial.steps
  }
  through(trial.pass(10 ** 9), 'deadline')
  t.true(longest.entry <= READING_STEPS_MAX + 3_000, String(longest.entry))
  t.true(longest.deadline <= DEADLINE_STEPS_MAX + 100, String(longest.deadline))
  t.true(longest.deadline > 100)
})

test('trial/1: a trial is full with what it may keep of its Things, which counts once', (t) => {
  const text = 'a'.repeat(50_000)
  const trial = new Trial(active({}))
  const take = (seq: number, id: string, attrs: object): void => {
    for (const _ of trial.take(entry(seq, attrs, id)));
  }
  for (let seq = 1; seq < 200; seq += 1) take(seq, 'a', { text: text + String(seq) })
  t.false(trial.isFull)
  const things = Math.ceil(TRIAL_CHARACTERS_MAX / text.length)
  for (let index = 0; index < things; index += 1) take(200 + index, `t${index}`, { text })
  t.true(trial.isFull)
  t.true(trial.steps < TRIAL_STEPS_MAX)
})

const said = (seq: number, payload: object, state: FeedEntry['state'] = 'active'): FeedEntry => ({
  ...entry(seq, {}),
  state,
  payload: JSON.stringify({ observed_at: seq * 1_000 - 200, ...payload }),
})

test('a trial ends what a Thing ends when that was observed, as its rule does', async (t) => {
  const hot = said(1, { attrs: { t: 31 }, tags: ['x'] })
  const rows: readonly (readonly [string, object, FeedEntry])[] = [
    ['archived', {}, said(2, {}, 'archived')],
    ['deleted', {}, said(2, {}, 'deleted')],
    ['without its tag', { things: { tag: 'x' } }, said(2, { tags: [] })],
    ['cleared', {}, said(2, { attrs: { t: 1 } })],
  ]
  for (const [name, members, last] of rows) {
    const { run } = rig(async () => ({ items: [hot, last], headSeq: 2 }))
    t.like(
      await run(channel(1), members),
      { firings: { 0: { firedAt: 800, clearedAt: 1_800 } } },
      name,
    )
  }
})

test('a trial names a Thing without a title by its id, also one that had a title', async (t) => {
  const items = [said(1, { title: 'Boiler' }), said(2, { title: '', attrs: { t: 31 } })]
  const { run } = rig(async () => ({ items, headSeq: 2 }))
  t.like(await run(channel(1), {}), { firings: { 0: { title: 'a: 31' } } })
})

test('R2: a trial takes late data at its own time, and where it changed what the rule reads', async (t) => {
  const late = (attrs: object): FeedEntry => said(2, { set_at: 500, attrs })
  const both = { when: { attr: 't', above: 5 }, clear: { attr: 't', below: 50 } } // Each reading.
  const warm = said(1, { attrs: { t: 10 } })
  type Times = readonly (number | undefined)[]
  const rows: readonly (readonly [string, object, readonly FeedEntry[], readonly Times[]])[] = [
    ['what was missing', {}, [said(1, {}), late({ t: 31 })], [[500, undefined]]],
    ['a value that is read', both, [warm, late({ t: 11 })], [[800, 800]]],
    ['another value', both, [warm, late({ o: 1 })], [[800, undefined]]],
    ['the same value', both, [warm, late({ t: 10 })], [[800, undefined]]],
  ]
  for (const [name, members, items, times] of rows) {
    const { run } = rig(async () => ({ items, headSeq: 2 }))
    const tried = await run(channel(1), members)
    const firings = isFault(tried) ? [] : tried.firings
    t.deepEqual(
      firings.map(({ firedAt, clearedAt }) => [firedAt, clearedAt]),
      times,
      name,
    )
  }
})
