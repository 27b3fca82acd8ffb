// Goal: the signals of people and deadlines, one by one, and their limits.

import test from 'ava'

import { REMINDERS_MAX, acknowledgementOf, rankOf } from '#domain/rules/attention'
import type { Event } from '#domain/entity'
import type { Fields } from '#domain/submission'
import { deadlineOf, takeDeadline } from '#machines/reminding'
import { nextEventState } from '#machines/event'
import { decideEvent } from '#test/support/single-decision'
import { acknowledgement, channel, event, opId } from '#test/support/submissions'
import { RULES } from './lifecycle.ts'

const M = 60_000

for (const [phase, signal, next] of [
  ['absent', 'acknowledge', undefined],
  ['absent', 'remind', undefined],
  ['open', 'acknowledge', 'acknowledged'],
  ['open', 'remind', 'open'],
  ['open', 'escalate', 'open'],
  ['open', 'lapse', undefined],
  ['acknowledged', 'create', undefined],
  ['acknowledged', 'update', 'acknowledged'],
  ['acknowledged', 'acknowledge', 'acknowledged'],
  ['acknowledged', 'remind', undefined],
  ['acknowledged', 'escalate', undefined],
  ['acknowledged', 'lapse', 'open'],
  ['acknowledged', 'close', 'closed'],
  ['closed', 'acknowledge', undefined],
  ['closed', 'remind', undefined],
  ['closed', 'escalate', undefined],
] as const) {
  test(`an Event that is ${phase} answers ${signal} with ${next ?? 'a refusal'}`, (t) => {
    t.is(nextEventState(phase, signal), next)
  })
}

/** An open Event with these fields, from minute 1. */
function opened(fields: Fields = {}, more: Partial<Event> = {}): Event {
  const submission = event('create', 'e', { at: M, acceptedAt: M, fields })
  const { event: made } = decideEvent(submission, undefined, RULES)
  if (made === undefined) throw new Error('the Event was refused')
  return { ...made, ...more }
}

const at = (minute: number) => ({ at: minute * M, acceptedAt: minute * M })
const next = { channelId: channel(1), seq: 9, opId: opId('next') }

test('an unknown Event is not acknowledged, and not created', (t) => {
  const decision = decideEvent(acknowledgement('e', at(1)), undefined, RULES)
  t.like(decision, { operation: { errorCode: 'entity_not_found' }, event: undefined })
})

test('a closed Event refuses, and has no deadline', (t) => {
  const open = opened({ remind_every: '1m' })
  const { event: closed } = decideEvent(event('close', 'e', at(2)), open, RULES)
  const decision = decideEvent(acknowledgement('e', at(3)), closed, {
    ...RULES,
    endedLifeMs: 9 * M,
  })
  t.like(decision, { operation: { errorCode: 'event_closed' }, event: undefined })
  t.is(deadlineOf(closed), undefined)
})

test('decide/2: a sender of other Things does not acknowledge', (t) => {
  const open = opened({ thing_id: 'freezer-1' })
  const from = (within: string) =>
    decideEvent({ ...acknowledgement('e', at(2)), within }, open, RULES).operation.errorCode
  t.deepEqual([from('freezer-'), from('boiler-')], [undefined, 'entity_not_found'])
})

test('an acknowledgement is an entry with what was said, and the Event stays open', (t) => {
  const said = { by: 'anna', note: 'on my way', snoozeMs: 5 * M }
  const { entry, event: after } = decideEvent(
    acknowledgement('e', { ...at(2), ...said }),
    opened({ title: 'x' }),
    RULES,
  )
  t.like(entry, { action: 'acknowledge', state: 'open', rev: 2, seq: RULES.headSeq + 1 })
  t.deepEqual(JSON.parse(entry?.payload ?? ''), {
    acknowledged_at: 2 * M,
    acknowledged_by: 'anna',
    snoozed_until: 7 * M,
    note: 'on my way',
    event_time: M,
  })
  t.is(after?.at, M)
  t.is(after && acknowledgementOf(after)?.by, 'anna')
})

test('a sender whose clock is fast snoozes no longer than it says', (t) => {
  const ahead = acknowledgement('e', { at: 90 * M, acceptedAt: 2 * M, snoozeMs: 5 * M })
  const { event: after } = decideEvent(ahead, opened(), RULES)
  t.deepEqual(deadlineOf(after), { signal: 'lapse', at: 7 * M })
})

for (const [severity, ends] of [
  ['high', false],
  ['HIGH ', false],
  ['page everybody', false],
  ['low', false],
  ['critical', true],
] as const) {
  test(`attention/2: an update to "${severity}" ${ends ? 'ends' : 'leaves'} the acknowledgement at high`, (t) => {
    const first = decideEvent(acknowledgement('e', at(2)), opened({ severity: 'high' }), RULES)
    const raise = event('update', 'e', { ...at(3), fields: { severity } })
    const { event: after } = decideEvent(raise, first.event, RULES)
    t.is(after && acknowledgementOf(after) === undefined, ends)
    const old = decideEvent(acknowledgement('e', { ...at(2), acceptedAt: 4 * M }), after, RULES)
    t.is(old.entry, undefined) // attention/1
  })
}

test('a severity that is none ranks as normal', (t) => {
  t.deepEqual(
    ['low', 'normal', 'odd', '', undefined, 'high', 'Critical'].map((one) => rankOf(one)),
    [0, 1, 1, 1, 1, 2, 3],
  )
})

test('reminding/2: an Event has 100 reminders and no more; the end of a snooze adds none', (t) => {
  let open = opened({ remind_every: '1m', title: 'x', severity: 'high' })
  const counts: unknown[] = []
  for (;;) {
    const due = deadlineOf(open)
    if (due === undefined) break
    const met = takeDeadline(open, due, { ...next, acceptedAt: due.at })
    open = met.event
    const { event_time: _, ...said } = JSON.parse(met.entry?.payload ?? '{}') as Fields
    counts.push(said)
  }
  t.deepEqual(
    counts,
    Array.from({ length: REMINDERS_MAX }, (_, index) => ({
      title: 'x',
      severity: 'high',
      reminders: index + 1,
    })),
  )
  const snoozed = decideEvent(acknowledgement('e', { ...at(200), snoozeMs: M }), open, RULES)
  const due = deadlineOf(snoozed.event)
  if (snoozed.event === undefined || due === undefined) return t.fail()
  const { event: after, entry } = takeDeadline(snoozed.event, due, { ...next, acceptedAt: 201 * M })
  t.is(entry, undefined)
  t.is(acknowledgementOf(after), undefined)
  t.is(deadlineOf(after), undefined)
})

test('reminding/3: steps that are due together are one entry, of the last level and the highest severity', (t) => {
  const escalate = [
    { after: '1m', level: 1, severity: 'critical' },
    { after: '2m', level: 4 },
    { after: '3m', level: 9, severity: 'low' },
  ]
  const open = opened({ escalate, title: 'x', severity: 'high' })
  t.deepEqual(deadlineOf(open), { signal: 'escalate', at: 2 * M })
  const due = { signal: 'escalate', at: 2 * M } as const
  const { event: after, entry } = takeDeadline(open, due, { ...next, acceptedAt: 3 * M })
  t.deepEqual(JSON.parse(entry?.payload ?? ''), {
    title: 'x',
    severity: 'critical',
    level: 4,
    event_time: 2 * M,
  })
  t.deepEqual(deadlineOf(after), { signal: 'escalate', at: 4 * M })
  const last = takeDeadline(
    after,
    { signal: 'escalate', at: 4 * M },
    { ...next, acceptedAt: 4 * M },
  )
  t.like(JSON.parse(last.entry?.payload ?? ''), { severity: 'critical', level: 9 })
  t.is(deadlineOf(last.event), undefined)
})

test('null ends reminders and steps; steps that come later count from their entry', (t) => {
  const open = opened({ remind_every: '1m', escalate: [{ after: '2m', level: 1 }] })
  const fields = { remind_every: null, escalate: null }
  const { event: quiet } = decideEvent(event('update', 'e', { ...at(2), fields }), open, RULES)
  t.is(deadlineOf(quiet), undefined)
  const again = event('update', 'e', {
    ...at(5),
    fields: { escalate: [{ after: '9m', level: 1 }] },
  })
  const later = decideEvent(again, opened(), RULES)
  t.deepEqual(deadlineOf(later.event), { signal: 'escalate', at: 14 * M })
})

test('an Event without any of it keeps nothing for it', (t) => {
  const { event: after } = decideEvent(event('update', 'e', at(2)), opened({ title: 'x' }), RULES)
  t.false(after !== undefined && 'attention' in after)
})
