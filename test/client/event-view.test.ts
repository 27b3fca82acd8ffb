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
