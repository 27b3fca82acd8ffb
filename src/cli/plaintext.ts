// Makes the ciphertext that a command sends from its options (docs/encryption.md), and the bodies
// of the commands that change Things and Events.

import { defined } from '#domain/record'
import type { ChannelId } from '#domain/identity'
import { textFile } from './access.ts'
import type { Credentials, Sources } from './access.ts'
import { ENCRYPTION } from './encryption-options.ts'
import type { EncryptionGiven } from './encryption-options.ts'
import { UsageError } from './endings.ts'
import { fileOption, text, rest } from './command.ts'
import type { Given } from './command.ts'
import type { Fields } from '#src/schemas/fields/submission-fields'
import type { ProcessContext } from './process-context.ts'
import { membersOf, readPairs } from './values.ts'

/** Options of a command that sends. */
export const CIPHERTEXT = {
  plaintext: text('<text>', 'a text to encrypt into ciphertext; visible in process lists', {
    isSecret: true,
  }),
  plaintextFile: fileOption('file with the text to encrypt; - reads the standard input'),
  ciphertext: text('<text>', 'an end-to-end-encrypted payload, made elsewhere'),
  ...ENCRYPTION,
} as const

type CiphertextGiven = Given<typeof CIPHERTEXT> & EncryptionGiven

/** The ciphertext that a command sends; undefined without options for it. Throws UsageError. */
export async function ciphertextIn(
  options: CiphertextGiven,
  sources: Sources,
  channelId: ChannelId | undefined,
): Promise<string | undefined> {
  const { plaintext, plaintextFile, ciphertext, passphrase, passphraseFile } = options
  const ways = [plaintext, plaintextFile, ciphertext].filter((one) => one !== undefined)
  if (ways.length > 1) {
    throw new UsageError('give one of --plaintext, --plaintext-file and --ciphertext')
  }
  if (ways.length === 0 && (passphrase ?? passphraseFile) !== undefined) {
    throw new UsageError('name the text to encrypt: --plaintext-file or --plaintext')
  }
  const plain = plaintextFile === undefined ? plaintext : await textIn(plaintextFile, sources)
  if (plain === undefined) return ciphertext
  if (channelId === undefined) {
    throw new UsageError('name the channel, for which the text is encrypted: --channel')
  }
  const { ciphertextOf } = await import('./encryption.ts')
  return await ciphertextOf(options, sources, { channelId, text: plain })
}

/** The text of a file, without the line feed at its end. */
const textIn = async (path: string, sources: Sources): Promise<string> =>
  (await textFile('--plaintext-file', path, sources)).replace(/\r?\n$/, '')

export const ATTRS = rest('[key=value...]', 'attrs: JSON values or text; key=null removes the key')

const ID_HINT = '; the gateway makes the id: `update` takes one of your own'

/** The body of a request, without the time of its values and the id. */
export async function patchOf<Named extends Fields, Action extends string>(
  declared: Named,
  action: Action,
  { credentials, options }: ChangeGiven,
  context: ProcessContext,
) {
  const { attrs } = options
  const ciphertext = await ciphertextIn(options, context, credentials.channel_id)
  const changes = {
    ...membersOf(declared, action, options),
    ...defined({ ciphertext }),
    ...(attrs.length > 0 && { attrs: readPairs(attrs, action === 'create' ? ID_HINT : '') }),
  }
  if (action === 'update' && Object.keys(changes).length === 0) {
    throw new UsageError('say what changes: key=value, or an option such as --title')
  }
  return { ...credentials, ...changes }
}

/** The arguments of a command that changes a Thing or an Event. */
export interface ChangeGiven {
  readonly credentials: Credentials
  readonly options: CiphertextGiven & { readonly attrs: readonly string[] }
}
