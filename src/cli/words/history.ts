// heliograph history: the entries that a channel keeps.

import { MODELS } from '#domain/submission'
import type { FeedRecord } from '#src/client/bodies'
import { CHANNEL, credentialsOf } from '#src/cli/access'
import { dateClockIn, deliveryLine } from '#src/cli/delivery-line'
import { readTemplate } from '#src/cli/delivery-template'
import { PAGING, eachPage } from '#src/cli/paging'
import { deliveryOf, since } from '#src/cli/since'
import { given, talk } from '#src/cli/talk'
import { whole } from '#src/cli/values'
import { choice, text, valued, word } from '#src/cli/word'

export const history = word({
  description:
    'Shows what a channel was sent and still keeps, the oldest first: each Message, Event and ' +
    'Thing change with its seq.',
  options: {
    since: { ...since, help: 'only entries from then on: 90s, 15m, 2h, 7d, all, or a time' },
    after: whole('<seq>', 0, Number.MAX_SAFE_INTEGER, 'only entries behind this seq'),
    model: choice('<model>', MODELS, 'only entries of this model'),
    entity: text('<id>', 'only entries of this Message, Event or Thing'),
    format: valued('<template>', 'a line for each entry, as for `watch`', readTemplate),
    ...PAGING,
    ...CHANNEL,
  },
  examples: [
    'history --since 1h',
    "history --entity sensor-7 --format '{time},{attrs.temperature}' --all",
    'history --after 4711 --json',
  ],
  async run(options, context) {
    const { client, access } = await talk(options, context)
    const { model, after, entity, format } = options
    const reader = {
      ...(await credentialsOf(options, context)),
      ...given({ model, after_seq: after, entity_id: entity }),
      ...given({ since: options.since?.(context.nowMs()) }),
    }
    const clock = dateClockIn()
    const width = context.terminal.screen()?.columns
    const lineOf = (record: FeedRecord): string => {
      if (access.json) return JSON.stringify(record)
      const delivery = deliveryOf(record)
      if (format !== undefined) return format({ delivery, channelName: record.channel_id })
      return deliveryLine(delivery, { clock, ...given({ width }) })
    }
    const page = async (wanted: object) => await client.channel.history({ ...reader, ...wanted })
    await eachPage(page, options, context, (items) => {
      for (const item of items) context.terminal.print(lineOf(item))
    })
  },
})
