// Goal: the route of mappings: who sets them, what is refused, and what it shows.

import test from 'ava'

import { parseChannelId } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import { CREDENTIALS } from '#test/support/making'
import { startIngress } from '#test/support/start-ingress'
import type { Rig } from '#test/support/start-ingress'

const PATH = '/channel/mappings'
const MAPPING = { topic: 'home/+room/+device/state', thing: '{room}-{device}', kind: 'attrs' }
const CHANNEL_ID = parseChannelId(CREDENTIALS.channel_id) as ChannelId

const use = (rig: Rig, more: object) => rig.post(PATH, { ...CREDENTIALS, ...more })

test('mappings are replaced as a whole, and read without a list', async (t) => {
  const rig = await startIngress(t)
  const { data } = (await use(rig, {})).json
  t.deepEqual(data, { channel_id: CHANNEL_ID, mappings: [], unmapped: [] })
  const put = await use(rig, { mappings: [MAPPING, { topic: 'x/#all', thing: 'x', prefix: 'p.' }] })
  t.like(put, { status: 200, json: { data: { mappings: [MAPPING, { prefix: 'p.' }] } } })
  t.deepEqual((await use(rig, { mappings: null })).json, put.json)
  t.like((await use(rig, { mappings: [] })).json, { data: { mappings: [] } })
})

test('mappings/1: a change is in force at once, and told to every process', async (t) => {
  const rig = await startIngress(t)
  t.deepEqual(await rig.acceptance.mappings.of(CHANNEL_ID), [])
  const notices: unknown[] = []
  rig.bus.notify = (notice) => void notices.push(notice) // No listener hears it.
  await use(rig, { mappings: [MAPPING] })
  const [known] = (await rig.acceptance.mappings.of(CHANNEL_ID)) ?? []
  t.like(known, MAPPING)
  t.deepEqual(notices, [{ kind: 'mappings-changed', channelId: CHANNEL_ID }])
})

test('topics that nothing takes are shown until a mapping takes them', async (t) => {
  const rig = await startIngress(t)
  rig.acceptance.mappings.unmapped(CHANNEL_ID, 'home/a/b/state', 5)
  rig.acceptance.mappings.unmapped(CHANNEL_ID, 'x/y', 6)
  const [state, other] = [
    { topic: 'home/a/b/state', at: 5 },
    { topic: 'x/y', at: 6 },
  ]
  t.like((await use(rig, {})).json, { data: { unmapped: [other, state] } })
  const { data } = (await use(rig, { mappings: [MAPPING] })).json
  t.deepEqual((data as { unmapped: unknown }).unmapped, [other])
})

const REFUSED: readonly (readonly [body: object, status: number, code: string, field: string])[] = [
  [{ mappings: {} }, 400, 'invalid_json_data', 'mappings'],
  [{ mappings: ['x'] }, 400, 'invalid_json_data', 'mappings'],
  [{ mappings: [MAPPING, { topic: 'a' }] }, 400, 'validation_failed', 'mappings[1].thing'],
  [{ mappings: [{ ...MAPPING, topic: 'a/#' }] }, 400, 'validation_failed', 'mappings[0].topic'],
  [{ mappings: [{ ...MAPPING, tme: 't' }] }, 400, 'validation_failed', 'mappings[0]'],
  [{ mappings: Array.from({ length: 101 }, () => MAPPING) }, 400, 'validation_failed', 'mappings'],
  [{ password: 'not the one' }, 404, 'channel_not_found', ''],
]

for (const [body, status, code, field] of REFUSED) {
  test(`${JSON.stringify(body).slice(0, 80)} is refused for ${field}, and changes nothing`, async (t) => {
    const rig = await startIngress(t)
    const refused = await use(rig, body)
    t.like(refused, { status, json: { error_code: code } }, JSON.stringify(refused.json))
    t.true(JSON.stringify(refused.json).includes(field))
    t.is(rig.mappings.kept.size, 0)
  })
}

const RIGHTS: readonly (readonly [rights: object, reads: number, puts: number])[] = [
  [{}, 200, 200],
  [{ scopes: ['read'] }, 200, 403],
  [{ scopes: ['send'] }, 403, 403],
  [{ thing_prefix: 'a-' }, 403, 403],
]

for (const [rights, reads, puts] of RIGHTS) {
  test(`a key with ${JSON.stringify(rights)} reads with ${reads} and puts with ${puts}`, async (t) => {
    const rig = await startIngress(t)
    const { key } = (await rig.post('/channel/key', { ...CREDENTIALS, ...rights })).json[
      'data'
    ] as { key: string }
    t.is((await use(rig, { password: key })).status, reads)
    t.is((await use(rig, { password: key, mappings: [MAPPING] })).status, puts)
    t.is(rig.mappings.kept.size, puts === 200 ? 1 : 0)
  })
}
