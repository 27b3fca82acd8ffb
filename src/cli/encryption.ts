// Encrypts and decrypts with the key that a passphrase makes. A command loads this file only when
// it encrypts or decrypts.

import { defined } from '#domain/record'
import type { ChannelId } from '#domain/identity'
import { decrypt, encrypt, keyFromPassphrase } from '#src/client/encryption'
import type { EncryptionKey } from '#src/client/encryption'
import { HeliographError } from '#src/client/error'
import type { Delivery } from '#src/schemas/frames'
import { passphraseIn } from './access.ts'
import type { Sources } from './access.ts'
import { UsageError } from './endings.ts'
import { keyIdIn } from './encryption-options.ts'
import type { EncryptionGiven } from './encryption-options.ts'
import type { ProcessContext } from './process-context.ts'

/** The key for one channel. Throws UsageError when no passphrase is given. */
export async function encryptionKey(
  options: EncryptionGiven,
  sources: Sources,
  channelId: ChannelId,
): Promise<EncryptionKey> {
  const passphrase = await passphraseIn(options, sources)
  if (passphrase === undefined) {
    throw new UsageError('give the passphrase: HELIOGRAPH_PASSPHRASE or --passphrase-file')
  }
  const { rounds } = options
  return await keyFromPassphrase({
    id: keyIdIn(options, sources),
    passphrase,
    channelId,
    ...defined({ rounds }),
  })
}

/** The ciphertext of a text for a channel. */
export const ciphertextOf = async (
  key: EncryptionKey,
  channelId: ChannelId,
  text: string,
): Promise<string> => await encrypt(key, { channelId, text })

/** The text of a delivery's ciphertext; undefined for none, or for one that cannot be decrypted. */
export type Decrypter = (delivery: Delivery) => Promise<string | undefined>

/**
 * Decrypts deliveries by the passphrase; each channel has one key. A line on the standard error
 * output gives the reason for a ciphertext that cannot be decrypted, and the command receives its
 * delivery like any other.
 */
export function decrypterWith(
  passphrase: string,
  options: EncryptionGiven,
  { env, terminal }: Pick<ProcessContext, 'env' | 'terminal'>,
): Decrypter {
  const keys = new Map<ChannelId, Promise<EncryptionKey>>()
  const id = keyIdIn(options, { env })
  const { rounds } = options
  const keyOf = async (channelId: ChannelId): Promise<EncryptionKey> => {
    const made =
      keys.get(channelId) ??
      keyFromPassphrase({ id, passphrase, channelId, ...defined({ rounds }) })
    keys.set(channelId, made)
    return await made
  }
  return async ({ channelId, deliveryId, payload }) => {
    const { ciphertext } = payload
    if (typeof ciphertext !== 'string' || ciphertext === '') return undefined
    try {
      return await decrypt([await keyOf(channelId)], { channelId, ciphertext })
    } catch (error) {
      if (!(error instanceof HeliographError)) throw error
      terminal.printDiagnostic(`${deliveryId}: ${error.code}: ${error.message}`)
      return undefined
    }
  }
}
