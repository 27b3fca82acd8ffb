// Goal: the numbers of a channel's Things as OpenMetrics text: which they are, who gets them, and
// that others parse them.
// Method: a strict check by the grammar of OpenMetrics, and Prometheus's own parser where it is.

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

import test from 'ava'

import type { Thing } from '#domain/entity'
import type { Fields } from '#domain/submission'
import { SERIES_MAX } from '#src/acceptance/history/metrics-text'
import { run } from '#test/support/command-line'
import { CREDENTIALS } from '#test/support/making'
import { prometheusClient } from '#test/support/python-library'
import { startIngress } from '#test/support/start-ingress'
import type { RigOptions } from '#test/support/start-ingress'
import type { ExecutionContext } from 'ava'

const PATH = '/channel/metrics'
const TOKEN = 'the-gateway-token-of-this-test'
const TITLE = 'Back\\slash "quoted"\nand a line'

const thing = (id: string, attrs: Fields, fields: Fields = {}): Thing => ({
  id,
  state: 'active',
  at: 1,
  stateAt: 1,
  changedAt: 1_700_000_000_500,
  rev: 1,
  seq: 1,
  fields: { values: fields, times: undefined },
  attrs: { values: attrs, times: undefined },
  externalIds: { values: {}, times: undefined },
})

const BOILER = thing(
  'boiler-1',
  {
    temperature: 20.5,
    pressure: -1e21,
    secret: 3,
    'a "b"\\': 0,
    mode: 'eco',
    on: true,
    gone: null,
  },
  { title: TITLE, tags: ['cellar'] },
)
const PRESENTATION = [
  { things: {}, attrs: { temperature: { unit: '°C' }, pressure: { unit: 'bar' } } },
  { things: { tag: 'cellar' }, attrs: { pressure: { unit: '' }, secret: { hidden: true } } },
]

async function rigWith(t: ExecutionContext, things: readonly Thing[], options: RigOptions = {}) {
  const rig = await startIngress(t, options)
  rig.reads.keptThings = [...things]
  const { token = '' } = options
  const proof: Record<string, string> = token === '' ? {} : { authorization: `Bearer ${token}` }
  const post = (path: string, body: object) => rig.post(path, { ...CREDENTIALS, ...body }, proof)
  const keyWith = async (rights: object): Promise<string> =>
    ((await post('/channel/key', rights)).json['data'] as { key: string }).key
  const scrape = (key: string, query = '') =>
    rig.get(`${PATH}${query}`, {
      ...proof,
      [token === '' ? 'authorization' : 'x-channel-key']: key,
    })
  return { rig, post, keyWith, scrape, proof }
}

const bearer = (key: string): string => `Bearer ${key}`

/** Throws for a text that is not OpenMetrics; gives the samples by name and labels. */
function samplesOf(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n')
  if (lines.at(-1) !== '' || lines.at(-2) !== '# EOF') throw new Error('there is no end')
  const samples = new Map<string, number>()
  const families = new Set<string>()
  let family = ''
  for (const line of lines.slice(0, -2)) {
    const [, what, name = ''] = /^# (TYPE|HELP|UNIT) ([a-z_]+) \S.*$/.exec(line) ?? []
    if (what === 'TYPE') {
      if (families.has(name)) throw new Error(`${name} is there twice`)
      families.add((family = name))
    }
    if (what !== undefined && name === family) continue
    const label = String.raw`[a-z_]+="(?:[^"\\\n]|\\[\\"n])*"`
    const sample = new RegExp(String.raw`^([a-z_]+)(\{${label}(?:,${label})*\}) (\S+)$`)
    const [, own, labels = '', value = ''] = sample.exec(line) ?? []
    if (own !== family || !Number.isFinite(Number(value))) throw new Error(`no sample: ${line}`)
    if (samples.has(own + labels)) throw new Error(`twice: ${line}`)
    samples.set(own + labels, Number(value))
  }
  return samples
}

const ESCAPED = String.raw`title="Back\\slash \"quoted\"\nand a line"`

test('a scrape has each number with its unit, the time of the update and the open Events', async (t) => {
  const { rig, post, keyWith, scrape } = await rigWith(t, [BOILER, thing('archive', { n: 1 })])
  rig.reads.keptThings[1] = { ...thing('archive', { n: 1 }), state: 'archived' }
  rig.reads.addEvent('a', { severity: 'high' })
  rig.reads.addEvent('b', { severity: 'high' })
  rig.reads.addEvent('c', {})
  await post('/channel/presentation', { presentation: PRESENTATION })
  const { status, headers, text } = await scrape(bearer(await keyWith({ scopes: ['read'] })))
  t.is(status, 200, text)
  const type = 'application/openmetrics-text; version=1.0.0; charset=utf-8'
  t.is(headers.get('content-type'), type)
  const of = `thing="boiler-1",${ESCAPED}`
  t.deepEqual(Object.fromEntries(samplesOf(text)), {
    [`heliograph_thing_attr{${of},attr="temperature",unit="°C"}`]: 20.5,
    [`heliograph_thing_attr{${of},attr="pressure"}`]: -1e21,
    [String.raw`heliograph_thing_attr{${of},attr="a \"b\"\\"}`]: 0,
    [`heliograph_thing_updated_seconds{${of}}`]: 1_700_000_000.5,
    'heliograph_events_open{severity="high"}': 2,
    'heliograph_events_open{severity="normal"}': 1,
  })
})

test('a scrape is what the parser of Prometheus reads', async (t) => {
  const python = await prometheusClient(t)
  if (python === undefined) return
  const { rig, keyWith, scrape } = await rigWith(t, [BOILER])
  rig.reads.addEvent('a', { severity: 'high' })
  const { text } = await scrape(bearer(await keyWith({})))
  const script = `
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read
text = sys.stdin.read()
print(json.dumps([[s.labels, s.value] for f in read(text) for s in f.samples]))`
  const running = promisify(execFile)(python.file, ['-c', script], { env: python.env })
  running.child.stdin?.end(text)
  const samples = JSON.parse((await running).stdout) as [Record<string, string>, number][]
  t.is(samples.length, samplesOf(text).size)
  t.deepEqual(samples[0], [{ thing: 'boiler-1', title: TITLE, attr: 'temperature' }, 20.5])
})

const HISTORY = new URL('../../docs/history.md', import.meta.url)

for (const token of ['', TOKEN]) {
  test(`the steps for Prometheus and Grafana name what a scrape has${token && ', with a token'}`, async (t) => {
    const text = await readFile(HISTORY, 'utf8')
    const begin = text.indexOf('### Prometheus, step by step')
    const steps = text.slice(begin, text.indexOf('\n## ', begin))
    const named = (pattern: RegExp): string => pattern.exec(steps)?.[1] ?? ''
    const { rig, post, proof } = await rigWith(t, [BOILER], { token })
    const { context } = await run(named(/`heliograph (key create [^`]+)`/))
    const asked = context.requests[0]?.body as object
    t.like(asked, { scopes: ['read'] })
    const { key } = (await post('/channel/key', { ...asked, ...CREDENTIALS })).json['data'] as {
      key: string
    }
    const header = named(/http_headers:\s+([\w-]+):/)
    const shown = token === '' ? { authorization: bearer(key) } : { ...proof, [header]: key }
    const scraped = await rig.get(named(/metrics_path: (\S+)/), shown)
    t.is(scraped.status, 200, scraped.text)
    const samples = [...samplesOf(scraped.text).keys()]
    const names = new Set(steps.match(/heliograph_[a-z_]+/g))
    t.deepEqual([...names].toSorted(), [
      'heliograph_thing_attr',
      'heliograph_thing_updated_seconds',
    ])
    for (const name of names)
      t.true(
        samples.some((sample) => sample.startsWith(`${name}{`)),
        name,
      )
    const [name, label] = named(/Under \*\*Code\*\* enter `([^`]+)}`/).split('{')
    const legend = named(/`\{\{(\w+)\}\}`/)
    const found = samples.filter((one) => one.startsWith(`${name}{`) && one.includes(label ?? '?'))
    t.is(found.length, 1)
    t.true(found[0]?.includes(`${legend}="Back`))
  })
}

test('a scrape of a channel without anything is whole', async (t) => {
  const { keyWith, scrape } = await rigWith(t, [])
  t.is(samplesOf((await scrape(bearer(await keyWith({})))).text).size, 0)
})

const PUMPS = ['door', 'pump-1', 'pump-2'].map((id) => thing(id, { a: 1, b: 2, c: 3 }))
const NARROWED: readonly (readonly [
  rights: object,
  query: string,
  things: string,
  attrs: string,
])[] = [
  [{}, '?prefix=pump-', 'pump-1,pump-2', 'a,b,c'],
  [{}, '?attr=b', 'door,pump-1,pump-2', 'b'],
  [{}, '?attr=a&attr=c&prefix=door', 'door', 'a,c'],
  [{ thing_prefix: 'pump-' }, '', 'pump-1,pump-2', 'a,b,c'],
  [{ thing_prefix: 'pump-' }, '?prefix=pump-2&attr=x', 'pump-2', ''],
]

for (const [rights, query, things, attrs] of NARROWED) {
  test(`a key with ${JSON.stringify(rights)} and ${query} reads ${attrs} of ${things}`, async (t) => {
    const { keyWith, scrape } = await rigWith(t, PUMPS)
    const { text } = await scrape(bearer(await keyWith(rights)), query)
    const names = [...samplesOf(text).keys()]
    const labelsOf = (label: string, metric: string): string => {
      const found = names
        .filter((name) => name.startsWith(metric))
        .map((name) => new RegExp(`${label}="([^"]*)"`).exec(name)?.[1])
      return [...new Set(found)].join()
    }
    t.is(labelsOf('thing', 'heliograph_thing_updated'), things)
    t.is(labelsOf('attr', 'heliograph_thing_attr'), attrs)
  })
}

const WRONG: readonly (readonly [path: string, field: string])[] = [
  [`${PATH}?prefix=pump%201`, 'prefix'],
  [`${PATH}?prefix=${'p'.repeat(129)}`, 'prefix'],
  [`${PATH}?attr=a&attr=b%00`, 'attr'],
  ['/openapi.json?styles=2', 'styles'],
]

test('a query parameter that breaks its schema is refused by its name, a blank one counts as absent', async (t) => {
  const { rig, keyWith } = await rigWith(t, PUMPS)
  const headers = { authorization: bearer(await keyWith({})) }
  for (const [path, field] of WRONG) {
    const refused = await rig.get(path, headers)
    t.like(refused, { status: 400, json: { error_code: 'validation_failed' } }, path)
    t.regex(refused.text, new RegExp(`"${field} must `), path)
  }
  for (const path of [
    `${PATH}?prefix=%20&attr=`,
    `${PATH}?prefix=%20pump-1%20`,
    '/openapi.json?styles=',
  ]) {
    t.is((await rig.get(path, headers)).status, 200, path)
  }
})

test('metrics-text/1: a scrape has its most series, and with one more a sentence says how to narrow it', async (t) => {
  const attrs = (count: number): Fields =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, index]))
  const { rig, keyWith, scrape } = await rigWith(t, [thing('x', attrs(SERIES_MAX - 1))])
  const key = bearer(await keyWith({}))
  t.is(samplesOf((await scrape(key)).text).size, SERIES_MAX)
  rig.reads.addEvent('a', {})
  const refused = await scrape(key)
  t.like(refused, { status: 413, json: { error_code: 'series_limit_exceeded' } })
  t.regex(refused.text, /narrow them by \?prefix= or \?attr=/)
  t.is((await scrape(key, '?attr=a1')).status, 200)
  t.is(rig.meter.gauges.get('channel_scrapes')?.(), 0)
})

const REFUSED: readonly (readonly [rights: object | string, query: string, status: number])[] = [
  ['', '', 400],
  ['correct-horse', '', 404],
  ['A'.repeat(43), '', 404],
  [{ scopes: ['send'] }, '', 403],
  [{ thing_prefix: 'pump-' }, '?prefix=door', 403],
  [{ thing_prefix: 'pump-' }, '?prefix=p', 403],
]

for (const token of ['', TOKEN]) {
  for (const [rights, query, status] of REFUSED) {
    const title = token === '' ? 'without a gateway token' : 'beside the gateway token'
    test(`${title} a scrape by ${JSON.stringify(rights)} ${query} gets ${status}`, async (t) => {
      const { keyWith, scrape } = await rigWith(t, PUMPS, { token })
      const key = typeof rights === 'string' ? rights : await keyWith(rights)
      const refused = await scrape(token === '' && key !== '' ? bearer(key) : key, query)
      t.is(refused.status, status, refused.text)
      if (key !== '') t.false(refused.text.includes(key))
    })
  }
}

test('where the gateway has a token, the key stands in X-Channel-Key, and the token is needed', async (t) => {
  const { rig, keyWith, scrape } = await rigWith(t, PUMPS, { token: TOKEN })
  const key = await keyWith({ scopes: ['read'] })
  t.is((await scrape(key)).status, 200)
  t.is((await rig.get(PATH, { authorization: bearer(key) })).status, 401)
  t.is((await rig.get(PATH, { 'x-channel-key': key })).status, 401)
})
