// Shows entries of the feed, for `history` and `pull`.

import { defined } from '#domain/record'
import type { FeedRecord, PageOf } from '#src/client/bodies'
import { entryText } from './delivery-line.ts'
import { readTemplate } from './delivery-template.ts'
import type { Template } from './delivery-template.ts'
import { decrypterFor } from '#src/cli/decrypter'
import { dateText } from '#src/cli/terminal-text'
import { ENCRYPTION } from '#src/cli/encryption-options'
import type { EncryptionGiven } from '#src/cli/encryption-options'
import { UsageError } from '#src/cli/endings'
import { HEADER, eachPage, list } from '#src/cli/paging'
import type { Listing, PAGING } from '#src/cli/paging'
import { deliveryOf } from '#src/cli/since'
import type { ProcessContext } from '#src/cli/process-context'
import { valued } from '#src/cli/command'
import type { Given } from '#src/cli/command'

/** Options of a command that shows entries. */
export const FEED = {
  format: valued('<template>', 'a line for each entry, as for `watch`', readTemplate),
  ...HEADER,
  ...ENCRYPTION,
} as const

interface FeedGiven extends EncryptionGiven, Given<typeof HEADER>, Given<typeof PAGING> {
  readonly format: Template | undefined
  readonly json: boolean | undefined
}

interface OpenedRecord extends FeedRecord {
  /** The decrypted ciphertext. */
  readonly plaintext: string | undefined
}

interface Entries {
  readonly page: Listing<FeedRecord>['page']
  /** True for entries of several channels. */
  readonly hasChannel: boolean
}

/** Shows pages of entries: as a table, as JSON, or by a template. Throws UsageError. */
export async function listEntries(
  { page, hasChannel }: Entries,
  options: FeedGiven,
  context: Pick<ProcessContext, 'env' | 'readInput' | 'terminal'>,
): Promise<void> {
  const { format, header } = options
  if (format !== undefined && header === true) {
    throw new UsageError('--header is for the table; --format makes lines without headings')
  }
  const decrypt = await decrypterFor(options, context)
  const opened: Listing<OpenedRecord>['page'] = async (wanted) => {
    const { items, ...more } = await page(wanted)
    return { ...more, items: await openedBy(decrypt, items) }
  }
  if (format === undefined) {
    await list({ page: opened, ...tableOf(hasChannel) }, options, context)
    return
  }
  await eachPage(opened, options, context, (items) => {
    for (const item of items) {
      const named = { delivery: deliveryOf(item), channelName: item.channel_id }
      context.terminal.print(format({ ...named, ...defined({ plaintext: item.plaintext }) }))
    }
  })
}

/** One after the other: a note about one that stays closed stands in their order. */
async function openedBy(
  decrypt: Awaited<ReturnType<typeof decrypterFor>>,
  items: PageOf<FeedRecord>['items'],
): Promise<readonly OpenedRecord[]> {
  const opened = []
  for (const item of items) {
    opened.push({ ...item, plaintext: await decrypt(deliveryOf(item)) })
  }
  return opened
}

const tableOf = (hasChannel: boolean) => ({
  headings: ['TIME', ...(hasChannel ? ['CHANNEL'] : []), 'MODEL', 'ACTION', 'ENTRY'],
  cells: (record: OpenedRecord) => [
    dateText(record.accepted_at),
    ...(hasChannel ? [record.channel_id] : []),
    record.model,
    record.action,
    entryText(deliveryOf(record), record.plaintext),
  ],
})
