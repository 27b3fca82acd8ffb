// The lifecycle of an Event. (decisions.md 4; Specification: People in the loop)

import { createMachine } from 'xstate'

import { acknowledgementOf } from '#domain/rules/attention'
import type { Event, EventState } from '#domain/entity'
import type { EventSubmission } from '#domain/submission'
import { tableOf } from './table.ts'

export const eventMachine = createMachine({
  id: 'event',
  initial: 'absent',
  states: {
    // An update or close of an unknown id creates the Event: its sender may know it from elsewhere.
    absent: { on: { create: 'open', update: 'open', close: 'closed' } },
    open: {
      on: {
        update: 'open',
        close: 'closed',
        acknowledge: 'acknowledged',
        remind: 'open',
        escalate: 'open',
      },
    },
    // It is open for its readers, and nobody is reminded.
    acknowledged: {
      on: { update: 'acknowledged', close: 'closed', acknowledge: 'acknowledged', lapse: 'open' },
    },
    closed: {},
  },
})

const table = tableOf(eventMachine)

/**
 * The signals of an Event: an action of a submission, or one of its deadlines. `lapse` ends the
 * acknowledgement, by its time or because the severity has risen above the acknowledged one.
 */
export type EventSignal = EventSubmission['action'] | 'remind' | 'escalate' | 'lapse'

/** The states of the lifecycle; `absent` stands for no Event. */
export type EventPhase = EventState | 'acknowledged' | 'absent'

/** The state after a signal; undefined when the lifecycle refuses it. */
export function nextEventState(phase: EventPhase, signal: EventSignal): EventPhase | undefined {
  return table.get(phase)?.get(signal) as EventPhase | undefined
}

/** The state of the lifecycle in which an Event is. */
export function phaseOf(event: Event | undefined): EventPhase {
  if (event === undefined) return 'absent'
  return acknowledgementOf(event) === undefined ? event.state : 'acknowledged'
}
