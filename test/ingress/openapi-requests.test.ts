// Goal: the OpenAPI document says exactly what the gateway takes.
// Method: every example of the document is sent; then one member of an example at a time gets
// values around its rules, and the verdict of the schema is compared with that of the gateway.
// The document names one form of each value. The gateway takes others, each for the same as a form
// of the document: null and blank for what is left out, a number as text, a word in any case. Such
// a value gets the verdict of the form that it stands for.

import { Ajv2020 } from 'ajv/dist/2020.js'
import test from 'ava'
import type { ExecutionContext } from 'ava'
import { Client } from 'undici'

import { parseDeviceKey } from '#domain/identity'
import { deviceIdOf } from '#src/acceptance/devices/device-identity'
import { EXAMPLES } from '#src/schemas/document/examples'
import { isRecord } from '#domain/record'
import { MEMBER_ROWS } from '#test/support/member-rows'
import { addChannel, clientOf, startIngress } from '#test/support/start-ingress'

type Record = Readonly<{ [name: string]: unknown }>

interface Operation {
  readonly method: string
  readonly path: string
  readonly schema: Record
  readonly examples: readonly Record[]
  readonly parameters: readonly Record[]
}

/** The value at these names, which the document must have. */
function at(node: unknown, ...names: readonly string[]): Record {
  let found = node
  for (const name of names) found = isRecord(found) ? found[name] : undefined
  return isRecord(found) ? found : {}
}

const list = (value: unknown): readonly Record[] =>
  Array.isArray(value) ? value.filter(isRecord) : []

function operationsOf(document: Record): readonly Operation[] {
  return Object.entries(at(document, 'paths')).flatMap(([template, methods]) =>
    Object.entries(at(methods)).map(([method, operation]) => {
      const content = at(operation, 'requestBody', 'content', 'application/json')
      const parameters = list(at(operation)['parameters'])
      const path = template.replace(/\{(\w+)\}/g, (_, name: string) =>
        String(parameters.find((parameter) => parameter['name'] === name)?.['example']),
      )
      return {
        method,
        path,
        parameters,
        schema: resolved(document, at(content, 'schema')),
        examples: Object.values(at(content, 'examples')).map((example) => at(example, 'value')),
      }
    }),
  )
}

/** The component that a reference names. */
const resolved = (document: Record, { $ref }: Record): Record =>
  at(document, 'components', 'schemas', String($ref).split('/').at(-1) ?? '')

/** Some routes are the operator's, who proves it. */
const TOKEN = 'the-gateway-token'

/** The document of a gateway that knows the channel and, if wanted, the device of the examples. */
async function start(t: ExecutionContext, hasDevice: boolean) {
  const own = await startIngress(t, { token: TOKEN })
  const rig = { ...own, ...clientOf(t, own.port, TOKEN) }
  await addChannel(rig.channels, EXAMPLES.channel_id, EXAMPLES.password)
  const deviceKey = parseDeviceKey(EXAMPLES.device_key)
  if (hasDevice && deviceKey !== undefined) {
    await rig.devices.create(deviceIdOf(deviceKey), 'android')
  }
  const document = (await rig.get('/openapi.json')).json
  return { rig, document, operations: operationsOf(document) }
}

test('every request with a body has examples, and each has the form that the gateway takes', async (t) => {
  const { rig, operations } = await start(t, false)
  for (const { method, path, schema, examples } of operations) {
    if (method !== 'post') continue
    t.true(examples.length > 0, path)
    for (const example of examples) {
      for (const [name, value] of Object.entries(example))
        t.not(value, undefined, `${path} ${name}`)
      t.true(isRecord(schema['properties']), path)
      const { status, text } = await rig.post(path, example)
      // The gateway need not know the credentials of an example.
      t.true(status === 200 || status === 404, `${path} ${JSON.stringify(example)} ${text}`)
    }
  }
})

test('every example of query parameters has the form that the gateway takes', async (t) => {
  const { rig, operations } = await start(t, true)
  for (const { method, path, parameters } of operations) {
    if (method !== 'get') continue
    for (const query of queriesOf(parameters)) {
      const target = query === '' ? path : `${path}?${query}`
      const { status, text } = await rig.get(target, { 'x-channel-key': 'A'.repeat(43) })
      t.true(status === 200 || status === 404, `${path}?${query} ${text}`)
    }
  }
})

/** Query strings of the examples: one for each example of a parameter that is an object. */
function queriesOf(parameters: readonly Record[]): readonly string[] {
  const sent = parameters.filter((parameter) => parameter['in'] === 'query')
  const single = sent.filter((parameter) => 'example' in parameter)
  const grouped = sent.flatMap(({ examples }) => Object.values(at(examples)))
  const base = single.map(({ name, example }): [string, string] => [
    String(name),
    isRecord(example) ? JSON.stringify(example) : String(example),
  ])
  if (grouped.length === 0) return [new URLSearchParams(base).toString()]
  return grouped.map((example) => {
    const members = Object.entries(at(example, 'value'))
    const own = members.map(([name, value]): [string, string] => [name, String(value)])
    return new URLSearchParams([...own, ...base]).toString()
  })
}

/** Values around the rules of members; of each the schemas and the readers think the same. */
const VALUES: readonly unknown[] = [
  undefined, null, '', ' \u00a0\u3000\ufeff', true, false, [], {}, 0, -1, 1, 200, 201, 1.5,
  'a', ' a ', 'a b', 'a\u0000', '\u0085a', 'a'.repeat(65), 'a'.repeat(128), 'a'.repeat(129), 'ä'.repeat(8),
  'ä'.repeat(65), '😀'.repeat(32), '😀'.repeat(33), '1234567', ' 12345678 ', 'a'.repeat(512),
  'a'.repeat(64), '-1', '+5.0', '5.5', '1e3', '0x10', '0200', '12', '99999999999', '999999999999',
  253_402_300_799.5, 253_402_300_800, 999_999_999_999, 1e12, 253_402_300_799_999, 253_402_300_800_000,
  ` ${EXAMPLES.channel_id.toLowerCase()}`, `${EXAMPLES.channel_id.slice(0, 25)}1`, EXAMPLES.channel_id.slice(1),
  'P7K2M9-QW4RD8-ZT3VN6-HB5YPC-IO', 'U'.repeat(26), 'PRIVATE', 'win', 'iOS ', 'Thing', 'OPEN', 'deleted', 'archived',
  'c0', 'c00', 'c', 'cz', 'f'.repeat(32), 'F'.repeat(64), `${'0'.repeat(63)} `, 'x'.repeat(15), 'x'.repeat(16), 'x'.repeat(4097),
  [''], ['a', ' b '], ['a\u0000'], [1], [null], ['a'.repeat(64)], ['a'.repeat(65)], Array(33).fill(0).map((_, n) => `t${n}`),
  [`${EXAMPLES.channel_id}-0`], [`${EXAMPLES.channel_id}-7`], [`${EXAMPLES.channel_id}-07`],
  { '': 1 }, { a: '' }, { a: null }, { a: ' ' }, { a: [1] }, { a: 'b\u0000' }, { 'a\u0000': 1 }, { ['k'.repeat(64)]: true },
  { ['k'.repeat(65)]: true }, { a: 'v'.repeat(512) }, { a: 'v'.repeat(513) }, { a: { b: [null, 'c\u0000'] } },
  { a: { b: [null, 'c', 1.25] } },
] // oxfmt-ignore

test('the schema of a request takes a body exactly when the gateway does', async (t) => {
  const { rig, document, operations } = await start(t, true)
  const formats = { int64: true, double: true } as const
  const ajv = new Ajv2020({ strict: false, formats })
  ajv.addSchema({ ...document, $id: 'document' })
  const statusOf = bareSender(t, rig.port)
  const differing: string[] = []
  const seen = new Set<string>()
  let compared = 0
  for (const { path, schema, examples } of operations) {
    if (examples.length === 0) continue
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/')
    const fits = ajv.compile(JSON.parse(text) as object)
    for (const example of examples) {
      t.true(fits(example), `${path} ${JSON.stringify(fits.errors)}`)
      // One with fewer members tells nothing that one with all of them does not.
      if (!isWhole(example, examples)) continue
      for (const [name, value] of membersOf({ path, schema, example }, seen)) {
        const body = JSON.parse(JSON.stringify({ ...example, [name]: value })) as Record
        compared += 1
        const isFit = fits(asNamed(body, schema))
        // A body that fits must not be refused for its form; one that does not must not be taken.
        if ((await statusOf(path, body)) === (isFit ? 400 : 200)) {
          differing.push(`${path} ${isFit} ${name}: ${JSON.stringify(value)}`)
        }
      }
    }
  }
  t.true(compared > 1000)
  t.deepEqual(differing, [])
})

test('a Message has one time to be sent at, and the schema says so as the gateway does', async (t) => {
  const { rig, document } = await start(t, false)
  const ajv = new Ajv2020({ strict: false, formats: { int64: true, double: true } })
  const schemas = JSON.stringify(at(document, 'components', 'schemas'))
  const schema = at(document, 'components', 'schemas', 'SendMessageRequest')
  const fits = ajv.compile({ ...schema, components: { schemas: JSON.parse(schemas) as object } })
  const { channel_id, password } = EXAMPLES
  const deliver_at = rig.time.nowMs() + 3_600_000
  for (const [more, isRight] of [
    [{ deliver_at }, true],
    [{ delay: '1h' }, true],
    [{ deliver_at, delay: '' }, true],
    [{ deliver_at, delay: '1h' }, false],
  ] as const) {
    const body = { channel_id, password, title: 'a', ...more }
    t.is(fits(body), isRight, JSON.stringify(more))
    t.is((await rig.post('/message', body)).status === 200, isRight, JSON.stringify(more))
  }
})

/** The body in the forms that the document names. */
function asNamed(body: Record, schema: Record): Record {
  const members = Object.entries(body).map(([name, value]): [string, unknown] => [
    name,
    formOf(value, at(schema, 'properties', name)),
  ])
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}

/** The form of a value that the document names; undefined for a member that is left out. */
function formOf(value: unknown, { type, enum: words }: Record): unknown {
  if (value === null) return undefined
  if (typeof value !== 'string') return value
  const text = value.trim()
  if (type === 'number' || type === 'integer') {
    if (text === '') return undefined
    return /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : value
  }
  if (!Array.isArray(words)) return value
  const word = text.toLowerCase()
  return text === '' ? undefined : word === 'win' ? 'windows' : word
}

/** True for an example whose members no other one has with further ones. */
const isWhole = (example: Record, examples: readonly Record[]): boolean =>
  !examples.some(
    (other) =>
      Object.keys(other).length > Object.keys(example).length &&
      Object.keys(example).every((name) => name in other),
  )

/** Times that are compared with the present, or with each other, as no schema can. */
const BEYOND_SCHEMAS: ReadonlySet<string> = new Set([
  '/message deliver_at',
  '/rule/test from',
  '/rule/test to',
  '/thing/series from',
  '/thing/series to',
  '/channel/export from',
  '/channel/export to',
])

interface Sent {
  readonly path: string
  readonly schema: Record
  readonly example: Record
}

/** Each member with each value; one whose rule another request has had is left out. */
function* membersOf(
  { path, schema, example }: Sent,
  seen: Set<string>,
): Generator<readonly [string, unknown]> {
  for (const [name, rule] of Object.entries(at(schema, 'properties'))) {
    // The key holds the members of the example when some of them depend on each other.
    const isTied = JSON.stringify([schema['if'], schema['else']]).includes(`"${name}":`)
    const key = `${name} ${JSON.stringify({ ...at(rule), description: '' })} ${isTied ? Object.keys(example).join() : ''}`
    if (seen.has(key) || BEYOND_SCHEMAS.has(`${path} ${name}`)) continue
    seen.add(key)
    for (const value of [...VALUES, ...(MEMBER_ROWS[name] ?? [])]) yield [name, value]
  }
}

/** Sends thousands of bodies, for which `fetch` would take most of the processor time of the test. */
function bareSender(
  t: ExecutionContext,
  port: number,
): (path: string, body: Record) => Promise<number> {
  const client = new Client(`http://127.0.0.1:${port}`)
  t.teardown(() => client.destroy())
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` }
  return async (path, content) => {
    const sent = { path, method: 'POST', headers, body: JSON.stringify(content) } as const
    const { statusCode, body } = await client.request(sent)
    await body.dump()
    return statusCode
  }
}
