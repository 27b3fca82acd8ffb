// heliograph thing: create, update, archive, delete.

import type { ThingAction } from '#domain/submission'
import { CHANNEL, credentialsOf } from '#src/cli/access'
import type { ProcessContext } from '#src/cli/process-context'
import { CIPHERTEXT, ciphertextIn } from '#src/cli/plaintext'
import { commandClientOf, given } from '#src/cli/command-client'
import { membersOf, optionsOf, readPairs, time } from '#src/cli/values'
import { command, parameter, rest } from '#src/cli/command'
import type { Given } from '#src/cli/command'
import { THING_FIELDS } from '#src/schemas/fields/submission-fields'

const OPTIONS = {
  ...CIPHERTEXT,
  observedAt: time('the time of these values; now by default'),
  ...CHANNEL,
} as const

const ATTRS = rest('[key=value...]', 'attrs: JSON values or text; key=null removes the key')
const THING_ID = parameter('<thing_id>', 'the id of the Thing')

async function patchOf<Action extends ThingAction>(
  action: Action,
  options: Given<typeof OPTIONS> & { readonly attrs: readonly string[] },
  context: ProcessContext,
) {
  const { attrs } = options
  const credentials = await credentialsOf(options, context)
  const ciphertext = await ciphertextIn(options, context, credentials.channel_id)
  return {
    ...credentials,
    observed_at: options.observedAt ?? context.nowMs(),
    ...membersOf(THING_FIELDS, action, options),
    ...given({ ciphertext }),
    ...(attrs.length > 0 && { attrs: readPairs(attrs) }),
  }
}

export const create = command({
  description: 'Creates a Thing and prints the id that the gateway makes for it.',
  parameters: { attrs: ATTRS },
  options: { ...optionsOf(THING_FIELDS, 'create'), ...OPTIONS },
  examples: ["thing create --title 'North sensor' temperature=3.5"],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    report(await client.thing.create(await patchOf('create', options, context)))
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
    const patch = await patchOf('update', options, context)
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
    const patch = await patchOf('archive', options, context)
    report(await client.thing.archive({ ...patch, thing_id: options.thingId }))
  },
})

export const remove = command({
  description: 'Deletes a Thing for good.',
  parameters: { thingId: THING_ID, attrs: ATTRS },
  options: { ...optionsOf(THING_FIELDS, 'delete'), ...OPTIONS },
  examples: ['thing delete sensor-7'],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    const patch = await patchOf('delete', options, context)
    report(await client.thing.delete({ ...patch, thing_id: options.thingId }))
  },
})
