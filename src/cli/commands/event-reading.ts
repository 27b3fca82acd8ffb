// heliograph event: get, list.

import { defined } from '#domain/record'
import type { EventRecord, PageBody } from '#src/client/bodies'
import { choice, parameter, text } from '#src/cli/command'
import { channelRequest } from '#src/cli/command-client'
import { ENTITY_HEADINGS, LISTED, entityCells, list as listPages } from '#src/cli/paging'

export const get = channelRequest({
  description: 'Shows an Event as it is now.',
  parameters: { eventId: parameter('<event_id>', 'the id of the Event') },
  examples: ['event get 4f0c…'],
  send: ({ client, credentials }, { eventId }) =>
    client.event.get({ ...credentials, event_id: eventId }),
})

export const list = channelRequest({
  description: 'Lists the Events of a channel, the newest change first.',
  options: {
    state: choice('<state>', ['open', 'closed'], 'only those in this state'),
    thing: text('<thing_id>', 'only those of this Thing'),
    acknowledged: choice('<true|false>', ['true', 'false'], 'only those that somebody has, or not'),
    ...LISTED,
  },
  examples: ['event list --state open --acknowledged false', 'event list --thing boiler --json'],
  send: ({ client, credentials }, { state, thing: thing_id, acknowledged: word }) => ({
    page: (wanted: PageBody) => {
      const acknowledged = word === undefined ? undefined : word === 'true'
      const filter = defined({ state, thing_id, acknowledged })
      return client.event.list({ ...credentials, ...filter, ...wanted })
    },
    headings: ['EVENT', ...ENTITY_HEADINGS],
    cells: (record: EventRecord) => [record.event_id, ...entityCells(record)],
  }),
  show: listPages,
})
