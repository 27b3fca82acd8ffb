// heliograph event: create, update, close.

import type { EventAction } from '#domain/submission'
import { CHANNEL } from '#src/cli/access'
import { command, parameter } from '#src/cli/command'
import type { Given } from '#src/cli/command'
import { commandClientOf } from '#src/cli/command-client'
import { ATTRS, CIPHERTEXT, patchOf } from '#src/cli/plaintext'
import type { ProcessContext } from '#src/cli/process-context'
import { optionsOf, time } from '#src/cli/values'
import { EVENT_FIELDS } from '#src/schemas/fields/submission-fields'

const OPTIONS = {
  ...CIPHERTEXT,
  eventTime: time('the time of these values; now by default'),
  ...CHANNEL,
} as const

const EVENT_ID = parameter('<event_id>', 'the id of the Event')

/** The body of a request, without the id. */
const bodyOf = async <Action extends EventAction>(
  action: Action,
  options: Given<typeof OPTIONS> & { readonly attrs: readonly string[] },
  context: ProcessContext,
) => ({
  event_time: options.eventTime ?? context.nowMs(),
  ...(await patchOf(EVENT_FIELDS, action, options, context)),
})

export const create = command({
  description: 'Begins an Event and prints the id that the gateway makes for it.',
  parameters: { attrs: ATTRS },
  options: { ...optionsOf(EVENT_FIELDS, 'create'), ...OPTIONS },
  examples: ["event create --title 'Pump runs dry' --severity high pressure=0.2"],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    report(await client.event.create(await bodyOf('create', options, context)))
  },
})

export const update = command({
  description: 'Changes an Event, or creates it with an id of your own.',
  parameters: { eventId: EVENT_ID, attrs: ATTRS },
  options: { ...optionsOf(EVENT_FIELDS, 'update'), ...OPTIONS },
  examples: ["event update 4f0c… --message 'Refilling' pressure=0.8"],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    const patch = await bodyOf('update', options, context)
    report(await client.event.update({ ...patch, event_id: options.eventId }))
  },
})

export const close = command({
  description: 'Ends an Event.',
  parameters: { eventId: EVENT_ID, attrs: ATTRS },
  options: { ...optionsOf(EVENT_FIELDS, 'close'), ...OPTIONS },
  examples: ['event close 4f0c… --status solved'],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    const patch = await bodyOf('close', options, context)
    report(await client.event.close({ ...patch, event_id: options.eventId }))
  },
})
