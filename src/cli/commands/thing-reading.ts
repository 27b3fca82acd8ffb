// heliograph thing: get, list.

import { defined } from '#domain/record'
import type { PageBody, ThingRecord } from '#src/client/bodies'
import { choice, parameter } from '#src/cli/command'
import { channelRequest } from '#src/cli/command-client'
import { ENTITY_HEADINGS, LISTED, entityCells, list as listPages } from '#src/cli/paging'

export const get = channelRequest({
  description: 'Shows a Thing as it is now.',
  parameters: { thingId: parameter('<thing_id>', 'the id of the Thing') },
  examples: ['thing get sensor-7', 'thing get sensor-7 --json'],
  send: ({ client, credentials }, { thingId }) =>
    client.thing.get({ ...credentials, thing_id: thingId }),
})

export const list = channelRequest({
  description: 'Lists the Things of a channel, the newest change first.',
  options: {
    state: choice('<state>', ['active', 'archived', 'deleted'], 'only those in this state'),
    ...LISTED,
  },
  examples: ['thing list --state active', 'thing list --all --json'],
  send: ({ client, credentials }, { state }) => ({
    page: (wanted: PageBody) =>
      client.thing.list({ ...credentials, ...defined({ state }), ...wanted }),
    headings: ['THING', ...ENTITY_HEADINGS],
    cells: (record: ThingRecord) => [record.thing_id, ...entityCells(record)],
  }),
  show: listPages,
})
