// Options for end-to-end encryption: the passphrase and its key. (docs/encryption.md)

import { PASSPHRASE, setting } from './access.ts'
import type { Sources } from './access.ts'
import { UsageError } from './endings.ts'
import { whole } from './values.ts'
import { BadValue, valued } from './command.ts'
import type { Given } from './command.ts'

const ROUNDS_MIN = 600_000
const ROUNDS_MAX = 100_000_000

function readKeyId(given: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(given)) return given
  throw new BadValue('a key id is 1 to 64 letters, digits, _ and -')
}

/** Options of a command that encrypts or decrypts. */
export const ENCRYPTION = {
  ...PASSPHRASE,
  keyId: valued('<id>', 'the name of the key that the passphrase makes', readKeyId, {
    variable: 'HELIOGRAPH_KEY_ID',
  }),
  rounds: whole('<count>', ROUNDS_MIN, ROUNDS_MAX, `rounds of PBKDF2; default ${ROUNDS_MIN}`),
} as const

export type EncryptionGiven = Given<typeof ENCRYPTION> & {
  readonly profile: string | undefined
}

/** The key id, from the option, the environment or the default. */
export const keyIdIn = ({ keyId }: EncryptionGiven, { env }: Pick<Sources, 'env'>): string =>
  keyId ?? readKeyIdIn(setting(env, 'HELIOGRAPH_KEY_ID')) ?? 'default'

function readKeyIdIn(given: string | undefined): string | undefined {
  try {
    return given === undefined ? undefined : readKeyId(given)
  } catch (error) {
    throw error instanceof BadValue ? new UsageError(`HELIOGRAPH_KEY_ID: ${error.message}`) : error
  }
}
