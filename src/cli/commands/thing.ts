// heliograph thing: create, update, archive, delete.

import type { ThingAction } from '#domain/submission'
import { parameter } from '#src/cli/command'
import type { Command } from '#src/cli/command'
import { channelRequest, checkIsThere } from '#src/cli/command-client'
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
  isDecidedLater: true,
  send: async ({ client, credentials }, options, context) =>
    client.thing.create(await bodyOf('create', { credentials, options }, context)),
})

const change = (
  action: Exclude<ThingAction, 'create'>,
  words: Pick<Command, 'description' | 'examples'>,
): Command =>
  channelRequest({
    ...words,
    parameters: { thingId: THING_ID, attrs: ATTRS },
    options: { ...optionsOf(THING_FIELDS, action), ...OPTIONS },
    isDecidedLater: true,
    send: async ({ client, credentials }, options, context) => {
      const { thingId: thing_id } = options
      const patch = await bodyOf(action, { credentials, options }, context)
      if (action !== 'update') await checkIsThere(client.thing.get({ ...credentials, thing_id }))
      return client.thing[action]({ ...patch, thing_id })
    },
  })

export const update = change('update', {
  description: 'Changes a Thing, or creates it with an id of your own.',
  examples: [
    'thing update sensor-7 temperature=3.5 mode=eco fan=null',
    'thing update sensor-7 temperature=3.1 --observed-at 2026-01-31T06:00:00Z',
  ],
})

export const archive = change('archive', {
  description: 'Sets a Thing aside; an update brings it back.',
  examples: ['thing archive sensor-7'],
})

const remove = change('delete', {
  description: 'Deletes a Thing for good.',
  examples: ['thing delete sensor-7'],
})

// The name of a command is a word of the language.
export { remove as delete }
