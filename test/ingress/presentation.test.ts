// Goal: the route of presentations: who sets them, what is refused, and what it shows.

import test from 'ava'

import { facesOf } from '#domain/history/presentation'
import { parseChannelId } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import { CREDENTIALS } from '#test/support/making'
import { startIngress } from '#test/support/start-ingress'
import type { Rig } from '#test/support/start-ingress'

const PATH = '/channel/presentation'
const CHANNEL_ID = parseChannelId(CREDENTIALS.channel_id) as ChannelId
const ENTRY = {
  things: { prefix: 'pump-', tag: 'cellar' },
  attrs: {
    temperature: { label: 'Water', unit: '°C', min: -5, max: 90.5, decimals: 1, order: -2 },
    running: { on: 'runs', off: 'stands', hidden: true },
  },
}
const OF_ALL = { things: {}, attrs: { temperature: { unit: 'K' } } }

const use = (rig: Rig, more: object) => rig.post(PATH, { ...CREDENTIALS, ...more })
const dataOf = (presentation: unknown) => ({ data: { presentation } })

test('a presentation is replaced as a whole, read without one, and removed by null or an empty list', async (t) => {
  const rig = await startIngress(t)
  t.deepEqual((await use(rig, {})).json['data'], { presentation: [] })
  for (const removed of [null, []]) {
    const put = await use(rig, { presentation: [OF_ALL, ENTRY] })
    t.like(put, { status: 200, json: dataOf([OF_ALL, ENTRY]) })
    t.deepEqual((await use(rig, {})).json, put.json)
    t.deepEqual((await use(rig, { presentation: removed })).json['data'], { presentation: [] })
    t.deepEqual((await use(rig, {})).json['data'], { presentation: [] })
  }
})

test('what devices say comes first, is no part of what a person sets, and goes where they differ', async (t) => {
  const rig = await startIngress(t)
  const say = (unit: string, label: string) =>
    rig.presentations.discover([{ channelId: CHANNEL_ID, attrs: { power: { unit, label } } }])
  await say('W', 'Power')
  const said = { things: {}, attrs: { power: { label: 'Power', unit: 'W' } } }
  const both = dataOf([said, ENTRY])
  t.like((await use(rig, { presentation: [said, ENTRY] })).json, both)
  t.like((await use(rig, {})).json, { data: { ...both.data, discovered: true } })
  t.is(rig.presentations.kept.get(CHANNEL_ID)?.presentation, JSON.stringify([ENTRY]))
  await say('kW', 'Power')
  const [first] = ((await use(rig, {})).json['data'] as { presentation: unknown[] }).presentation
  t.deepEqual(first, { things: {}, attrs: { power: { label: 'Power' } } })
  await say('W', 'Power')
  t.like((await use(rig, {})).json, dataOf([{ attrs: { power: { label: 'Power' } } }, ENTRY]))
})

const attrsOf = (face: object) => ({ presentation: [{ things: {}, attrs: { t: face } }] })
const ENTRIES = (count: number) => ({ presentation: Array.from({ length: count }, () => OF_ALL) })
const FACES = (count: number) => ({
  presentation: [
    {
      things: {},
      attrs: Object.fromEntries(Array.from({ length: count }, (_, i) => [`a${i}`, {}])),
    },
  ],
})

const AT_THE_LIMIT: readonly object[] = [
  ENTRIES(64),
  FACES(256),
  attrsOf({ decimals: 6, order: 1_000_000, unit: '', label: 'x'.repeat(64) }),
  attrsOf({ decimals: 0, order: -1_000_000, min: 1, max: 1.5 }),
  {
    presentation: [{ things: { prefix: 'x'.repeat(128), tag: null }, attrs: { constructor: {} } }],
  },
]

test('a presentation may be as large as its limits', async (t) => {
  const rig = await startIngress(t)
  for (const body of AT_THE_LIMIT) {
    const { status, json } = await use(rig, body)
    t.is(status, 200, JSON.stringify(json).slice(0, 200))
  }
})

const REFUSED: readonly (readonly [body: object, code: string, field: string])[] = [
  [{ presentation: {} }, 'invalid_json_data', 'presentation'],
  [{ presentation: ['x'] }, 'invalid_json_data', 'presentation'],
  [ENTRIES(65), 'validation_failed', 'presentation'],
  [FACES(257), 'validation_failed', 'presentation[0].attrs'],
  [{ presentation: [{ attrs: {} }] }, 'validation_failed', 'presentation[0].things'],
  [{ presentation: [{ things: null, attrs: {} }] }, 'validation_failed', 'presentation[0].things'],
  [{ presentation: [{ things: {} }] }, 'validation_failed', 'presentation[0].attrs'],
  [{ presentation: [{ ...OF_ALL, more: 1 }] }, 'validation_failed', 'presentation[0]'],
  [{ presentation: [OF_ALL, { things: 1, attrs: {} }] }, 'invalid_json_data', '[1].things'],
  [{ presentation: [{ things: { prefix: '' }, attrs: {} }] }, 'validation_failed', 'things.prefix'],
  [{ presentation: [{ things: { id: 'x' }, attrs: {} }] }, 'validation_failed', '[0].things'],
  [attrsOf({ decimals: 7 }), 'validation_failed', 'attrs.t.decimals'],
  [attrsOf({ decimals: 0.5 }), 'validation_failed', 'attrs.t.decimals'],
  [attrsOf({ order: 1_000_001 }), 'validation_failed', 'attrs.t.order'],
  [attrsOf({ unit: 'x'.repeat(65) }), 'validation_failed', 'attrs.t.unit'],
  [attrsOf({ label: ' ' }), 'validation_failed', 'attrs.t.label'],
  [attrsOf({ min: '1' }), 'validation_failed', 'attrs.t.min'],
  [attrsOf({ min: 2, max: 2 }), 'validation_failed', 'attrs.t.min'],
  [attrsOf({ hidden: 1 }), 'validation_failed', 'attrs.t.hidden'],
  [attrsOf({ colour: 'red' }), 'validation_failed', 'presentation[0].attrs.t'],
  [{ password: 'not the one' }, 'channel_not_found', ''],
]

for (const [body, code, field] of REFUSED) {
  test(`presentation/1: ${JSON.stringify(body).slice(0, 90)} is refused for ${field}, and changes nothing`, async (t) => {
    const rig = await startIngress(t)
    const { json } = await use(rig, body)
    t.is(json['error_code'], code, JSON.stringify(json))
    t.true(JSON.stringify(json).includes(field), JSON.stringify(json))
    t.is(rig.presentations.kept.size, 0)
  })
}

const RIGHTS: readonly (readonly [rights: object, reads: number, puts: number])[] = [
  [{}, 200, 200],
  [{ scopes: ['read'] }, 200, 403],
  [{ scopes: ['send'] }, 403, 403],
  [{ thing_prefix: 'pump-1' }, 200, 403],
]

for (const [rights, reads, puts] of RIGHTS) {
  test(`a key with ${JSON.stringify(rights)} reads with ${reads} and puts with ${puts}`, async (t) => {
    const rig = await startIngress(t)
    const { key } = (await rig.post('/channel/key', { ...CREDENTIALS, ...rights })).json[
      'data'
    ] as { key: string }
    t.is((await use(rig, { password: key })).status, reads)
    t.is((await use(rig, { password: key, presentation: [ENTRY] })).status, puts)
    t.is(rig.presentations.kept.size, puts === 200 ? 1 : 0)
  })
}

test('a key for some Things reads what may be about them, and no more', async (t) => {
  const rig = await startIngress(t)
  const of = (prefix: string) => ({ things: { prefix }, attrs: { a: { unit: prefix } } })
  await use(rig, { presentation: [OF_ALL, of('p'), of('pump-'), of('pump-1'), of('door-')] })
  const made = await rig.post('/channel/key', { ...CREDENTIALS, thing_prefix: 'pump-' })
  const { key } = made.json['data'] as { key: string }
  const read = await rig.post(PATH, { password: key })
  t.deepEqual(read.json['data'], { presentation: [OF_ALL, of('p'), of('pump-'), of('pump-1')] })
})

test('a subscribed device reads the presentation and changes nothing; another one reads nothing', async (t) => {
  const rig = await startIngress(t)
  const { channel_id } = CREDENTIALS
  const registered = async () =>
    (await rig.post('/device/register', { platform: 'android' })).json['data'] as {
      device_key: string
    }
  const [{ device_key }, other] = [await registered(), await registered()]
  await rig.post('/channel/subscribe', { ...CREDENTIALS, device_key })
  await use(rig, { presentation: [ENTRY] })
  t.like((await rig.post(PATH, { channel_id, device_key })).json, dataOf([ENTRY]))
  const changed = await rig.post(PATH, { channel_id, device_key, presentation: [] })
  t.like(changed, { status: 400, json: { error_code: 'validation_failed' } })
  t.is((await rig.post(PATH, { channel_id, ...other })).status, 404)
  t.like((await use(rig, {})).json, dataOf([ENTRY]))
})

test('of the entries that fit a Thing, later ones win member by member', (t) => {
  const none = { values: {}, times: undefined }
  const times = { at: 1, stateAt: 1, changedAt: 1, rev: 1, seq: 1 }
  const thing = (id: string, tags?: string[]) => ({
    id,
    state: 'active' as const,
    ...times,
    fields: { values: tags ? { tags } : {}, times: undefined },
    attrs: none,
    externalIds: none,
  })
  const presentation = [OF_ALL, { things: { prefix: 'pump-' }, attrs: {} }, ENTRY]
  t.deepEqual(facesOf(presentation, thing('pump-1', ['cellar'])).temperature, {
    ...OF_ALL.attrs.temperature,
    ...ENTRY.attrs.temperature,
  })
  t.deepEqual({ ...facesOf(presentation, thing('pump-1')) }, OF_ALL.attrs)
  t.deepEqual({ ...facesOf(presentation, thing('door', ['cellar'])) }, OF_ALL.attrs)
})
