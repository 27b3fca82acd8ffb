// Makes the ciphertext that a command sends from its options. (docs/encryption.md)

import type { ChannelId } from '#domain/identity'
import { fileText } from '#src/config/environment'
import type { Sources } from './access.ts'
import { ENCRYPTION } from './encryption-options.ts'
import type { EncryptionGiven } from './encryption-options.ts'
import { UsageError } from './endings.ts'
import { fileOption, text } from './command.ts'
import type { Given } from './command.ts'

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
  const given = [plaintext, plaintextFile, ciphertext].filter((one) => one !== undefined)
  if (given.length > 1) {
    throw new UsageError('give one of --plaintext, --plaintext-file and --ciphertext')
  }
  if (given.length === 0 && (passphrase ?? passphraseFile) !== undefined) {
    throw new UsageError('name the text to encrypt: --plaintext-file or --plaintext')
  }
  const plain = plaintextFile === undefined ? plaintext : await textIn(plaintextFile, sources)
  if (plain === undefined) return ciphertext
  if (channelId === undefined) {
    throw new UsageError('name the channel, for which the text is encrypted: --channel')
  }
  const { ciphertextOf, encryptionKey } = await import('./encryption.ts')
  return await ciphertextOf(await encryptionKey(options, sources, channelId), channelId, plain)
}

/** The text of a file, or with `-` of the standard input, without the line feed at its end. */
async function textIn(path: string, { readInput }: Sources): Promise<string> {
  const found = path === '-' ? await readInput() : fileText(path)
  if (found === undefined) throw new UsageError('--plaintext-file: there is no such file')
  return found.replace(/\r?\n$/, '')
}
