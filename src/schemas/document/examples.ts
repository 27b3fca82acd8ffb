// Examples of requests for the OpenAPI document. Each is made from its schema, so that it changes
// with it; a test sends them all to a gateway.

import type { JsonSchema, ObjectSchema } from '#src/schemas/json-schema'
import { BLANK } from '#src/schemas/patterns'
import { EVENT_FIELDS, MESSAGE_FIELDS, THING_FIELDS } from '#src/schemas/fields/submission-fields'
import type { Fields } from '#src/schemas/fields/submission-fields'

const CHANNEL_ID = 'P7K2M9QW4RD8ZT3VN6HB5YPC1G'
const PASSWORD = 'correct horse battery'

/** One value for each member that requests have beside the fields of submissions. */
export const EXAMPLES = {
  channel_id: CHANNEL_ID,
  password: PASSWORD,
  new_password: 'wrong donkey charger',
  channel_name: 'Boiler room',
  device_key: '0f1e2d3c4b5a69788796a5b4c3d2e1f0',
  platform: 'android',
  channel_type: 'private',
  channels: [{ channel_id: CHANNEL_ID, password: PASSWORD }],
  label: 'Alerts of the build server',
  scopes: ['send'],
  thing_prefix: 'boiler-',
  expires_at: 4_102_444_800,
  keep_keys: true,
  key_id: '5b1d6c0e9f8a4b7c8d2e3f4a5b6c7d8e',
  subscriber_id: '2a7c9e41d05b4f8693ce17ab60d8f25e',
  event_id: 'burner-fault-7',
  entity_id: 'boiler-1',
  event_time: 1_767_225_600_000,
  observed_at: 1_767_225_600_000,
  since: 1_767_225_600_000,
  state: 'active',
  model: 'thing',
  after_seq: 0,
  limit: 50,
  cursor: 'c1k',
  notify: {
    min_severity: 'high',
    quiet: [{ from: '22:00', to: '07:00', time_zone: 'Europe/Berlin', unless: 'critical' }],
  },
  rule_id: 'boiler-too-hot',
  dead_letter_id: 17,
  rule: {
    things: { prefix: 'boiler-' },
    when: { attr: 'pressure', above: 3 },
    for: '5m',
    event: { title: '{thing.title}: {pressure} bar', severity: 'high' },
  },
  from: 1_767_225_600_000,
  to: 1_767_229_200_000,
  mappings: [{ topic: 'home/+room/+device/state', thing: '{room}-{device}', time: 'ts' }],
  json: [{ title: '{alert.name}', severity: '{alert.level}', state: '{status}' }],
  secrets: { github: 'a secret of 20 characters' },
  delivery_ids: [`${CHANNEL_ID}-1`, `${CHANNEL_ID}-2`],
} as const

const ALL_EXAMPLES: ReadonlyMap<string, unknown> = new Map([
  ...[MESSAGE_FIELDS, EVENT_FIELDS, THING_FIELDS].flatMap((fields: Fields) =>
    Object.entries(fields).flatMap(([name, { example }]) =>
      example === undefined ? [] : [[name, example] as const],
    ),
  ),
  ...Object.entries(EXAMPLES),
])

/** An example as OpenAPI knows it. */
export interface Example {
  readonly summary: string
  readonly value: Readonly<Record<string, unknown>>
}

/** Examples with the required members alone, and with all members, for each case of the schema. */
export function examplesOf(schema: ObjectSchema): Readonly<Record<string, Example>> {
  const cases = isCases(schema['anyOf']) ? schema['anyOf'] : [undefined]
  const examples: Record<string, Example> = {}
  for (const [at, one] of cases.entries()) {
    const properties = { ...schema.properties, ...one?.properties }
    const required = [...schema.required, ...(one?.required ?? [])]
    const kind = one === undefined ? '' : `${String(one['title'])}: `
    const least = valueOf(properties, (name) => required.includes(name))
    const whole = valueOf(properties, () => true)
    examples[`required${at + 1}`] = { summary: `${kind}what is required`, value: least }
    if (Object.keys(whole).length === Object.keys(least).length) continue
    examples[`everything${at + 1}`] = { summary: `${kind}every member`, value: whole }
  }
  return examples
}

const isCases = (value: unknown): value is readonly ObjectSchema[] => Array.isArray(value)

/** The example of one member. */
export function exampleOf(name: string, { examples, words }: JsonSchema): unknown {
  if (Array.isArray(words)) return words[0]
  if (Array.isArray(examples)) return examples[0]
  return ALL_EXAMPLES.get(name)
}

/** Times from now on: no example of them stays right. */
const FROM_NOW: ReadonlySet<string> = new Set(['deliver_at'])

function valueOf(
  properties: ObjectSchema['properties'],
  isWanted: (name: string) => boolean,
): Example['value'] {
  const sent = Object.entries(properties).filter(
    ([name, { type, pattern }]) =>
      isWanted(name) && type !== 'null' && pattern !== BLANK && !FROM_NOW.has(name),
  )
  return Object.fromEntries(sent.map(([name, schema]) => [name, exampleOf(name, schema)]))
}
