// heliograph thing: create, update, archive, delete.

import type { ThingAction } from '#domain/submission'
import { parameter } from '#src/cli/command'
import { channelRequest } from '#src/cli/command-client'
import { ATTRS, CIPHERTEXT, patchOf } from '#src/cli/plaintext'
import type { ChangeGiven } from '#src/cli/plaintext'
import type { ProcessContext } from '#src/cli/process-context'
import { optionsOf, time } from '#src/cli/values'
import { THING_FIELDS } from '#src/schemas/fields/submission-fields'

const OPTIONS = {
  ...CIPHERTEXT,
  observedAt: time('the time of these values; now by default'),
} as const

const THING_ID = parameter('<thing_id>', 'the id of the Thing')

/** The body of a request, without the id. */
const bodyOf = async <Action extends ThingAction>(
  action: Action,
  change: ChangeGiven & { readonly options: { readonly observedAt: number | undefined } },
  context: ProcessContext,
) => ({
  observed_at: change.options.observedAt ?? context.nowMs(),
  ...(await patchOf(THING_FIELDS, action, change, context)),
})

export const create = channelRequest({
  description: 'Creates a Thing and prints the id that the gateway makes for it.',
  parameters: { attrs: ATTRS },
  options: { ...optionsOf(THING_FIELDS, 'create'), ...OPTIONS },
  examples: ["thing create --title 'North sensor' temperature=3.5"],
  send: async ({ client, credentials }, options, context) =>
    client.thing.create(await bodyOf('create', { credentials, options }, context)),
})

export const update = channelRequest({
  description: 'Changes a Thing, or creates it with an id of your own.',
  parameters: { thingId: THING_ID, attrs: ATTRS },
  options: { ...optionsOf(THING_FIELDS, 'update'), ...OPTIONS },
  examples: [
    'thing update sensor-7 temperature=3.5 mode=eco fan=null',
    'thing update sensor-7 temperature=3.1 --observed-at 2026-01-31T06:00:00Z',
  ],
  send: async ({ client, credentials }, options, context) => {
    const patch = await bodyOf('update', { credentials, options }, context)
    return client.thing.update({ ...patch, thing_id: options.thingId })
  },
})

export const archive = channelRequest({
  description: 'Sets a Thing aside; an update brings it back.',
  parameters: { thingId: THING_ID, attrs: ATTRS },
  options: { ...optionsOf(THING_FIELDS, 'archive'), ...OPTIONS },
  examples: ['thing archive sensor-7'],
  send: async ({ client, credentials }, options, context) => {
    const patch = await bodyOf('archive', { credentials, options }, context)
    return client.thing.archive({ ...patch, thing_id: options.thingId })
  },
})

const remove = channelRequest({
  description: 'Deletes a Thing for good.',
  parameters: { thingId: THING_ID, attrs: ATTRS },
  options: { ...optionsOf(THING_FIELDS, 'delete'), ...OPTIONS },
  examples: ['thing delete sensor-7'],
  send: async ({ client, credentials }, options, context) => {
    const patch = await bodyOf('delete', { credentials, options }, context)
    return client.thing.delete({ ...patch, thing_id: options.thingId })
  },
})

// The name of a command is a word of the language.
export { remove as delete }
