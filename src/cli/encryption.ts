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

/** The ciphertext of a text for a channel. Throws UsageError when no passphrase is given. */
export async function ciphertextOf(
  options: EncryptionGiven,
  sources: Sources,
  { channelId, text }: { readonly channelId: ChannelId; readonly text: string },
): Promise<string> {
  const passphrase = await passphraseIn(options, sources)
  if (passphrase === undefined) {
    throw new UsageError('give the passphrase: HELIOGRAPH_PASSPHRASE or --passphrase-file')
  }
  const key = await keyFor(passphrase, options, sources)(channelId)
  return await encrypt(key, { channelId, text })
}

/** Makes the key of a channel. */
function keyFor(passphrase: string, options: EncryptionGiven, { env }: Pick<Sources, 'env'>) {
  const { rounds } = options
  const shared = { id: keyIdIn(options, { env }), passphrase, ...defined({ rounds }) }
  return (channelId: ChannelId): Promise<EncryptionKey> =>
    keyFromPassphrase({ ...shared, channelId })
}

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
  const make = keyFor(passphrase, options, { env })
  const keyOf = async (channelId: ChannelId): Promise<EncryptionKey> => {
    const made = keys.get(channelId) ?? make(channelId)
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
