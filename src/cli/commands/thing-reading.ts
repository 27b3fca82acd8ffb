// heliograph thing: get, list.

import type { ThingRecord } from '#src/client/bodies'
import { CHANNEL, credentialsOf } from '#src/cli/access'
import { command, choice, parameter } from '#src/cli/command'
import { channelRequest, commandClientOf, given } from '#src/cli/command-client'
import { ENTITY_HEADINGS, PAGING, entityCells, list as listPages } from '#src/cli/paging'

export const get = channelRequest({
  description: 'Shows a Thing as it is now.',
  parameters: { thingId: parameter('<thing_id>', 'the id of the Thing') },
  examples: ['thing get sensor-7', 'thing get sensor-7 --json'],
  send: ({ client, credentials }, { thingId }) =>
    client.thing.get({ ...credentials, thing_id: thingId }),
})

export const list = command({
  description: 'Lists the Things of a channel, the newest change first.',
  options: {
    state: choice('<state>', ['active', 'archived', 'deleted'], 'only those in this state'),
    ...PAGING,
    ...CHANNEL,
  },
  examples: ['thing list --state active', 'thing list --all --json'],
  async run(options, context) {
    const { client } = await commandClientOf(options, context)
    const reader = {
      ...(await credentialsOf(options, context)),
      ...given({ state: options.state }),
    }
    const listing = {
      page: async (wanted: object) => await client.thing.list({ ...reader, ...wanted }),
      headings: ['THING', ...ENTITY_HEADINGS],
      cells: (record: ThingRecord) => [record.thing_id, ...entityCells(record)],
    }
    await listPages(listing, options, context)
  },
})
