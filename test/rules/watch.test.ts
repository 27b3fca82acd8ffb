// Goal: one rule and one Thing: readings and times give the actions that the specification says, at
// the times at which they were due.

import test from 'ava'

import { onReading, onTime } from '#src/rules/watch'
import { active, facts, play, reading, tick } from '#test/support/rules'
import type { Moment } from '#test/support/rules'

const S = 1_000

const LEVELS = [{ when: { attr: 't', above: 50 }, severity: 'high' }]

// [what is shown, rule, moments, actions]
const STORIES: readonly (readonly [string, object, readonly Moment[], readonly string[]])[] = [
  [
    'a reading fires, the opposite clears',
    {},
    [reading(1, 31), reading(2, 32), reading(3, 30)],
    ['open 1 normal since 1', 'close 3'],
  ],
  [
    'a clear of its own gives hysteresis',
    { clear: { attr: 't', below: 20 } },
    [reading(1, 31), reading(2, 25), reading(3, 31), reading(4, 19), reading(5, 25)],
    ['open 1 normal since 1', 'close 4'],
  ],
  [
    'R3: `for` ends without a reading',
    { for: '10s' },
    [reading(1, 31), tick(10), tick(11), tick(12)],
    ['open 11 normal since 1'],
  ],
  [
    'R3: `for` begins with the first reading',
    { for: '10s' },
    [reading(1, 31), reading(9, 32), tick(11)],
    ['open 11 normal since 1'],
  ],
  [
    'R3: a reading that does not hold begins it anew',
    { for: '10s' },
    [reading(1, 31), reading(5, 30), reading(6, 31), tick(15), tick(16)],
    ['open 16 normal since 6'],
  ],
  [
    'R3, rule-watch/1: a late tick counts at the time that was due',
    { for: '10s' },
    [reading(1, 31), tick(7_200)],
    ['open 11 normal since 1'],
  ],
  [
    'R3: a reading observed behind the end fires first',
    { for: '10s' },
    [reading(1, 31), reading(20, 30)],
    ['open 11 normal since 1', 'close 20'],
  ],
  [
    'R3: a late reading observed before the end tells against it',
    { for: '10s' },
    [reading(1, 31), reading(5, 30, 60), tick(70)],
    [],
  ],
  [
    'R3: a clock of a device that is ahead ends nothing',
    { for: '10s' },
    [reading(1, 31), reading(60, 31, -57), tick(4)],
    [],
  ],
  [
    'R3: `for` begins by the clock of the lane where that of the device is ahead',
    { for: '10s', clear_for: '10s' },
    [reading(100, 31, -99), tick(10), tick(11), reading(120, 30, -100), tick(29), tick(30)],
    ['open 11 normal since 1', 'close 30'],
  ],
  [
    'clear_for waits, and a relapse ends it',
    { clear_for: '10s' },
    [reading(1, 31), reading(2, 30), reading(5, 31), reading(6, 30), tick(15), tick(16)],
    ['open 1 normal since 1', 'close 16'],
  ],
  [
    'R2: late data neither fires nor clears',
    { for: '1s' },
    [reading(10, 20), reading(1, 31, 60), tick(99)],
    [],
  ],
  [
    'R2: late data does not clear',
    {},
    [reading(10, 31), reading(1, 20, 60)],
    ['open 10 normal since 10'],
  ],
  [
    'R6: a value of the wrong type does not hold',
    { for: '10s' },
    [reading(1, 31), reading(2, 'x'), tick(20)],
    [],
  ],
  [
    'R6: a value of the wrong type clears nothing',
    {},
    [reading(1, 31), reading(2, 'x')],
    ['open 1 normal since 1'],
  ],
  [
    'levels escalate and calm down',
    { event: { title: 'x', severity: 'low', levels: LEVELS } },
    [reading(1, 31), reading(2, 51), reading(3, 52), reading(4, 49), reading(5, 1)],
    ['open 1 low since 1', 'update 2 high since 1', 'update 4 low since 1', 'close 5'],
  ],
  [
    'update_every bounds updates',
    { event: { title: 'x', update_every: '10s' } },
    [reading(1, 31), reading(9, 32), reading(11, 33), reading(12, 34), reading(30, 35)],
    ['open 1 normal since 1', 'update 11 normal since 1', 'update 30 normal since 1'],
  ],
  [
    'a Message is sent once a firing',
    { event: undefined, message: { title: 'x' } },
    [reading(1, 31), reading(2, 32), reading(3, 1), reading(4, 31)],
    ['send 1 since 1', 'send 4 since 4'],
  ],
  [
    'at_most_every bounds Messages',
    { event: undefined, message: { title: 'x', at_most_every: '10s' } },
    [reading(1, 31), reading(2, 1), reading(3, 31), reading(4, 1), reading(11, 31)],
    ['send 1 since 1', 'send 11 since 11'],
  ],
  [
    'R4: silence fires, the next reading clears',
    { when: { silent: '10s' } },
    [reading(1, 1), tick(11), tick(30), reading(40, 1), tick(49), tick(50)],
    ['open 11 normal since 11', 'close 40', 'open 50 normal since 50'],
  ],
  [
    'R4: an update of whatever kind breaks the silence',
    { when: { silent: '10s' } },
    [reading(1, 1), reading(5, 1), tick(11), tick(14), tick(15)],
    ['open 15 normal since 15'],
  ],
  [
    'R4: late data breaks it, too',
    { when: { silent: '10s' } },
    [reading(10, 1), tick(20), reading(1, 1, 30)],
    ['open 20 normal since 20', 'close 1'],
  ],
  [
    'silence escalates without a reading',
    {
      when: { silent: '10s' },
      event: { title: 'x', levels: [{ when: { silent: '60s' }, severity: 'critical' }] },
    },
    [reading(0, 1), tick(10), tick(59), tick(60)],
    ['open 10 normal since 10', 'update 60 critical since 10'],
  ],
  [
    'silence with `for` counts both',
    { when: { silent: '10s' }, for: '5s' },
    [reading(0, 1), tick(100)],
    ['open 15 normal since 10'],
  ],
  [
    'a condition may ask for silence and values',
    { when: { all: [{ silent: '10s' }, { attr: 't', above: 30 }] } },
    [reading(0, 31), tick(10), reading(20, 31)],
    ['open 10 normal since 10', 'close 20'],
  ],
  [
    'a silence that ends during `for` is seen',
    { when: { not: { silent: '4s' } }, for: '5s' },
    [reading(0, 1), tick(9)],
    [],
  ],
]

for (const [title, members, moments, actions] of STORIES) {
  test(title, (t) => t.deepEqual(play(members, moments), actions))
}

test('R4: an update moves no deadline of silence', (t) => {
  const rule = active({ when: { silent: '10s' } })
  const at = (s: number) => facts({}, { heardAt: s * S, nowMs: s * S })
  const first = onReading(rule, undefined, {
    at: 0,
    before: undefined,
    after: at(0),
    isEvidence: true,
  })
  t.is(first.watch?.due, 10 * S)
  const second = onReading(rule, first.watch, {
    at: S,
    before: at(0),
    after: at(1),
    isEvidence: true,
  })
  t.is(second.watch, first.watch)
  const moved = onTime(rule, second.watch, facts({}, { heardAt: S, nowMs: 10 * S }))
  t.is(moved.watch?.due, 11 * S)
})

test('R2: late data does not make a value count that is older than the rule', (t) => {
  const after = facts({ t: 31 }, { nowMs: 60 * S })
  const late = { at: S, before: after, after }
  const step = onReading(active(), undefined, { ...late, isEvidence: false })
  t.deepEqual(step, { watch: undefined, actions: [] })
  t.is(onReading(active(), undefined, { ...late, isEvidence: true }).actions.length, 1)
})

test('R5: a rule that sends Messages closes the Event that it opened in another form', (t) => {
  const [hot, cold] = [facts({ t: 31 }, { nowMs: S }), facts({ t: 1 }, { nowMs: 2 * S })]
  const opened = onReading(active(), undefined, {
    at: S,
    before: undefined,
    after: hot,
    isEvidence: true,
  })
  const kept = opened.watch && { ...opened.watch, eventId: 'e' }
  const sending = active({ event: undefined, message: { title: 'x' } })
  const ended = onReading(sending, kept, { at: 2 * S, before: hot, after: cold, isEvidence: true })
  t.deepEqual(ended, { watch: undefined, actions: [{ kind: 'close', at: 2 * S }] })
})
