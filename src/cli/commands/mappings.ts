// heliograph channel: mappings.

import type { ChannelMappings, Mapping } from '#src/client/bodies'
import { CHANNEL, credentialsOf } from '#src/cli/access'
import { command } from '#src/cli/command'
import type { Parameter } from '#src/cli/command'
import { commandClientOf } from '#src/cli/command-client'
import { UsageError } from '#src/cli/endings'
import { dateText } from '#src/cli/facts'
import { jsonFile, jsonIn } from '#src/cli/json-file'
import type { ProcessContext } from '#src/cli/process-context'
import { aligned, onOneLine } from '#src/cli/terminal-text'

const FILE: Parameter<string | undefined> = {
  ...jsonFile('a list of mappings, which replaces that of the channel,'),
  label: '[file]',
  isOptional: true,
  read: ([name]) => name,
}

export const mappings = command({
  description:
    'Shows what other topics of MQTT become in a channel, and the newest that nothing takes. ' +
    'A file replaces the mappings; an empty list removes them.',
  parameters: { file: FILE },
  options: CHANNEL,
  examples: ['channel mappings', 'channel mappings mappings.json'],
  async run(options, context) {
    const { client, report } = await commandClientOf(options, context)
    const { file } = options
    const sent = file === undefined ? {} : { mappings: await listIn(file, context) }
    const credentials = await credentialsOf(options, context)
    const found = await client.channel.mappings({ ...credentials, ...sent })
    report(found, linesOf(found))
  },
})

async function listIn(file: string, context: ProcessContext): Promise<readonly Mapping[]> {
  const value = await jsonIn(file, context)
  if (!Array.isArray(value)) throw new UsageError(`${file}: mappings are a JSON list`)
  return value as readonly Mapping[] // The gateway names what is wrong in one.
}

const linesOf = (found: ChannelMappings): readonly string[] => {
  const rows = [
    ...found.mappings.map((mapping) => ['mapped', mapping.topic, thingText(mapping)]),
    ...found.unmapped.map(({ topic, at }) => ['unmapped', topic, dateText(at)]),
  ]
  return rows.length === 0 ? ['none'] : aligned(rows.map((row) => row.map(onOneLine)))
}

const thingText = ({ thing, kind, time, prefix }: Mapping): string =>
  [
    thing,
    ...(kind === 'message' ? ['as messages'] : []),
    ...(prefix === undefined ? [] : [`prefix ${prefix}`]),
    ...(time === undefined ? [] : [`time ${time}`]),
  ].join(', ')
