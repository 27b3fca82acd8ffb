// heliograph event: create, update, close, ack.

import { defined } from '#domain/record'
import type { EventAction } from '#domain/submission'
import { parameter, text } from '#src/cli/command'
import type { Command } from '#src/cli/command'
import { channelRequest, checkIsThere } from '#src/cli/command-client'
import { ATTRS, CIPHERTEXT, patchOf } from '#src/cli/plaintext'
import type { ChangeGiven } from '#src/cli/plaintext'
import type { ProcessContext } from '#src/cli/process-context'
import { optionsOf, time } from '#src/cli/values'
import { EVENT_FIELDS } from '#src/schemas/fields/submission-fields'

const OPTIONS = {
  ...CIPHERTEXT,
  eventTime: time('the time of these values; now by default'),
} as const

const EVENT_ID = parameter('<event_id>', 'the id of the Event')

/** The body of a request, without the id. */
const bodyOf = async <Action extends EventAction>(
  action: Action,
  change: ChangeGiven & { readonly options: { readonly eventTime: number | undefined } },
  context: ProcessContext,
) => ({
  event_time: change.options.eventTime ?? context.nowMs(),
  ...(await patchOf(EVENT_FIELDS, action, change, context)),
})

export const create = channelRequest({
  description: 'Begins an Event and prints the id that the gateway makes for it.',
  parameters: { attrs: ATTRS },
  options: { ...optionsOf(EVENT_FIELDS, 'create'), ...OPTIONS },
  examples: [
    "event create --title 'Pump runs dry' --severity high pressure=0.2",
    "event create --title 'Pump runs dry' --remind-every 10m --escalate 30m:1:critical",
  ],
  isDecidedLater: true,
  send: async ({ client, credentials }, options, context) =>
    client.event.create(await bodyOf('create', { credentials, options }, context)),
})

const change = (
  action: Exclude<EventAction, 'create'>,
  words: Pick<Command, 'description' | 'examples'>,
): Command =>
  channelRequest({
    ...words,
    parameters: { eventId: EVENT_ID, attrs: ATTRS },
    options: { ...optionsOf(EVENT_FIELDS, action), ...OPTIONS },
    isDecidedLater: true,
    send: async ({ client, credentials }, options, context) => {
      const { eventId: event_id } = options
      const patch = await bodyOf(action, { credentials, options }, context)
      if (action === 'close') await checkIsThere(client.event.get({ ...credentials, event_id }))
      return client.event[action]({ ...patch, event_id })
    },
  })

export const update = change('update', {
  description: 'Changes an Event, or creates it with an id of your own.',
  examples: ["event update 4f0c… --message 'Refilling' pressure=0.8"],
})

export const close = change('close', {
  description: 'Ends an Event.',
  examples: ['event close 4f0c… --status solved'],
})

export const ack = channelRequest({
  description: 'Says that somebody has an Event: nobody is reminded of it meanwhile.',
  parameters: { eventId: EVENT_ID },
  options: {
    by: text('<name>', 'who has it; the label of the key by default'),
    note: text('<text>', 'what there is to say'),
    snooze: text('<duration>', 'how long that holds: 1m to 7d; for good by default'),
    eventTime: time('the time of this; now by default'),
  },
  examples: ["event ack 4f0c… --note 'On my way'", 'event ack 4f0c… --snooze 2h'],
  isDecidedLater: true,
  send: ({ client, credentials }, { eventId, eventTime, by, note, snooze }, context) => {
    const said = defined({ by, note, snooze })
    const when = eventTime ?? context.nowMs()
    return client.event.acknowledge({
      ...credentials,
      ...said,
      event_id: eventId,
      event_time: when,
    })
  },
})
