// heliograph subscriber: list, remove.

import { CHANNEL, proofOf } from '#src/cli/access'
import { dateText } from '#src/cli/facts'
import { listWhole } from '#src/cli/paging'
import { commandClientOf, provenRequest } from '#src/cli/command-client'
import { command, parameter } from '#src/cli/command'

export const list = command({
  description:
    'Lists the devices that are subscribed to a channel, each with the id that removes it.',
  options: CHANNEL,
  examples: ['subscriber list'],
  async run(options, context) {
    const { client } = await commandClientOf(options, context)
    const { subscribers: items } = await client.channel.subscribers(await proofOf(options, context))
    const listing = {
      items,
      headings: ['SUBSCRIBER', 'SUBSCRIBED', 'LAST SEEN', 'PLATFORM', 'ROUTE'],
      cells: (subscriber: (typeof items)[number]) => [
        subscriber.subscriber_id,
        dateText(subscriber.subscribed_at),
        subscriber.last_seen_on,
        subscriber.platform,
        subscriber.channel_type,
      ],
    }
    await listWhole(listing, options, context)
  },
})

export const remove = provenRequest({
  description: 'Ends the subscription of a device to a channel.',
  parameters: {
    id: parameter('<subscriber_id>', 'the id of the device, from `heliograph subscriber list`'),
  },
  examples: ['subscriber remove 0b5f0a9c2f4e4d7c8a9b0c1d2e3f4a5b'],
  send: ({ client, credentials }, { id }) =>
    client.channel.removeSubscriber({ ...credentials, subscriber_id: id }),
})
