// heliograph receipts: shows who got an entry.

import type { DataOf } from '#src/client/bodies'
import { parameter } from '#src/cli/command'
import { channelRequest } from '#src/cli/command-client'
import { HEADER, listWhole } from '#src/cli/paging'

type Receipt = DataOf<'/delivery/receipts'>['subscribers'][number]

export const receipts = channelRequest({
  description:
    'Shows how far an entry is on its way to each device of the channel: acknowledged, pushed, ' +
    'waiting, failed, filtered by its preferences, or subscribed later.',
  parameters: { opId: parameter('<op_id>', 'the op_id from the answer to the submission') },
  options: HEADER,
  examples: ['receipts 0019a9fcb6b29-9d2a'],
  send: async ({ client, credentials }, { opId }) => ({
    items: (await client.delivery.receipts({ ...credentials, op_id: opId })).subscribers,
    headings: ['SUBSCRIBER', 'STATE', 'PLATFORM', 'ROUTE', 'LABEL'],
    cells: ({ subscriber_id: id, state, platform, channel_type: route, label = '' }: Receipt) => [
      id,
      state,
      platform,
      route,
      label,
    ],
  }),
  show: listWhole,
})
