// Method: one row a line of the table in decisions.md 4.

import type { EventState } from '#domain/entity'
import { decideEvent } from '#test/support/single-decision'
import { nextEventState } from '#machines/event'
import { event } from '#test/support/submissions'
import { RULES, testLifecycle } from './lifecycle.ts'

testLifecycle(
  {
    name: 'an Event',
    next: (state, action) => nextEventState(state, action) as EventState | undefined,
    decide: ({ action, at, title }, kept) =>
      decideEvent(event(action, 'e', { at, fields: { title } }), kept, RULES),
    entityOf: (decision) => decision.event,
    makers: { open: 'create', closed: 'close' },
    refusal: 'event_closed',
    counted: { by: 'openEvents', states: ['open'] },
  },
  [
    ['absent', 'create', 'open'],
    ['absent', 'update', 'open'],
    ['absent', 'close', 'closed'],
    ['open', 'create', 'event_closed'],
    ['open', 'update', 'open'],
    ['open', 'close', 'closed'],
    ['closed', 'create', 'event_closed'],
    ['closed', 'update', 'event_closed'],
    ['closed', 'close', 'event_closed'],
  ],
)
