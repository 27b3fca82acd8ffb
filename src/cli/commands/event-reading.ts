// heliograph event: get, list.

import type { EventRecord } from '#src/client/bodies'
import { CHANNEL, credentialsOf } from '#src/cli/access'
import { command, choice, parameter, text } from '#src/cli/command'
import { channelRequest, commandClientOf, given } from '#src/cli/command-client'
import { ENTITY_HEADINGS, PAGING, entityCells, list as listPages } from '#src/cli/paging'

export const get = channelRequest({
  description: 'Shows an Event as it is now.',
  parameters: { eventId: parameter('<event_id>', 'the id of the Event') },
  examples: ['event get 4f0c…'],
  send: ({ client, credentials }, { eventId }) =>
    client.event.get({ ...credentials, event_id: eventId }),
})

export const list = command({
  description: 'Lists the Events of a channel, the newest change first.',
  options: {
    state: choice('<state>', ['open', 'closed'], 'only those in this state'),
    thing: text('<thing_id>', 'only those of this Thing'),
    ...PAGING,
    ...CHANNEL,
  },
  examples: ['event list --state open', 'event list --thing boiler --json'],
  async run(options, context) {
    const { client } = await commandClientOf(options, context)
    const filter = given({ state: options.state, thing_id: options.thing })
    const reader = { ...(await credentialsOf(options, context)), ...filter }
    const listing = {
      page: async (wanted: object) => await client.event.list({ ...reader, ...wanted }),
      headings: ['EVENT', ...ENTITY_HEADINGS],
      cells: (record: EventRecord) => [record.event_id, ...entityCells(record)],
    }
    await listPages(listing, options, context)
  },
})
