// heliograph subscriber: list, remove.

import type { Subscriber } from '#src/client/bodies'
import { dateText } from '#src/cli/terminal-text'
import { HEADER, listWhole } from '#src/cli/paging'
import { provenRequest } from '#src/cli/command-client'
import { parameter } from '#src/cli/command'

export const list = provenRequest({
  description:
    'Lists the devices that are subscribed to a channel, each with the id that removes it.',
  options: HEADER,
  examples: ['subscriber list'],
  send: async ({ client, credentials }) => ({
    items: (await client.channel.subscribers(credentials)).subscribers,
    headings: ['SUBSCRIBER', 'SUBSCRIBED', 'LAST SEEN', 'PLATFORM', 'ROUTE', 'LABEL'],
    cells: (subscriber: Subscriber) => [
      subscriber.subscriber_id,
      dateText(subscriber.subscribed_at),
      subscriber.last_seen_on,
      subscriber.platform,
      subscriber.channel_type,
      subscriber.label ?? '',
    ],
  }),
  show: listWhole,
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
