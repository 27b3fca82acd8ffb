// The lifecycle of an Event. (decisions.md 4)

import { createMachine } from 'xstate'

import type { EventState } from '#domain/entity'
import type { EventAction } from '#domain/submission'
import { tableOf } from './table.ts'

export const eventMachine = createMachine({
  id: 'event',
  initial: 'absent',
  states: {
    // An update or close of an unknown id creates the Event: its sender may know it from elsewhere.
    absent: { on: { create: 'open', update: 'open', close: 'closed' } },
    open: { on: { update: 'open', close: 'closed' } },
    closed: {},
  },
})

const table = tableOf(eventMachine)

/**
 * The state after an action; undefined when the lifecycle refuses it. `absent` stands for no Event.
 */
export function nextEventState(
  state: EventState | 'absent',
  action: EventAction,
): EventState | undefined {
  return table.get(state)?.get(action) as EventState | undefined
}
