// heliograph event: create, update, close.

import type { EventAction } from '#domain/submission'
import { parameter } from '#src/cli/command'
import { channelRequest } from '#src/cli/command-client'
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
  examples: ["event create --title 'Pump runs dry' --severity high pressure=0.2"],
  send: async ({ client, credentials }, options, context) =>
    client.event.create(await bodyOf('create', { credentials, options }, context)),
})

export const update = channelRequest({
  description: 'Changes an Event, or creates it with an id of your own.',
  parameters: { eventId: EVENT_ID, attrs: ATTRS },
  options: { ...optionsOf(EVENT_FIELDS, 'update'), ...OPTIONS },
  examples: ["event update 4f0c… --message 'Refilling' pressure=0.8"],
  send: async ({ client, credentials }, options, context) => {
    const patch = await bodyOf('update', { credentials, options }, context)
    return client.event.update({ ...patch, event_id: options.eventId })
  },
})

export const close = channelRequest({
  description: 'Ends an Event.',
  parameters: { eventId: EVENT_ID, attrs: ATTRS },
  options: { ...optionsOf(EVENT_FIELDS, 'close'), ...OPTIONS },
  examples: ['event close 4f0c… --status solved'],
  send: async ({ client, credentials }, options, context) => {
    const patch = await bodyOf('close', { credentials, options }, context)
    return client.event.close({ ...patch, event_id: options.eventId })
  },
})
