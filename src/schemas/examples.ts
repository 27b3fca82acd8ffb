// Examples of requests for the OpenAPI document. Each is made from its schema, so that it changes
// with it; a test sends them all to a gateway.

import type { JsonSchema, ObjectSchema } from './json-schema.ts'
import { BLANK } from './patterns.ts'

const CHANNEL_ID = 'P7K2M9QW4RD8ZT3VN6HB5YPC1G'
const PASSWORD = 'correct horse battery'

/** One value for each member that requests have. */
export const EXAMPLES = {
  channel_id: CHANNEL_ID,
  password: PASSWORD,
  new_password: 'wrong donkey charger',
  channel_name: 'Boiler room',
  device_key: '0f1e2d3c4b5a69788796a5b4c3d2e1f0',
  platform: 'android',
  channel_type: 'private',
  provider_token: 'fcm-registration-token-01',
  channels: [{ channel_id: CHANNEL_ID, password: PASSWORD }],
  label: 'Alerts of the build server',
  key_id: '5b1d6c0e9f8a4b7c8d2e3f4a5b6c7d8e',
  op_id: 'order-4711:created',
  thing_id: 'boiler-1',
  event_id: 'burner-fault-7',
  entity_id: 'boiler-1',
  title: 'Boiler 1',
  description: 'Gas boiler in the cellar',
  body: 'The pressure is **2.9 bar**.',
  message: 'Waiting for the technician',
  status: 'acknowledged',
  severity: 'high',
  occurred_at: 1_767_225_600_000,
  event_time: 1_767_225_600_000,
  observed_at: 1_767_225_600_000,
  started_at: 1_767_225_000,
  ended_at: 1_767_229_200,
  created_at: 1_735_689_600,
  deleted_at: 1_767_229_200,
  since: 1_767_225_600_000,
  ttl: 1_767_229_200_000,
  url: 'https://example.com/boilers/1',
  images: ['https://example.com/boilers/1.jpg'],
  primary_image: 'https://example.com/boilers/1.jpg',
  tags: ['heating', 'cellar'],
  location_type: 'geo',
  location_value: '48.2082,16.3738',
  attrs: { pressure: 2.9, burner: { on: true }, alarm: null },
  external_ids: { serial: 'B-2026-0001' },
  metadata: { site: 'vienna', floor: -1, leased: false },
  ciphertext: 'bm90IHJlYWxseSBlbmNyeXB0ZWQ=',
  state: 'active',
  model: 'thing',
  after_seq: 0,
  limit: 50,
  cursor: 'c1k',
  delivery_ids: [`${CHANNEL_ID}-1`, `${CHANNEL_ID}-2`],
} as const

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
export function exampleOf(name: string, { examples }: JsonSchema): unknown {
  if (Array.isArray(examples)) return examples[0]
  return name in EXAMPLES ? EXAMPLES[name as keyof typeof EXAMPLES] : undefined
}

function valueOf(
  properties: ObjectSchema['properties'],
  isWanted: (name: string) => boolean,
): Example['value'] {
  const sent = Object.entries(properties).filter(
    ([name, { type, pattern }]) => isWanted(name) && type !== 'null' && pattern !== BLANK,
  )
  return Object.fromEntries(sent.map(([name, schema]) => [name, exampleOf(name, schema)]))
}
