// Decrypts deliveries for the commands that show them.

import { passphraseIn } from './access.ts'
import type { Sources } from './access.ts'
import type { Decrypter } from './encryption.ts'
import type { EncryptionGiven } from './encryption-options.ts'
import type { ProcessContext } from './process-context.ts'

/** Without a passphrase it decrypts nothing, and the encryption is not loaded. */
export async function decrypterFor(
  options: EncryptionGiven,
  context: Sources & Pick<ProcessContext, 'terminal'>,
): Promise<Decrypter> {
  const passphrase = await passphraseIn(options, context)
  if (passphrase === undefined) return async () => undefined
  const { decrypterWith } = await import('./encryption.ts') // command-line/3
  return decrypterWith(passphrase, options, context)
}
