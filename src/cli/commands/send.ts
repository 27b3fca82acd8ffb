// heliograph send, heliograph cancel: sends one Message, or takes back one that waits for its time.

import { defined } from '#domain/record'
import { CIPHERTEXT, ciphertextIn } from '#src/cli/plaintext'
import { channelRequest } from '#src/cli/command-client'
import { membersOf, optionsOf } from '#src/cli/values'
import { parameter, rest } from '#src/cli/command'
import { UsageError } from '#src/cli/endings'
import { MESSAGE_FIELDS } from '#src/schemas/fields/submission-fields'

export const send = channelRequest({
  description:
    'Sends a Message to the subscribers of a channel, and prints its op_id once the gateway ' +
    'keeps it.',
  parameters: { titleWords: rest('[title...]', 'the title, in the place of --title') },
  options: { ...optionsOf(MESSAGE_FIELDS, 'send'), ...CIPHERTEXT },
  examples: [
    'send Frost tonight --severity high',
    "send 'Door open' --thing door-7 --tag security --link https://cam.example/7",
    "send 'Bins out' --delay 8h",
    "send 'A new code' --plaintext-file code.txt --passphrase-file passphrase.txt",
  ],
  check: async (values) => {
    const { delay } = membersOf(MESSAGE_FIELDS, 'send', values)
    if (delay !== undefined) await checkDelay(delay)
  },
  send: async ({ client, credentials }, options, context) => {
    const { titleWords, ...named } = options
    const sent = membersOf(MESSAGE_FIELDS, 'send', named)
    const members = { ...sent, title: titleOf(titleWords, sent.title) }
    const ciphertext = await ciphertextIn(options, context, credentials.channel_id)
    return client.message.send({
      ...credentials,
      ...(members.thing_id !== undefined && { occurred_at: context.nowMs() }),
      // With an op_id the call can be repeated after a lost connection without sending twice.
      op_id: crypto.randomUUID(),
      ...members,
      ...defined({ ciphertext }),
    })
  },
})

function titleOf(words: readonly string[], option: string | undefined): string {
  if (words.length > 0 && option !== undefined) {
    throw new UsageError('give [title...] or --title, not both; quote a --title of several words')
  }
  const title = words.length > 0 ? words.join(' ') : option
  if (title === undefined) throw new UsageError('[title...] is missing: the title of the Message')
  return title
}

async function checkDelay(delay: string): Promise<void> {
  const { DELAY_FORM, delayMs } = await import('#src/rules/durations') // Few Messages wait.
  if (delayMs(delay) === undefined) throw new UsageError(`--delay: allowed: ${DELAY_FORM}`)
}

export const cancel = channelRequest({
  description:
    'Takes back a Message that waits for its time, and prints its record. Refused with ' +
    'message_already_sent when it went.',
  parameters: { opId: parameter('<op_id>', 'the op_id from the answer to send') },
  examples: ['cancel 0019a9fcb6b29-9d2a'],
  send: ({ client, credentials }, { opId }) =>
    client.message.cancel({ ...credentials, op_id: opId }),
})
