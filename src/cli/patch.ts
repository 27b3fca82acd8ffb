// What the commands that change Things and Events share: values, and the body of a request.

import type { Fields } from '#src/schemas/fields/submission-fields'
import { credentialsOf } from './access.ts'
import type { CHANNEL } from './access.ts'
import { rest } from './command.ts'
import type { Given } from './command.ts'
import { given } from './command-client.ts'
import { ciphertextIn } from './plaintext.ts'
import type { CIPHERTEXT } from './plaintext.ts'
import type { ProcessContext } from './process-context.ts'
import { membersOf, readPairs } from './values.ts'

export const ATTRS = rest('[key=value...]', 'attrs: JSON values or text; key=null removes the key')

/** The body of a request, without the time of its values and the id. */
export async function patchOf<Named extends Fields, Action extends string>(
  declared: Named,
  action: Action,
  options: Given<typeof CIPHERTEXT & typeof CHANNEL> & { readonly attrs: readonly string[] },
  context: ProcessContext,
) {
  const { attrs } = options
  const credentials = await credentialsOf(options, context)
  const ciphertext = await ciphertextIn(options, context, credentials.channel_id)
  return {
    ...credentials,
    ...membersOf(declared, action, options),
    ...given({ ciphertext }),
    ...(attrs.length > 0 && { attrs: readPairs(attrs) }),
  }
}
