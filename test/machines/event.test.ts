// Method: the table of decisions.md 4, one row a line, through the lifecycle and through a
// decision.

import test from 'ava'

import type { Event } from '#domain/entity'
import type { EventAction } from '#domain/submission'
import { decideEvent } from '#machines/decide'
import { nextEventState } from '#machines/event'
import { event } from '#test/support/submissions'

const RULES = { headSeq: 7, endedLifeMs: 1_000_000 }

type State = 'absent' | 'open' | 'closed'
const rows: readonly (readonly [state: State, action: EventAction, next: string])[] = [
  ['absent', 'create', 'open'],
  ['absent', 'update', 'open'],
  ['absent', 'close', 'closed'],
  ['open', 'create', 'event_closed'],
  ['open', 'update', 'open'],
  ['open', 'close', 'closed'],
  ['closed', 'create', 'event_closed'],
  ['closed', 'update', 'event_closed'],
  ['closed', 'close', 'event_closed'],
]

/** An Event in a state, as decisions made it. */
function eventThatIs(state: State): Event | undefined {
  if (state === 'absent') return undefined
  const action = state === 'open' ? 'create' : 'close'
  return decideEvent(event(action, 'e', { fields: { title: 'first' } }), undefined, RULES).event
}

const openIn = (state: string): number => (state === 'open' ? 1 : 0)

for (const [state, action, next] of rows) {
  test(`an Event that is ${state} answers ${action} with ${next}`, (t) => {
    const isRefused = next === 'event_closed'
    const reached: string | undefined = nextEventState(state, action)
    t.is(reached, isRefused ? undefined : next)

    const submission = event(action, 'e', { at: 2, fields: { title: 'second' } })
    const decision = decideEvent(submission, eventThatIs(state), RULES)
    if (isRefused) {
      t.is(decision.operation.status, 'failed')
      t.is(decision.operation.errorCode, 'event_closed')
      t.is(decision.entry, undefined)
      t.is(decision.event, undefined)
      t.is(decision.openEvents, 0)
      return
    }
    t.is(decision.operation.status, 'sent')
    t.like(decision.event, { state: next })
    t.is(decision.entry?.state, next)
    t.is(decision.entry?.seq, 8)
    t.is(decision.entry?.rev, state === 'absent' ? 1 : 2)
    t.is(decision.openEvents, openIn(next) - openIn(state))
    t.is(decision.liveThings, 0)
  })
}
