// heliograph thing: create, update, archive, delete, get, list.

import type { Command } from 'commander'

import type { ThingRecord } from '#src/client/bodies'
import { listLines } from './listing.ts'
import { credentialsOf, withChannel } from './options.ts'
import type { ChannelOptions } from './options.ts'
import type { Surroundings } from './surroundings.ts'
import { given, talk } from './talk.ts'
import { collect, readPairs, readTexts, readTimeOption, readWhole } from './values.ts'

interface ThingOptions extends ChannelOptions {
  readonly observedAt?: number
  readonly createdAt?: number
  readonly deletedAt?: number
  readonly title?: string
  readonly description?: string
  readonly tag?: readonly string[]
  readonly image?: readonly string[]
  readonly primaryImage?: string
  readonly locationType?: string
  readonly locationValue?: string
  readonly externalId?: readonly string[]
  readonly ciphertext?: string
}

const PAIRS_HELP = 'attrs: JSON values or text; key=null removes the key'

export function addThing(program: Command, surroundings: Surroundings): void {
  const thing = program.command('thing').description('Things: objects whose state changes.')
  addCreate(thing, surroundings)
  addChange(thing, 'update', 'Changes a Thing, or creates it with an id of your own.', surroundings)
  addChange(thing, 'archive', 'Sets a Thing aside; an update brings it back.', surroundings)
  addChange(thing, 'delete', 'Deletes a Thing for good.', surroundings)
  addReading(thing, surroundings)
}

function withPatch(command: Command): Command {
  return withChannel(command)
    .argument('[key=value...]', PAIRS_HELP)
    .option('--title <title>', 'its title')
    .option('--description <text>', 'its description')
    .option('--tag <tag>', 'a tag; can be repeated; replaces the tags', collect)
    .option('--image <url>', 'an image; can be repeated; replaces the images', collect)
    .option('--primary-image <url>', 'the image to show first')
    .option('--location-type <type>', 'the form of the location value')
    .option('--location-value <location>', 'where it is')
    .option(
      '--external-id <key=id>',
      'its id elsewhere; can be repeated; key=null removes',
      collect,
    )
    .option('--ciphertext <text>', 'an end-to-end-encrypted payload')
    .option('--observed-at <time>', 'the time of these values; default: now', readTimeOption)
}

function patchOf(options: ThingOptions, pairs: readonly string[], surroundings: Surroundings) {
  const { title, description, ciphertext } = options
  return {
    ...credentialsOf(options, surroundings.env),
    observed_at: options.observedAt ?? surroundings.nowMs(),
    ...given({ title, description, ciphertext, tags: options.tag, images: options.image }),
    ...given({ primary_image: options.primaryImage, location_type: options.locationType }),
    ...given({ location_value: options.locationValue }),
    ...given({ external_ids: options.externalId && readTexts(options.externalId) }),
    ...(pairs.length > 0 && { attrs: readPairs(pairs) }),
  }
}

function addCreate(thing: Command, surroundings: Surroundings): void {
  withPatch(thing.command('create'))
    .description('Creates a Thing; the gateway makes its id.')
    .option('--created-at <time>', 'when it began', readTimeOption)
    .action(async (pairs: readonly string[], options: ThingOptions, command: Command) => {
      const { client, report } = talk(options, command, surroundings)
      const created = given({ created_at: options.createdAt })
      report(await client.thing.create({ ...patchOf(options, pairs, surroundings), ...created }))
    })
}

type Change = 'update' | 'archive' | 'delete'

function addChange(
  thing: Command,
  action: Change,
  description: string,
  surroundings: Surroundings,
): void {
  const command = thing.command(action).description(description).argument('<thing_id>')
  withPatch(command)
  if (action === 'delete') {
    command.option('--deleted-at <time>', 'when it ended', readTimeOption)
  }
  command.action(
    async (id: string, pairs: readonly string[], options: ThingOptions, self: Command) => {
      const { client, report } = talk(options, self, surroundings)
      const patch = { ...patchOf(options, pairs, surroundings), thing_id: id }
      report(await client.thing[action]({ ...patch, ...given({ deleted_at: options.deletedAt }) }))
    },
  )
}

interface ListOptions extends ChannelOptions {
  readonly state?: string
  readonly limit?: number
  readonly cursor?: string
}

function addReading(thing: Command, surroundings: Surroundings): void {
  withChannel(thing.command('get'))
    .description('Shows a Thing as it is now.')
    .argument('<thing_id>')
    .action(async (id: string, options: ChannelOptions, command: Command) => {
      const { client, report } = talk(options, command, surroundings)
      const reader = credentialsOf(options, surroundings.env)
      report(await client.thing.get({ ...reader, thing_id: id }))
    })

  withChannel(thing.command('list'))
    .description('Lists the Things of a channel, the newest change first.')
    .option('--state <state>', 'active, archived or deleted')
    .option('--limit <count>', 'how many at most', readWhole(1, 200))
    .option('--cursor <cursor>', 'where the page before ended')
    .action(async (options: ListOptions, command: Command) => {
      const { client, report } = talk(options, command, surroundings)
      const { state, limit, cursor } = options
      const reader = credentialsOf(options, surroundings.env)
      const page = await client.thing.list({ ...reader, ...given({ state, limit, cursor }) })
      report(
        page,
        listLines(page, (record: ThingRecord) => record.thing_id),
      )
    })
}
