// heliograph event: create, update, close.

import { CHANNEL, credentialsOf } from '#src/cli/access'
import type { ProcessContext } from '#src/cli/process-context'
import { CIPHERTEXT, ciphertextIn } from '#src/cli/plaintext'
import { commandClientOf, given } from '#src/cli/command-client'
import { readMetadata, readPairs, time } from '#src/cli/values'
import { command, parameter, rest, text, texts } from '#src/cli/command'
import type { Given } from '#src/cli/command'

const PATCH = {
  title: text('<title>', 'its title'),
  description: text('<text>', 'its description'),
  status: text('<status>', 'free text'),
  message: text('<text>', 'the present situation'),
  severity: text('<severity>', 'free text; critical, high, normal and low decide the push'),
  thing: text('<thing_id>', 'the Thing that it happens to'),
  tag: texts('<tag>', 'a tag; all together replace the tags'),
  image: texts('<url>', 'an image; all together replace the images'),
  metadata: texts('<key=value>', 'a value for machines'),
  ...CIPHERTEXT,
  eventTime: time('the time of these values; now by default'),
  ...CHANNEL,
} as const

const ATTRS = rest('[key=value...]', 'attrs: JSON values or text; key=null removes the key')
const EVENT_ID = parameter('<event_id>', 'the id of the Event')

async function patchOf(
  options: Given<typeof PATCH> & { readonly attrs: readonly string[] },
  context: ProcessContext,
) {
  const { title, description, status, message, severity, attrs, metadata } = options
  const credentials = await credentialsOf(options, context)
  const ciphertext = await ciphertextIn(options, context, credentials.channel_id)
  return {
    ...credentials,
    event_time: options.eventTime ?? context.nowMs(),
    ...given({ title, description, status, message, severity, ciphertext }),
    ...given({ thing_id: options.thing, tags: options.tag, images: options.image }),
    ...given({ metadata: metadata && readMetadata(metadata) }),
    ...(attrs.length > 0 && { attrs: readPairs(attrs) }),
  }
}

export const create = command({
  description: 'Begins an Event and prints the id that the gateway makes for it.',
  parameters: { attrs: ATTRS },
  options: { startedAt: time('when it began'), ...PATCH },
  examples: ["event create --title 'Pump runs dry' --severity high pressure=0.2"],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    const started = given({ started_at: options.startedAt })
    report(await client.event.create({ ...(await patchOf(options, context)), ...started }))
  },
})

export const update = command({
  description: 'Changes an Event, or creates it with an id of your own.',
  parameters: { eventId: EVENT_ID, attrs: ATTRS },
  options: PATCH,
  examples: ["event update 4f0c… --message 'Refilling' pressure=0.8"],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    const patch = await patchOf(options, context)
    report(await client.event.update({ ...patch, event_id: options.eventId }))
  },
})

export const close = command({
  description: 'Ends an Event.',
  parameters: { eventId: EVENT_ID, attrs: ATTRS },
  options: { endedAt: time('when it ended'), ...PATCH },
  examples: ['event close 4f0c… --status solved'],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    const patch = { ...(await patchOf(options, context)), event_id: options.eventId }
    report(await client.event.close({ ...patch, ...given({ ended_at: options.endedAt }) }))
  },
})
