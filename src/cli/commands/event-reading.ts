// heliograph event: get, list.

import type { EventRecord } from '#src/client/bodies'
import { CHANNEL, credentialsOf } from '#src/cli/access'
import { ENTITY_HEADINGS, entityCells } from '#src/cli/paging'
import { PAGING, list as listPages } from '#src/cli/paging'
import { commandClientOf, given } from '#src/cli/command-client'
import { command, choice, parameter, text } from '#src/cli/command'

export const get = command({
  description: 'Shows an Event as it is now.',
  parameters: { eventId: parameter('<event_id>', 'the id of the Event') },
  options: CHANNEL,
  examples: ['event get 4f0c…'],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    const reader = await credentialsOf(options, context)
    report(await client.event.get({ ...reader, event_id: options.eventId }))
  },
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
