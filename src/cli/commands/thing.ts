// heliograph thing: create, update, archive, delete.

import type { ThingAction } from '#domain/submission'
import { CHANNEL } from '#src/cli/access'
import { command, parameter } from '#src/cli/command'
import type { Given } from '#src/cli/command'
import { commandClientOf } from '#src/cli/command-client'
import { ATTRS, CIPHERTEXT, patchOf } from '#src/cli/plaintext'
import type { ProcessContext } from '#src/cli/process-context'
import { optionsOf, time } from '#src/cli/values'
import { THING_FIELDS } from '#src/schemas/fields/submission-fields'

const OPTIONS = {
  ...CIPHERTEXT,
  observedAt: time('the time of these values; now by default'),
  ...CHANNEL,
} as const

const THING_ID = parameter('<thing_id>', 'the id of the Thing')

/** The body of a request, without the id. */
const bodyOf = async <Action extends ThingAction>(
  action: Action,
  options: Given<typeof OPTIONS> & { readonly attrs: readonly string[] },
  context: ProcessContext,
) => ({
  observed_at: options.observedAt ?? context.nowMs(),
  ...(await patchOf(THING_FIELDS, action, options, context)),
})

export const create = command({
  description: 'Creates a Thing and prints the id that the gateway makes for it.',
  parameters: { attrs: ATTRS },
  options: { ...optionsOf(THING_FIELDS, 'create'), ...OPTIONS },
  examples: ["thing create --title 'North sensor' temperature=3.5"],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    report(await client.thing.create(await bodyOf('create', options, context)))
  },
})

export const update = command({
  description: 'Changes a Thing, or creates it with an id of your own.',
  parameters: { thingId: THING_ID, attrs: ATTRS },
  options: { ...optionsOf(THING_FIELDS, 'update'), ...OPTIONS },
  examples: [
    'thing update sensor-7 temperature=3.5 mode=eco fan=null',
    'thing update sensor-7 temperature=3.1 --observed-at 2026-01-31T06:00:00Z',
  ],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    const patch = await bodyOf('update', options, context)
    report(await client.thing.update({ ...patch, thing_id: options.thingId }))
  },
})

export const archive = command({
  description: 'Sets a Thing aside; an update brings it back.',
  parameters: { thingId: THING_ID, attrs: ATTRS },
  options: { ...optionsOf(THING_FIELDS, 'archive'), ...OPTIONS },
  examples: ['thing archive sensor-7'],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    const patch = await bodyOf('archive', options, context)
    report(await client.thing.archive({ ...patch, thing_id: options.thingId }))
  },
})

const remove = command({
  description: 'Deletes a Thing for good.',
  parameters: { thingId: THING_ID, attrs: ATTRS },
  options: { ...optionsOf(THING_FIELDS, 'delete'), ...OPTIONS },
  examples: ['thing delete sensor-7'],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    const patch = await bodyOf('delete', options, context)
    report(await client.thing.delete({ ...patch, thing_id: options.thingId }))
  },
})

// The name of a command is a word of the language.
export { remove as delete }
