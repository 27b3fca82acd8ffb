// heliograph send: one Message.

import { SEVERITIES } from '#domain/submission'
import { CHANNEL, credentialsOf } from '#src/cli/access'
import { CIPHERTEXT, ciphertextIn } from '#src/cli/plaintext'
import { commandClientOf, given } from '#src/cli/command-client'
import { readMetadata, time } from '#src/cli/values'
import { command, choice, required, text, texts } from '#src/cli/command'

export const send = command({
  description:
    'Sends a Message to the subscribers of a channel, and prints its op_id once the gateway ' +
    'keeps it.',
  options: {
    title: required(text('<title>', 'the title')),
    body: text('<text>', 'the text; Markdown is allowed'),
    severity: choice('<severity>', SEVERITIES, 'the urgency'),
    link: text('<url>', 'the page that a click opens'),
    tag: texts('<tag>', 'a tag'),
    image: texts('<url>', 'an image'),
    metadata: texts('<key=value>', 'a value for machines'),
    thing: text('<thing_id>', 'the Thing that it is about'),
    occurredAt: time('when it happened; with --thing now by default'),
    ttl: time('when it is no longer worth delivering'),
    ...CIPHERTEXT,
    opId: text('<op_id>', 'idempotency key; a new one by default'),
    ...CHANNEL,
  },
  examples: [
    "send --title 'Frost tonight' --severity high",
    "send --title 'Door open' --thing door-7 --tag security --link https://cam.example/7",
    "send --title 'A new code' --plaintext-file code.txt --passphrase-file passphrase.txt",
  ],
  async run(options, context) {
    const { title, body, severity, ttl, thing, link, tag, image, metadata } = options
    const { client, report } = await commandClientOf(options, context)
    const occurredAt = options.occurredAt ?? (thing === undefined ? undefined : context.nowMs())
    const credentials = await credentialsOf(options, context)
    const ciphertext = await ciphertextIn(options, context, credentials.channel_id)
    const message = {
      ...credentials,
      title,
      // With an op_id the call can be repeated after a lost connection without sending twice.
      op_id: options.opId ?? crypto.randomUUID(),
      ...given({ body, severity, ttl, ciphertext, thing_id: thing, url: link }),
      ...given({ tags: tag, images: image, occurred_at: occurredAt }),
      ...given({ metadata: metadata && readMetadata(metadata) }),
    }
    report(await client.message.send(message))
  },
})
