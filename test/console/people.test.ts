// The pure parts of people in the loop: who has an Event, snoozes, groups of Events, preferences.

import test from 'ava'

import { acknowledgementOf, snoozeText, takeOpen } from '#console/people/acknowledge.ts'
import { groupsByDay, groupsByRule, isWanted, median, tabOf } from '#console/people/events.ts'
import type { EventWish } from '#console/people/events.ts'
import { preferencesForm, preferencesFrom } from '#console/people/preferences.ts'
import type { Preferences } from '#console/people/preferences.ts'
import { readPreferences } from '#src/schemas/people/preferences'
import type { EventView } from '#src/client/view'
import type { Fields } from '#domain/submission'

const event = (id: string, fields: Fields, more: Partial<EventView> = {}): EventView => ({
  id,
  state: 'open',
  rev: 1,
  seq: 1,
  fields,
  attrs: {},
  ...more,
})

test('an Event is held as long as its snooze lasts, and while it is open', (t) => {
  const held = { acknowledged_at: 5, acknowledged_by: 'anna' }
  t.deepEqual(acknowledgementOf(event('a', held), 10), { at: 5, by: 'anna' })
  const snoozed = event('a', { ...held, snoozed_until: 10 })
  t.deepEqual(acknowledgementOf(snoozed, 9), { at: 5, by: 'anna', until: 10 })
  t.is(acknowledgementOf(snoozed, 10), undefined)
  t.is(acknowledgementOf(event('a', held, { state: 'closed' }), 10), undefined)
  t.deepEqual(
    [snoozed, event('b', {}), event('c', held, { state: 'closed' })].map((one) => tabOf(one, 9)),
    ['acknowledged', 'open', 'closed'],
  )
})

const NOON = new Date(2026, 2, 5, 12, 0, 30).getTime()
const SNOOZES: readonly (readonly [...args: Parameters<typeof snoozeText>, text: unknown])[] = [
  ['1h', '', NOON, '1h'],
  ['good', '', NOON, ''],
  ['morning', '', NOON, '1200m'],
  ['own', ' 45m ', NOON, '45m'],
  ['own', '7d', NOON, '7d'],
  ['own', '8d', NOON, undefined],
  ['own', '59s', NOON, undefined],
  ['own', 'soon', NOON, undefined],
]

test('a snooze is a duration of one minute to seven days, or ends tomorrow at eight', (t) => {
  for (const [snooze, own, present, text] of SNOOZES)
    t.is(snoozeText(snooze, own, present), text as string | undefined)
})

test('a snooze of a group is one of each Event that is open, a hundred at once', async (t) => {
  const taken: string[] = []
  const take = (id: string): Promise<void> => {
    taken.push(id)
    return Promise.resolve()
  }
  const closed = event('over', {}, { state: 'closed' })
  await takeOpen([event('a', {}), closed, event('b', { acknowledged_at: 5 })], take)
  t.deepEqual(taken.splice(0), ['a', 'b'])
  await takeOpen(
    Array.from({ length: 130 }, (_, at) => event(`door-${at}`, {})),
    take,
  )
  t.is(taken.length, 100)
  const failing = takeOpen([event('a', {})], () => Promise.reject(new Error('closed already')))
  await t.throwsAsync(failing, { message: 'closed already' }, 'the person reads why')
})

const WANTED: readonly (readonly [wish: Partial<EventWish>, isWanted: boolean])[] = [
  [{}, true],
  [{ search: 'DOOR cellar' }, true],
  [{ search: 'door kitchen' }, false],
  [{ severity: 'normal' }, true],
  [{ severity: 'high' }, false],
  [{ rule: 'doors' }, true],
  [{ rule: 'pumps' }, false],
  [{ tag: 'cellar' }, true],
  [{ tag: 'cell' }, false],
]

test('an Event is found by its words, its severity, its rule and its tags', (t) => {
  const door = event('a', { title: 'Door', tags: ['cellar'] }, { attrs: { rule_id: 'doors' } })
  for (const [wish, expected] of WANTED) {
    const whole = { search: '', severity: '', rule: '', tag: '', ...wish }
    t.is(isWanted(door, whole), expected, JSON.stringify(wish))
  }
})

test('Events are grouped by rule, the gravest first, and what is over by day', (t) => {
  const of = (id: string, rule: string, severity: string, day: number): EventView =>
    event(
      id,
      { severity, ended_at: new Date(2026, 2, day, 8).getTime() },
      { attrs: { rule_id: rule }, seq: Number(id) },
    )
  const events = [
    of('1', 'doors', 'low', 4),
    of('2', 'pumps', 'high', 5),
    of('3', 'doors', 'low', 5),
    of('4', 'pumps', 'critical', 5),
  ]
  const ids = (groups: ReturnType<typeof groupsByRule>): unknown =>
    groups.map((group) => [group.ruleId, group.events.map(({ id }) => id).join()])
  t.deepEqual(ids(groupsByRule(events)), [
    ['pumps', '4,2'],
    ['doors', '3,1'],
  ])
  t.deepEqual(ids(groupsByDay(events)), [
    ['pumps', '4,2'],
    ['doors', '3'],
    ['doors', '1'],
  ])
  t.deepEqual([median([5, 1, 3]), median([4, 2]), median([])], [3, 2, undefined])
})

const PREFERENCES: readonly Preferences[] = [
  {},
  { min_severity: 'high', level: 2, models: ['event'] },
  { things: { ids: ['a', 'b'] } },
  {
    things: { prefix: 'door-' },
    quiet: [
      { from: '22:00', to: '07:00', time_zone: 'Europe/Berlin', unless: 'critical' },
      { days: ['sat', 'sun'], from: '00:00', to: '00:00', time_zone: 'UTC' },
    ],
  },
]

test('the form of preferences gives back what it was made of, which the gateway takes', (t) => {
  for (const preferences of PREFERENCES) {
    const sent = preferencesFrom(preferencesForm(preferences))
    t.deepEqual(sent, preferences)
    t.deepEqual(readPreferences(sent, 'notify'), preferences as never)
  }
})
