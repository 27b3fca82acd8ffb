// heliograph subscriber: list, remove.

import type { Subscriber } from '#src/client/bodies'
import { CHANNEL, proofOf } from '#src/cli/access'
import { dateText } from '#src/cli/facts'
import { list as listPages } from '#src/cli/paging'
import { commandClientOf } from '#src/cli/command-client'
import { command, parameter } from '#src/cli/command'

export const list = command({
  description:
    'Lists the devices that are subscribed to a channel, each with the id that removes it.',
  options: CHANNEL,
  examples: ['subscriber list'],
  async run(options, context) {
    const { client } = await commandClientOf(options, context)
    const credentials = await proofOf(options, context)
    const listing = {
      page: async () => ({ items: (await client.channel.subscribers(credentials)).subscribers }),
      headings: ['SUBSCRIBER', 'SUBSCRIBED', 'LAST SEEN', 'PLATFORM', 'ROUTE'],
      cells: (subscriber: Subscriber) => [
        subscriber.subscriber_id,
        dateText(subscriber.subscribed_at),
        subscriber.last_seen_on,
        subscriber.platform,
        subscriber.channel_type,
      ],
    }
    const paging = { limit: undefined, all: true, cursor: undefined, json: options.json }
    await listPages(listing, paging, context)
  },
})

export const remove = command({
  description: 'Ends the subscription of a device to a channel.',
  parameters: {
    id: parameter('<subscriber_id>', 'the id of the device, from `heliograph subscriber list`'),
  },
  options: CHANNEL,
  examples: ['subscriber remove 0b5f0a9c2f4e4d7c8a9b0c1d2e3f4a5b'],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    const credentials = await proofOf(options, context)
    report(await client.channel.removeSubscriber({ ...credentials, subscriber_id: options.id }))
  },
})
