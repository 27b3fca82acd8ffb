// Tools that submit: Messages, Events and Things.

import { EVENT_ACTIONS, THING_ACTIONS } from '#domain/submission'
import type { EventAction, ThingAction } from '#domain/submission'
import type { Submissions } from '#src/acceptance/submissions'
import type { Accepted, Intent } from '#src/acceptance/intent'
import { EVENT_ACKNOWLEDGEMENT, EVENT_CHANGE, MESSAGE, THING_CHANGE } from '#src/schemas/resources'
import { ADDS, ENDS, SETS, overRoute } from './tool.ts'
import type { TakenOver, Tool } from './tool.ts'

type Words = Pick<Tool, 'title' | 'description' | 'annotations'>

const AFTER = 'Success means durably accepted; send_status tells how delivery goes.'

const SEND: Words = {
  title: 'Send a Message',
  description:
    'Sends a notification to every device subscribed to a Channel: an alert, or news that work ' +
    `is done. Send an op_id to make a repeat safe. ${AFTER}`,
  annotations: ADDS,
}

const EVENT: Readonly<Record<EventAction, Words>> = {
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

const ACKNOWLEDGE: Words = {
  title: 'Acknowledge an Event',
  description:
    'Says that somebody has an open Event: its reminders rest, for good or until `snooze` ends. ' +
    `Do this for a person who says so, with their name in \`by\`. ${AFTER}`,
  annotations: SETS,
}

const THING: Readonly<Record<ThingAction, Words>> = {
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

export function submissionTools(submissions: Submissions): readonly Tool[] {
  const tool = (route: TakenOver<Accepted>, intent: Intent, words: Words): Tool => ({
    name: `${intent.model}_${intent.action}`,
    ...words,
    ...overRoute(route, (fields, caller) => submissions.submit(intent, fields, caller)),
  })
  return [
    tool(MESSAGE.send, { model: 'message', action: 'send' }, SEND),
    ...EVENT_ACTIONS.map((action) =>
      tool(EVENT_CHANGE[action], { model: 'event', action }, EVENT[action]),
    ),
    tool(EVENT_ACKNOWLEDGEMENT.acknowledge, { model: 'event', action: 'acknowledge' }, ACKNOWLEDGE),
    ...THING_ACTIONS.map((action) =>
      tool(THING_CHANGE[action], { model: 'thing', action }, THING[action]),
    ),
  ]
}
