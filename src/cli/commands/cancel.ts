// heliograph cancel: takes back a Message that waits for its time.

import { CHANNEL, credentialsOf } from '#src/cli/access'
import { commandClientOf } from '#src/cli/command-client'
import { command, parameter } from '#src/cli/command'

export const cancel = command({
  description:
    'Takes back a Message that waits for its time, and prints its record. Refused with ' +
    'message_already_sent when it went.',
  parameters: { opId: parameter('<op_id>', 'the op_id from the answer to send') },
  options: CHANNEL,
  examples: ['cancel 0019a9fcb6b29-9d2a'],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    const credentials = await credentialsOf(options, context)
    report(await client.message.cancel({ ...credentials, op_id: options.opId }))
  },
})
