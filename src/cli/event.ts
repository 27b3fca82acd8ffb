// heliograph event: create, update, close, get, list.

import type { Command } from 'commander'

import type { EventRecord } from '#src/client/bodies'
import { listLines } from './listing.ts'
import { credentialsOf, withChannel } from './options.ts'
import type { ChannelOptions } from './options.ts'
import type { Surroundings } from './surroundings.ts'
import { given, talk } from './talk.ts'
import { collect, readPairs, readTimeOption, readWhole } from './values.ts'

interface EventOptions extends ChannelOptions {
  readonly eventTime?: number
  readonly startedAt?: number
  readonly endedAt?: number
  readonly title?: string
  readonly description?: string
  readonly status?: string
  readonly message?: string
  readonly severity?: string
  readonly tag?: readonly string[]
  readonly image?: readonly string[]
  readonly thing?: string
  readonly ciphertext?: string
}

const PAIRS_HELP = 'attrs: JSON values or text; key=null removes the key'

export function addEvent(program: Command, surroundings: Surroundings): void {
  const event = program.command('event').description('Events: processes that change and end.')
  addCreate(event, surroundings)
  addChange(event, 'update', 'Says what has changed.', surroundings)
  addChange(event, 'close', 'Ends an Event.', surroundings)
  addReading(event, surroundings)
}

function withPatch(command: Command): Command {
  return withChannel(command)
    .argument('[key=value...]', PAIRS_HELP)
    .option('--title <title>', 'its title')
    .option('--description <text>', 'its description')
    .option('--status <status>', 'free text')
    .option('--message <text>', 'what is happening now')
    .option('--severity <severity>', 'free text; critical, high, normal and low decide the push')
    .option('--thing <thing_id>', 'the Thing that it happens to')
    .option('--tag <tag>', 'a tag; can be repeated; replaces the tags', collect)
    .option('--image <url>', 'an image; can be repeated; replaces the images', collect)
    .option('--ciphertext <text>', 'an end-to-end-encrypted payload')
    .option('--event-time <time>', 'the time of these values; default: now', readTimeOption)
}

function patchOf(options: EventOptions, pairs: readonly string[], surroundings: Surroundings) {
  const { title, description, status, message, severity, ciphertext } = options
  return {
    ...credentialsOf(options, surroundings.env),
    event_time: options.eventTime ?? surroundings.nowMs(),
    ...given({ title, description, status, message, severity, ciphertext }),
    ...given({ thing_id: options.thing, tags: options.tag, images: options.image }),
    ...(pairs.length > 0 && { attrs: readPairs(pairs) }),
  }
}

function addCreate(event: Command, surroundings: Surroundings): void {
  withPatch(event.command('create'))
    .description('Begins an Event; the gateway makes its id.')
    .option('--started-at <time>', 'when it began', readTimeOption)
    .action(async (pairs: readonly string[], options: EventOptions, command: Command) => {
      const { client, report } = talk(options, command, surroundings)
      const started = given({ started_at: options.startedAt })
      report(await client.event.create({ ...patchOf(options, pairs, surroundings), ...started }))
    })
}

function addChange(
  event: Command,
  action: 'update' | 'close',
  description: string,
  surroundings: Surroundings,
): void {
  const command = event.command(action).description(description).argument('<event_id>')
  withPatch(command)
  if (action === 'close') command.option('--ended-at <time>', 'when it ended', readTimeOption)
  command.action(
    async (id: string, pairs: readonly string[], options: EventOptions, self: Command) => {
      const { client, report } = talk(options, self, surroundings)
      const patch = { ...patchOf(options, pairs, surroundings), event_id: id }
      report(await client.event[action]({ ...patch, ...given({ ended_at: options.endedAt }) }))
    },
  )
}

interface ListOptions extends ChannelOptions {
  readonly state?: string
  readonly thing?: string
  readonly limit?: number
  readonly cursor?: string
}

function addReading(event: Command, surroundings: Surroundings): void {
  withChannel(event.command('get'))
    .description('Shows an Event as it is now.')
    .argument('<event_id>')
    .action(async (id: string, options: ChannelOptions, command: Command) => {
      const { client, report } = talk(options, command, surroundings)
      const reader = credentialsOf(options, surroundings.env)
      report(await client.event.get({ ...reader, event_id: id }))
    })

  withChannel(event.command('list'))
    .description('Lists the Events of a channel, the newest change first.')
    .option('--state <state>', 'open or closed')
    .option('--thing <thing_id>', 'only those of this Thing')
    .option('--limit <count>', 'how many at most', readWhole(1, 200))
    .option('--cursor <cursor>', 'where the page before ended')
    .action(async (options: ListOptions, command: Command) => {
      const { client, report } = talk(options, command, surroundings)
      const { state, limit, cursor, thing } = options
      const reader = credentialsOf(options, surroundings.env)
      const filter = given({ state, limit, cursor, thing_id: thing })
      const page = await client.event.list({ ...reader, ...filter })
      report(
        page,
        listLines(page, (record: EventRecord) => record.event_id),
      )
    })
}
