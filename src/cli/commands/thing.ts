// heliograph thing: create, update, archive, delete.

import { CHANNEL, credentialsOf } from '#src/cli/access'
import type { ProcessContext } from '#src/cli/process-context'
import { CIPHERTEXT, ciphertextIn } from '#src/cli/plaintext'
import { commandClientOf, given } from '#src/cli/command-client'
import { readMetadata, readPairs, readTexts, time } from '#src/cli/values'
import { command, parameter, rest, text, texts } from '#src/cli/command'
import type { Given } from '#src/cli/command'

const PATCH = {
  title: text('<title>', 'its title'),
  description: text('<text>', 'its description'),
  tag: texts('<tag>', 'a tag; all together replace the tags'),
  image: texts('<url>', 'an image; all together replace the images'),
  primaryImage: text('<url>', 'the image to show first'),
  locationType: text('<type>', 'the form of the location value'),
  locationValue: text('<location>', 'where it is'),
  externalId: texts('<key=id>', 'its id elsewhere; key=null removes it'),
  metadata: texts('<key=value>', 'a value for machines'),
  ...CIPHERTEXT,
  observedAt: time('the time of these values; now by default'),
  ...CHANNEL,
} as const

const ATTRS = rest('[key=value...]', 'attrs: JSON values or text; key=null removes the key')
const THING_ID = parameter('<thing_id>', 'the id of the Thing')

async function patchOf(
  options: Given<typeof PATCH> & { readonly attrs: readonly string[] },
  context: ProcessContext,
) {
  const { title, description, attrs, metadata, externalId } = options
  const credentials = await credentialsOf(options, context)
  const ciphertext = await ciphertextIn(options, context, credentials.channel_id)
  return {
    ...credentials,
    observed_at: options.observedAt ?? context.nowMs(),
    ...given({ title, description, ciphertext, tags: options.tag, images: options.image }),
    ...given({ primary_image: options.primaryImage, location_type: options.locationType }),
    ...given({ location_value: options.locationValue }),
    ...given({ external_ids: externalId && readTexts(externalId) }),
    ...given({ metadata: metadata && readMetadata(metadata) }),
    ...(attrs.length > 0 && { attrs: readPairs(attrs) }),
  }
}

export const create = command({
  description: 'Creates a Thing and prints the id that the gateway makes for it.',
  parameters: { attrs: ATTRS },
  options: { createdAt: time('when it began'), ...PATCH },
  examples: ["thing create --title 'North sensor' temperature=3.5"],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    const created = given({ created_at: options.createdAt })
    report(await client.thing.create({ ...(await patchOf(options, context)), ...created }))
  },
})

export const update = command({
  description: 'Changes a Thing, or creates it with an id of your own.',
  parameters: { thingId: THING_ID, attrs: ATTRS },
  options: PATCH,
  examples: [
    'thing update sensor-7 temperature=3.5 mode=eco fan=null',
    'thing update sensor-7 temperature=3.1 --observed-at 2026-01-31T06:00:00Z',
  ],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    const patch = await patchOf(options, context)
    report(await client.thing.update({ ...patch, thing_id: options.thingId }))
  },
})

export const archive = command({
  description: 'Sets a Thing aside; an update brings it back.',
  parameters: { thingId: THING_ID, attrs: ATTRS },
  options: PATCH,
  examples: ['thing archive sensor-7'],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    const patch = await patchOf(options, context)
    report(await client.thing.archive({ ...patch, thing_id: options.thingId }))
  },
})

export const remove = command({
  description: 'Deletes a Thing for good.',
  parameters: { thingId: THING_ID, attrs: ATTRS },
  options: { deletedAt: time('when it ended'), ...PATCH },
  examples: ['thing delete sensor-7'],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    const patch = { ...(await patchOf(options, context)), thing_id: options.thingId }
    report(await client.thing.delete({ ...patch, ...given({ deleted_at: options.deletedAt }) }))
  },
})
