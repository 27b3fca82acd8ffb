// heliograph channel: mappings and presentation, both lists in a file.

import type { ChannelMappings, Mapping, PresentedThings } from '#src/client/bodies'
import { CHANNEL, credentialsOf } from '#src/cli/access'
import { command } from '#src/cli/command'
import type { Parameter } from '#src/cli/command'
import { commandClientOf } from '#src/cli/command-client'
import { UsageError } from '#src/cli/endings'
import { jsonFile, jsonIn } from '#src/cli/json-file'
import { HEADER, listWhole } from '#src/cli/paging'
import type { ProcessContext } from '#src/cli/process-context'
import { dateText } from '#src/cli/terminal-text'

const fileOf = (what: string): Parameter<string | undefined> => ({
  ...jsonFile(`a list ${what}, which replaces that of the channel,`),
  label: '[file]',
  isOptional: true,
  read: ([name]) => name,
})

export const mappings = command({
  description:
    'Shows what other topics of MQTT become in a channel, and the newest that nothing takes. ' +
    'A file replaces the mappings; an empty list removes them.',
  parameters: { file: fileOf('of mappings') },
  options: { ...HEADER, ...CHANNEL },
  examples: ['channel mappings', 'channel mappings mappings.json'],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    const { file } = options
    const sent =
      file === undefined ? {} : { mappings: await listIn<Mapping>('mappings', file, context) }
    const credentials = await credentialsOf(options, context)
    const found = await client.channel.mappings({ ...credentials, ...sent })
    if (options.json === true) report(found)
    else await listWhole(topicTable(found), options, context)
  },
})

export const presentation = command({
  description:
    'Shows how the attrs of Things are shown: label, unit, range and the like. A file replaces ' +
    'that; an empty list removes it.',
  parameters: { file: fileOf('for Things of a prefix or a tag') },
  options: { ...HEADER, ...CHANNEL },
  examples: ['channel presentation', 'channel presentation presentation.json'],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    const { file } = options
    const list = file && (await listIn<PresentedThings>('presentations', file, context))
    const credentials = await credentialsOf(options, context)
    const found = await client.channel.presentation({
      ...credentials,
      ...(list && { presentation: list }),
    })
    if (options.json === true) report(found)
    else await listWhole(faceTable(found.presentation), options, context)
  },
})

const faceTable = (presented: readonly PresentedThings[]) => ({
  items: presented.flatMap(({ things, attrs }) =>
    Object.entries(attrs).map(([name, face]) => ({ things, name, face })),
  ),
  headings: ['THINGS', 'ATTR', 'FACE'],
  cells: ({ things, name, face }: FaceRow) => [thingsText(things), name, faceText(face)],
})

interface FaceRow extends Pick<PresentedThings, 'things'> {
  readonly name: string
  readonly face: object
}

const thingsText = ({ prefix, tag }: PresentedThings['things']): string =>
  [prefix && `prefix ${prefix}`, tag && `tag ${tag}`].filter(Boolean).join(', ') || 'all'

const faceText = (face: object): string =>
  Object.entries(face)
    .map(([member, value]) => `${member} ${value}`)
    .join(', ')

/** The gateway names what is wrong in an item. */
async function listIn<Item>(
  name: string,
  file: string,
  context: ProcessContext,
): Promise<readonly Item[]> {
  const value = await jsonIn(file, context)
  if (!Array.isArray(value)) throw new UsageError(`${file}: ${name} are a JSON list`)
  return value as readonly Item[]
}

const topicTable = ({ mappings: mapped, unmapped }: ChannelMappings) => ({
  items: [
    ...mapped.map((mapping) => ['mapped', mapping.topic, thingText(mapping)]),
    ...unmapped.map(({ topic, at }) => ['unmapped', topic, dateText(at)]),
  ],
  headings: ['KIND', 'TOPIC', 'THING OR TIME'],
  cells: (row: readonly string[]) => row,
})

const thingText = ({ thing, kind, time, prefix }: Mapping): string =>
  [
    thing,
    ...(kind === 'message' ? ['as messages'] : []),
    ...(prefix === undefined ? [] : [`prefix ${prefix}`]),
    ...(time === undefined ? [] : [`time ${time}`]),
  ].join(', ')
