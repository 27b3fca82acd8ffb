import test from 'ava'

import { eventFrom, foldEvent } from '#src/client/view'
import type { ThingChange } from '#src/client/view'

const change = (seq: number, payload: ThingChange['payload'], state = 'open'): ThingChange => ({
  seq,
  action: 'update',
  entityId: 'e' as never,
  state,
  rev: seq,
  payload,
})

test('an Event is what its entries made of it, and a repeated entry changes nothing', (t) => {
  const created = foldEvent(undefined, change(1, { title: 'Door open', attrs: { count: 1 } }))
  const updated = foldEvent(created, change(2, { message: 'still', attrs: { count: null, a: 2 } }))
  t.deepEqual({ ...updated.fields }, { title: 'Door open', message: 'still' })
  t.deepEqual({ ...updated.attrs }, { a: 2 })
  t.is(foldEvent(updated, change(2, { title: 'again' })), updated)
  const closed = foldEvent(updated, change(3, { message: '' }, 'closed'))
  t.is(closed.state, 'closed')
  t.is(closed.fields['message'], '')
})

test('an Event of a read is the same as one of its entries', (t) => {
  const record = {
    event_id: 'e',
    state: 'open',
    rev: 1,
    seq: 1,
    changed_at: 5,
    event_time: 4,
    title: 'Door open',
    attrs: { count: 1 },
  } as const
  const folded = foldEvent(
    undefined,
    change(1, { event_time: 4, title: 'Door open', attrs: { count: 1 } }),
  )
  t.deepEqual(eventFrom(record), folded)
})

const FOLDED: readonly (readonly [entries: readonly Folded[], holder: unknown])[] = [
  [['acknowledge'], 'anna'],
  [['acknowledge', { message: 'still' }], 'anna'],
  [['acknowledge', 'remind'], undefined],
  [['acknowledge', 'escalate'], undefined],
  [['acknowledge', 'close'], undefined],
  [['acknowledge', { severity: 'high' }], undefined],
  [['acknowledge', { severity: 'low' }, { severity: 'normal' }], 'anna'],
  [['acknowledge', { severity: 'low' }, { severity: 'critical' }], undefined],
]
type Folded = 'acknowledge' | 'remind' | 'escalate' | 'close' | ThingChange['payload']

for (const [entries, holder] of FOLDED) {
  test(`view/6: after ${JSON.stringify(entries)} ${holder === undefined ? 'nobody' : 'anna'} has the Event`, (t) => {
    const opened = foldEvent(undefined, change(1, { title: 'Door open' }))
    const event = entries.reduce((before, entry, at) => {
      if (typeof entry === 'object') return foldEvent(before, change(at + 2, entry))
      const said = entry === 'acknowledge' && { acknowledged_at: 5, acknowledged_by: 'anna' }
      return foldEvent(before, { ...change(at + 2, { ...said }), action: entry })
    }, opened)
    t.is(event.fields['acknowledged_by'], holder as never)
  })
}

test('view/6: an acknowledgement takes the place of the one before, with its snooze and its note', (t) => {
  const said = (seq: number, payload: ThingChange['payload']): ThingChange => ({
    ...change(seq, payload),
    action: 'acknowledge',
  })
  const opened = foldEvent(undefined, change(1, { title: 'Door open' }))
  const snoozed = foldEvent(
    opened,
    said(2, { acknowledged_at: 5, acknowledged_by: 'anna', snoozed_until: 9, note: 'soon' }),
  )
  const taken = foldEvent(snoozed, said(3, { acknowledged_at: 6 }))
  t.deepEqual({ ...taken.fields }, { title: 'Door open', acknowledged_at: 6 })
})
