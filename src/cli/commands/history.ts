// heliograph history: the entries that a channel keeps.

import { defined } from '#domain/record'
import { MODELS } from '#domain/submission'
import { CHANNEL, credentialsOf } from '#src/cli/access'
import { FEED, listEntries } from '#src/cli/deliveries/entry-list'
import { PAGING } from '#src/cli/paging'
import { since } from '#src/cli/since'
import { commandClientOf } from '#src/cli/command-client'
import { whole } from '#src/cli/values'
import { command, choice, text } from '#src/cli/command'

export const history = command({
  description:
    'Shows the entries that a channel still keeps, the oldest first: each Message, Event and ' +
    'Thing change with its seq.',
  options: {
    since: { ...since, help: 'only entries from then on: 90s, 15m, 2h, 7d, all, or a time' },
    after: whole('<seq>', 0, Number.MAX_SAFE_INTEGER, 'only entries behind this seq'),
    model: choice('<model>', MODELS, 'only entries of this model'),
    entity: text('<id>', 'only entries of this Message, Event or Thing', {
      triedAs: ['thing', 'event', 'message', 'id'],
    }),
    ...FEED,
    ...PAGING,
    ...CHANNEL,
  },
  examples: [
    'history --since 1h',
    "history --entity sensor-7 --format '{time},{attrs.temperature}' --all",
    'history --after 4711 --json',
  ],
  async run(options, context) {
    const { client } = await commandClientOf(options, context)
    const { model, after, entity } = options
    const reader = {
      ...(await credentialsOf(options, context)),
      ...defined({ model, after_seq: after, entity_id: entity }),
      ...defined({ since: options.since?.(context.nowMs()) }),
    }
    const page = async (wanted: object) => await client.channel.history({ ...reader, ...wanted })
    await listEntries({ page, hasChannel: false }, options, context)
  },
})
