// Writes entries of the feed as lines, for `history` and `pull`.

import type { FeedRecord } from '#src/client/bodies'
import { deliveryLine } from './delivery-line.ts'
import { readTemplate } from './delivery-template.ts'
import type { Template } from './delivery-template.ts'
import { decrypterFor } from '#src/cli/decrypter'
import { dateText } from '#src/cli/terminal-text'
import { ENCRYPTION } from '#src/cli/encryption-options'
import type { EncryptionGiven } from '#src/cli/encryption-options'
import { deliveryOf } from '#src/cli/since'
import type { ProcessContext } from '#src/cli/process-context'
import { given } from '#src/cli/command-client'
import { valued } from '#src/cli/command'

/** Options of a command that shows entries. */
export const FEED = {
  format: valued('<template>', 'a line for each entry, as for `watch`', readTemplate),
  ...ENCRYPTION,
} as const

interface FeedGiven extends EncryptionGiven {
  readonly format: Template | undefined
  readonly json: boolean | undefined
}

/** Returns a function that makes the line of an entry; with `hasChannel` it names the channel. */
export async function feedLines(
  options: FeedGiven,
  context: Pick<ProcessContext, 'env' | 'readInput' | 'terminal'>,
  { hasChannel }: { readonly hasChannel: boolean },
): Promise<(record: FeedRecord) => Promise<string>> {
  const decrypt = await decrypterFor(options, context)
  const width = context.terminal.screen()?.columns
  const { format, json } = options
  return async (record) => {
    const delivery = deliveryOf(record)
    const plaintext = await decrypt(delivery)
    const channelName = record.channel_id
    if (json === true) return JSON.stringify({ ...record, plaintext })
    if (format !== undefined) return format({ delivery, channelName, ...given({ plaintext }) })
    const named = hasChannel ? { channelName } : {}
    return deliveryLine(delivery, { clock: dateText, ...named, ...given({ plaintext, width }) })
  }
}
