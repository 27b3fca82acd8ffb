// heliograph send: one Message.

import { randomUUID } from 'node:crypto'
import { Option } from 'commander'
import type { Command } from 'commander'

import { SEVERITIES } from '#domain/submission'
import { credentialsOf, withChannel } from './options.ts'
import type { ChannelOptions } from './options.ts'
import type { Surroundings } from './surroundings.ts'
import { given, talk } from './talk.ts'
import { collect, readMetadata, readTimeOption } from './values.ts'

interface SendOptions extends ChannelOptions {
  readonly title: string
  readonly body?: string
  readonly severity?: string
  readonly tag?: readonly string[]
  readonly image?: readonly string[]
  readonly metadata?: readonly string[]
  readonly opId?: string
  readonly thing?: string
  readonly occurredAt?: number
  readonly ttl?: number
  readonly ciphertext?: string
}

export function addSend(program: Command, surroundings: Surroundings): void {
  const command = program
    .command('send')
    .summary('send a Message')
    .description('Sends a Message to the subscribers of a channel.')
    .requiredOption('--title <title>', 'what it is about')
    .option('--body <text>', 'the text; Markdown is allowed')
    .addOption(new Option('--severity <severity>', 'how urgent it is').choices(SEVERITIES))
    .option(
      '--url <link>',
      'where a click leads (here not the gateway: put that in front of `send`)',
    )
    .option('--tag <tag>', 'a tag; can be repeated', collect)
    .option('--image <url>', 'an image; can be repeated', collect)
    .option('--metadata <key=value>', 'a value for machines; can be repeated', collect)
    .option('--thing <thing_id>', 'the Thing that it is about')
    .option('--occurred-at <time>', 'when it happened; default with --thing: now', readTimeOption)
    .option('--ttl <time>', 'when it is no longer worth delivering', readTimeOption)
    .option('--ciphertext <text>', 'an end-to-end-encrypted payload')
    .option('--op-id <op_id>', 'idempotency key; by default a new one')
  withChannel(command, true).action(async (options: SendOptions, self: Command) => {
    await send(options, self, surroundings)
  })
}

async function send(
  options: SendOptions,
  command: Command,
  surroundings: Surroundings,
): Promise<void> {
  const { title, body, severity, ttl, ciphertext, thing } = options
  const link = command.opts<{ readonly url?: string }>().url
  const { client, report } = talk({ ...options, url: undefined }, command, surroundings)
  const occurredAt = options.occurredAt ?? (thing === undefined ? undefined : surroundings.nowMs())
  const message = {
    ...credentialsOf(options, surroundings.env),
    title,
    // With an op_id the call can be repeated after a lost connection without sending twice.
    op_id: options.opId ?? randomUUID(),
    ...given({ body, severity, ttl, ciphertext, thing_id: thing, url: link }),
    ...given({ tags: options.tag, images: options.image, occurred_at: occurredAt }),
    ...given({ metadata: options.metadata && readMetadata(options.metadata) }),
  }
  report(await client.message.send(message))
}
