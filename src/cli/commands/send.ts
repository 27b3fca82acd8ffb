// heliograph send: one Message.

import { CHANNEL, credentialsOf } from '#src/cli/access'
import { CIPHERTEXT, ciphertextIn } from '#src/cli/plaintext'
import { commandClientOf, given } from '#src/cli/command-client'
import { membersOf, optionsOf } from '#src/cli/values'
import { command } from '#src/cli/command'
import { MESSAGE_FIELDS } from '#src/schemas/fields/submission-fields'

export const send = command({
  description:
    'Sends a Message to the subscribers of a channel, and prints its op_id once the gateway ' +
    'keeps it.',
  options: {
    ...optionsOf(MESSAGE_FIELDS, 'send'),
    ...CIPHERTEXT,
    ...CHANNEL,
  },
  examples: [
    "send --title 'Frost tonight' --severity high",
    "send --title 'Door open' --thing door-7 --tag security --link https://cam.example/7",
    "send --title 'Bins out' --delay 8h",
    "send --title 'A new code' --plaintext-file code.txt --passphrase-file passphrase.txt",
  ],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    const members = membersOf(MESSAGE_FIELDS, 'send', options)
    const credentials = await credentialsOf(options, context)
    const ciphertext = await ciphertextIn(options, context, credentials.channel_id)
    const message = {
      ...credentials,
      ...(members.thing_id !== undefined && { occurred_at: context.nowMs() }),
      // With an op_id the call can be repeated after a lost connection without sending twice.
      op_id: crypto.randomUUID(),
      ...members,
      ...given({ ciphertext }),
    }
    report(await client.message.send(message))
  },
})
