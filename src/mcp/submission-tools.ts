// Tools that submit: Messages, Events and Things.

import { EVENT_ACTIONS, THING_ACTIONS } from '#domain/submission'
import type { EventAction, ThingAction } from '#domain/submission'
import type { Submissions } from '#src/acceptance/submissions'
import type { Intent } from '#src/acceptance/intent'
import { acceptedToWire } from '#src/schemas/answers'
import { EVENT_ROUTES } from '#src/schemas/event-schemas'
import { MESSAGE_ROUTES } from '#src/schemas/message-schemas'
import { THING_ROUTES } from '#src/schemas/thing-schemas'
import { ADDS, ENDS, SETS, overRoute } from './tool.ts'
import type { Tool } from './tool.ts'

type Words = Pick<Tool, 'title' | 'description' | 'annotations'>

const AFTER = 'Success means durably accepted; operation_status tells how delivery goes.'

const MESSAGE: Words = {
  title: 'Send a Message',
  description:
    'Sends a notification to every device subscribed to a Channel: an alert, or news that work ' +
    `is done. Send an op_id to make a repeat safe. ${AFTER}`,
  annotations: ADDS,
}

const EVENTS: Readonly<Record<EventAction, Words>> = {
  create: {
    title: 'Open an Event',
    description:
      'Opens an Event: a process that goes on for a while and then ends, such as an outage or a ' +
      `deployment. Keep the event_id that this returns for event_update and event_close. ${AFTER}`,
    annotations: ADDS,
  },
  update: {
    title: 'Update an Event',
    description: `Tells how an open Event goes on. Send what changed, nothing else. ${AFTER}`,
    annotations: SETS,
  },
  close: {
    title: 'Close an Event',
    description: `Ends an Event for good; it takes no further update. ${AFTER}`,
    annotations: ENDS,
  },
}

const THINGS: Readonly<Record<ThingAction, Words>> = {
  create: {
    title: 'Create a Thing',
    description:
      'Creates a Thing: a long-lived object with a state, such as a server, a room or a sensor. ' +
      `Keep the thing_id that this returns. ${AFTER}`,
    annotations: ADDS,
  },
  update: {
    title: 'Update a Thing',
    description:
      'Changes the state of a Thing. Send what changed, nothing else; null removes a key of ' +
      `attrs. An archived Thing becomes active again. ${AFTER}`,
    annotations: SETS,
  },
  archive: {
    title: 'Archive a Thing',
    description: `Makes a Thing inactive and keeps its state. ${AFTER}`,
    annotations: SETS,
  },
  delete: {
    title: 'Delete a Thing',
    description: `Deletes a Thing for good; it takes no further update. ${AFTER}`,
    annotations: ENDS,
  },
}

const ROUTES = { ...MESSAGE_ROUTES, ...EVENT_ROUTES, ...THING_ROUTES } as const
type Path = '/message' | `/event/${EventAction}` | `/thing/${ThingAction}`

export function submissionTools(submissions: Submissions): readonly Tool[] {
  const tool = (path: Path, intent: Intent, words: Words): Tool => ({
    name: `${intent.model}_${intent.action}`,
    ...words,
    ...overRoute(
      ROUTES[path],
      (fields, caller) => submissions.submit(intent, fields, caller),
      acceptedToWire,
    ),
  })
  return [
    tool('/message', { model: 'message', action: 'send' }, MESSAGE),
    ...EVENT_ACTIONS.map((action) =>
      tool(`/event/${action}`, { model: 'event', action }, EVENTS[action]),
    ),
    ...THING_ACTIONS.map((action) =>
      tool(`/thing/${action}`, { model: 'thing', action }, THINGS[action]),
    ),
  ]
}
