// Encrypts and decrypts with the key that a passphrase makes. Loaded by the commands that need it.

import type { ChannelId } from '#domain/identity'
import { decrypt, encrypt, keyFromPassphrase } from '#src/client/encryption'
import type { EncryptionKey } from '#src/client/encryption'
import { HeliographError } from '#src/client/error'
import type { Delivery } from '#src/schemas/frames'
import { passphraseIn } from './access.ts'
import { UsageError } from './endings.ts'
import { keyIdIn } from './encryption-options.ts'
import type { EncryptionGiven } from './encryption-options.ts'
import type { Surroundings } from './surroundings.ts'
import { given } from './talk.ts'

type Around = Pick<Surroundings, 'env' | 'readInput' | 'terminal'>

/** The key for one channel. Throws UsageError when no passphrase is given. */
export async function encryptionKey(
  options: EncryptionGiven,
  sources: Pick<Around, 'env' | 'readInput'>,
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
    ...given({ rounds }),
  })
}

/** The ciphertext of a text for a channel. */
export const sealed = async (
  key: EncryptionKey,
  channelId: ChannelId,
  text: string,
): Promise<string> => await encrypt(key, { channelId, text })

/** The text of a delivery's ciphertext; undefined where there is none, or it does not open. */
export type Opener = (delivery: Delivery) => Promise<string | undefined>

/**
 * Opens deliveries when there is a passphrase. A note on the standard error output gives the reason
 * for a ciphertext that does not open; its delivery is received like any other. Each channel has
 * one key.
 */
export async function openerFor(options: EncryptionGiven, around: Around): Promise<Opener> {
  const passphrase = await passphraseIn(options, around)
  if (passphrase === undefined) return async () => undefined
  const keys = new Map<ChannelId, Promise<EncryptionKey>>()
  const id = keyIdIn(options, around)
  const { rounds } = options
  const keyOf = async (channelId: ChannelId): Promise<EncryptionKey> => {
    const made =
      keys.get(channelId) ?? keyFromPassphrase({ id, passphrase, channelId, ...given({ rounds }) })
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
      around.terminal.complain(`${deliveryId}: ${error.code}: ${error.message}`)
      return undefined
    }
  }
}
