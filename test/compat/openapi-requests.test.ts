// Goal: the OpenAPI document says exactly what the imitated tools' routes take.
// Method: each member of a query or a body gets values around its rules, in a request that is
// right otherwise; the schema must take the value exactly when the gateway does.

import { Ajv2020 } from 'ajv/dist/2020.js'
import test from 'ava'

import { isRecord } from '#domain/record'
import { KEY, startStyles } from '#test/support/compatibility-rig'
import type { Rig } from '#test/support/start-ingress'

/** One for all schemas: each would prepare its own. */
const ajv = new Ajv2020({ strict: false })

type Members = Readonly<Record<string, unknown>>

/** The value at these names, which the document must have. */
function at(node: unknown, ...names: readonly string[]): Members {
  let found = node
  for (const name of names) found = isRecord(found) ? found[name] : undefined
  if (!isRecord(found)) throw new Error(`nothing at ${names.join(' ')}`)
  return found
}

const list = (value: unknown): readonly Members[] =>
  Array.isArray(value) ? value.filter(isRecord) : []

const TEXTS = [
  '', ' \u3000', ' a ', 'a\u0000', '\u0000', 'ä\n😀', '%a', '0', '1', '5', '6', ' HIGH ', 'highest', 'none', 'LATEST',
  '10m', '10x', '1234567890123', 'a'.repeat(12), 'http://', 'ftp://a', 'HTTPS://a b', ' http://ä\u0000', 'http:// a',
  '[', '[]', ' [ ] ', '[\u3000]', '[\f]', '[1', 'view, a, http://b', 'view\n[', 'a'.repeat(64), 'a'.repeat(65), ',', 'a,b',
] // oxfmt-ignore

const VALUES: readonly unknown[] = [
  ...TEXTS, null, true, 0, 3, 6, -1, 1.5, {}, { a: 1 }, [], [''], ['\u0000'], ['', 'a'], [1], [{}], [{ a: [] }],
] // oxfmt-ignore

interface Compared {
  readonly value: unknown
  readonly isFit: boolean
  readonly status: number
}

/** Values of which the schema thinks otherwise than the gateway. */
const differing = (compared: readonly Compared[]): readonly Compared[] =>
  compared.filter(({ isFit, status }) => isFit !== status < 400)

const QUERIES: readonly (readonly [method: string, template: string, path: string])[] = [
  ['put', '/compat-topic/{topic}', `/compat-topic/${KEY}`],
  ['post', '/compat-topic/{topic}/{sequence_id}', `/compat-topic/${KEY}/a`],
  ['get', '/compat-topic/{topic}/publish', `/compat-topic/${KEY}/publish`],
  ['get', '/compat-topic/{topic}/json', `/compat-topic/${KEY}/json`],
  ['get', '/compat-devicekey/{device_key}', `/compat-devicekey/${KEY}`],
]

for (const [method, template, path] of QUERIES) {
  test(`each parameter of ${method} ${template} has the form that the gateway takes`, async (t) => {
    const rig = await startStyles(t)
    const document = (await rig.get('/openapi.json?styles=1')).json
    const parameters = list(at(document, 'paths', template, method)['parameters'])
    const inQuery = parameters.filter((parameter) => parameter['in'] === 'query')
    t.true(inQuery.length > 5)
    t.false(parameters.some((parameter) => parameter['in'] === 'header'))
    for (const { name, schema } of inQuery) {
      // Without poll the answer goes on until the test ends.
      if (name === 'poll') continue
      const fits = ajv.compile(at(schema))
      const compared: Compared[] = []
      for (const value of TEXTS) {
        const query = new URLSearchParams({ poll: '1', [String(name)]: value }).toString()
        const { status } = await rig.send(`${path}?${query}`, { method: method.toUpperCase() })
        compared.push({ value, isFit: fits(value), status })
      }
      t.deepEqual(differing(compared), [], String(name))
    }
  })
}

interface Body {
  readonly template: string
  readonly path: string
  /** Members that make each request right. */
  readonly base: Members
}

const BODIES: readonly Body[] = [
  { template: '/compat-topic', path: '/compat-topic', base: { topic: KEY } },
  { template: '/compat-sendkey/{sendkey}', path: `/compat-sendkey/${KEY}`, base: {} },
  {
    template: '/compat-devicekey/{device_key}',
    path: `/compat-devicekey/${KEY}`,
    base: { body: 'a' },
  },
  { template: '/compat-devicekey/push', path: '/compat-devicekey/push', base: { device_key: KEY } },
  {
    template: '/compat-devicekey/push',
    path: '/compat-devicekey/push',
    base: { device_keys: [KEY] },
  },
]

for (const { template, path, base } of BODIES) {
  const members = Object.keys(base).join() || 'no other member'
  test(`the JSON of ${template} with ${members} has the form that the gateway takes`, async (t) => {
    const rig = await startStyles(t)
    const document = (await rig.get('/openapi.json?styles=1')).json
    const operation = at(document, 'paths', template, 'post')
    const schema = at(operation, 'requestBody', 'content', 'application/json', 'schema')
    const fits = ajv.compile(schema)
    for (const name of namesIn(schema)) {
      const compared: Compared[] = []
      for (const value of VALUES) {
        const body = { ...base, [name]: value }
        compared.push({ value, isFit: fits(body), status: await statusOf(rig, path, body) })
      }
      t.deepEqual(differing(compared), [], name)
    }
  })
}

/** Names of the members that a body may have. */
function namesIn(schema: Members): readonly string[] {
  const schemas = [schema, ...list(schema['anyOf'])]
  return [...new Set(schemas.flatMap((one) => Object.keys(one['properties'] ?? {})))]
}

/** The status; 200 where the form is right and only the key is unknown. */
async function statusOf(rig: Rig, path: string, body: Members): Promise<number> {
  const { status } = await rig.post(path, body)
  return status === 404 ? 200 : status
}

test('the document has the routes of imitated tools only where they are asked for', async (t) => {
  const rig = await startStyles(t)
  const pathsOf = async (query: string) =>
    Object.keys(at((await rig.get(`/openapi.json${query}`)).json, 'paths'))
  const isOfStyle = (path: string): boolean => path.startsWith('/compat-')
  t.false((await pathsOf('')).some(isOfStyle))
  t.true((await pathsOf('?styles=1')).some(isOfStyle))
})

test('a text body may hold any character', async (t) => {
  const rig = await startStyles(t)
  for (const body of ['a\u0000b', '\u0000', '\ufeff', '[', '😀']) {
    const { status, text } = await rig.send(`/compat-topic/${KEY}`, { method: 'PUT', body })
    t.is(status, 200, text)
  }
})
