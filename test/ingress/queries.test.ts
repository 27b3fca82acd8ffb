// Goal: the route of queries: who may ask, what is answered, and what is refused.

import test from 'ava'

import { CREDENTIALS } from '#test/support/making'
import { startIngress } from '#test/support/start-ingress'
import type { Rig } from '#test/support/start-ingress'
import { thingOf } from '#test/support/thing-queries'

const THINGS = [
  thingOf({ id: 'boiler-1', seq: 1, fields: { title: 'Boiler', tags: ['hot'] }, attrs: { t: 80 } }),
  thingOf({ id: 'boiler-2', seq: 2, attrs: { t: 20 } }),
  thingOf({ id: 'pump-1', seq: 3, attrs: { t: 90 } }),
  thingOf({ id: 'pump-2', seq: 4, state: 'deleted', attrs: { t: 99 } }),
]

interface Data {
  readonly items: readonly { readonly thing_id: string }[]
  readonly next_cursor?: string
}

async function ask(rig: Rig, body: object) {
  const { status, json } = await rig.post('/thing/query', { ...CREDENTIALS, ...body })
  const data = (json['data'] ?? {}) as Data
  return { status, data, ids: (data.items ?? []).map((item) => item.thing_id), json }
}

test('a query answers as a list does, with a total and groups beside it', async (t) => {
  const rig = await startIngress(t)
  rig.reads.keptThings = [...THINGS]
  const body = {
    where: { attr: 't', above: 50 },
    order: { by: { attr: 't' } },
    limit: '1',
    count: true,
    group_by: [{ prefix: 4 }],
    aggregate: [{ attr: 't', of: 'max' }],
  }
  const { data } = await ask(rig, body)
  const listed = (await rig.post('/thing/get', { ...CREDENTIALS, thing_id: 'boiler-1' })).json
  const { next_cursor: cursor, ...rest } = data
  t.deepEqual(rest as object, {
    items: [listed['data']],
    total: 2,
    groups: [
      { key: ['boil'], count: 1, aggregates: [{ attr: 't', of: 'max', value: 80 }] },
      { key: ['pump'], count: 1, aggregates: [{ attr: 't', of: 'max', value: 90 }] },
    ],
    complete: true,
  })
  t.deepEqual((await ask(rig, { ...body, cursor })).ids, ['pump-1'])
})

test('without anything a query gives every Thing but deleted ones, the newest change first', async (t) => {
  const rig = await startIngress(t)
  rig.reads.keptThings = [...THINGS]
  t.deepEqual((await ask(rig, {})).ids, ['pump-1', 'boiler-2', 'boiler-1'])
  t.deepEqual((await ask(rig, { where: { state: 'deleted' } })).ids, ['pump-2'])
  const { data } = await ask(rig, { where: null, order: null, count: null })
  t.deepEqual(Object.keys(data), ['items'])
})

test('key-rights/1: looking/3: a key with a prefix queries its own Things, and learns of no other', async (t) => {
  const rig = await startIngress(t)
  rig.reads.keptThings = [...THINGS]
  const made = await rig.post('/channel/key', {
    ...CREDENTIALS,
    scopes: ['read'],
    thing_prefix: 'boiler-',
  })
  const { key: password } = made.json['data'] as { key: string }
  const counted = { password, count: true, aggregate: [{ attr: 't', of: 'max' }] }
  const own = await ask(rig, counted)
  t.deepEqual(own.ids, ['boiler-2', 'boiler-1'])
  t.like(own.data, { total: 2, groups: [{ count: 2, aggregates: [{ value: 80 }] }] })
  const within = await ask(rig, { ...counted, where: { prefix: 'boiler-1' } })
  t.deepEqual(within.ids, ['boiler-1'])
  const around = await ask(rig, { ...counted, where: { prefix: 'boil' } })
  t.deepEqual(around.ids, ['boiler-2', 'boiler-1'])
  const foreign = await ask(rig, { ...counted, where: { prefix: 'pump' } })
  t.deepEqual(foreign.data as object, { items: [], total: 0, groups: [], complete: true })
  t.deepEqual((await ask(rig, { password, order: { by: 'changed' } })).ids, own.ids.toReversed())
})

test('who may not read a channel may not query it', async (t) => {
  const rig = await startIngress(t)
  const made = await rig.post('/channel/key', { ...CREDENTIALS, scopes: ['send'] })
  const { key } = made.json['data'] as { key: string }
  t.like(await ask(rig, { password: key }), { status: 403 })
  t.like(await ask(rig, { password: 'not the one' }), { status: 404 })
  t.like(await ask(rig, { password: undefined, device_key: 'f'.repeat(32) }), { status: 404 })
})

const REFUSED: readonly (readonly [body: object, field: string])[] = [
  [{ where: { all: [{ attr: 't', above: 'x' }] } }, 'where.all[0].above'],
  [{ where: 'tag:x' }, 'where'],
  [{ limit: 1_001 }, 'limit'],
  [{ limit: 0 }, 'limit'],
  [{ cursor: 'c1' }, 'cursor'],
  [{ count: 'yes' }, 'count'],
  [{ group_by: 'state' }, 'group_by'],
]

test('a bad query is refused by the name of its member', async (t) => {
  const rig = await startIngress(t)
  for (const [body, field] of REFUSED) {
    const { status, json } = await ask(rig, body)
    t.is(status, 400, JSON.stringify(json))
    t.true(JSON.stringify(json).includes(field), JSON.stringify(json))
  }
  t.is((await ask(rig, { limit: 1_000 })).status, 200)
})
