// Goal: each form of a query is taken up to its limits, and refused behind them by its path.

import test from 'ava'

import { isFault } from '#domain/fault'
import { PAGE_BYTES_MAX } from '#domain/store-ports'
import type { Fields } from '#domain/submission'
import { encodePlace } from '#domain/things/cursor'
import { readQuery } from '#src/queries/query'
import { LOOKING_BOUNDS } from '#src/queries/looking'
import { METRES_MAX } from '#src/queries/places'
import { everyItem, pageOver, thingOf } from '#test/support/thing-queries'

function refusalOf(sent: object): string {
  const read = readQuery(sent)
  return isFault(read) ? (read.detail ?? read.code) : 'no fault'
}

const nested = (depth: number): object => (depth === 0 ? { tag: 'x' } : { not: nested(depth - 1) })
const listOf = (count: number): object[] => Array.from({ length: count }, () => ({ tag: 'x' }))
const sums = (count: number): object[] =>
  Array.from({ length: count }, () => ({ attr: 't', of: 'sum' }))
const long = (count: number): object[] =>
  Array.from({ length: count }, () => ({ cel: `"${'a'.repeat(1_000)}" == ""` }))
const X = 'x'.repeat(256)

const TAKEN: readonly object[] = [
  {},
  { where: null, order: null, group_by: null, aggregate: null, count: null, cursor: ' ' },
  { where: nested(8) },
  { where: { any: listOf(32) } },
  { where: { text: X } },
  { where: { tag: X } },
  { where: { prefix: 'a'.repeat(64) } },
  { where: { near: [-90, 180], within: METRES_MAX } },
  { where: { near: [90, -180], within: 0 } },
  { where: { cel: 'thing.title == "x"' } },
  { order: { by: 'title' } },
  { order: { by: { attr: ['a', 'b'] }, descending: true } },
  { group_by: ['state', { prefix: 64 }] },
  { group_by: [{ attr: X }] },
  { aggregate: sums(8) },
]

const REFUSED: readonly (readonly [sent: object, says: string])[] = [
  [{ where: {} }, 'where: must have state, tag, prefix, text, near, attr, silent'],
  [{ where: [] }, 'where: must be an object'],
  [{ where: nested(9) }, 'where.not.not.not.not.not.not.not.not.not: must not be nested deeper than 8'],
  [{ where: { any: listOf(33) } }, 'where.any: must be a list of 1 to 32'],
  [{ where: { all: [{ attr: 't', above: 'x' }] } }, 'where.all[0].above: must be a number'],
  [{ where: { tag: 'x', state: 'active' } }, 'where.tag: is not known; known are state'],
  [{ where: { attr: 't', above: 1, tag: 'x' } }, 'where.tag: is not known'],
  [{ where: { state: 'gone' } }, 'where.state: must be one of active, archived, deleted'],
  [{ where: { text: `${X}x` } }, 'where.text: must be a text of 1 to 256'],
  [{ where: { tag: '' } }, 'where.tag: must be a text'],
  [{ where: { tag: 'a\0' } }, 'where.tag: must not hold NUL'],
  [{ where: { attr: 't', equals: 'a\0' } }, 'where.equals: must not hold NUL'],
  [{ aggregate: [{ attr: 'a\0', of: 'sum' }] }, 'aggregate[0].attr: must not hold NUL'],
  [{ where: { prefix: 'a'.repeat(65) } }, 'where.prefix: must be 1 to 64 letters'],
  [{ where: { prefix: 'ä' } }, 'where.prefix: must be 1 to 64 letters'],
  [{ where: { near: [90.1, 0], within: 1 } }, 'where.near: must be [latitude, longitude]'],
  [{ where: { near: [0, -180.1], within: 1 } }, 'where.near: must be [latitude, longitude]'],
  [{ where: { near: [0, 0] } }, 'where.within: must be a number'],
  [{ where: { near: [0, 0], within: -1 } }, 'where.within: must be 0 to'],
  [{ where: { near: [0, 0], within: METRES_MAX + 1 } }, 'where.within: must be 0 to'],
  [{ where: { near: [0], within: 1 } }, 'where.near: must be a list of 2'],
  [{ where: { cel: 'attrs.t >' } }, 'where.cel: is no expression'],
  [{ where: { silent: '0s' } }, 'where.silent: must be a whole number of s, m, h or d'],
  [{ where: { any: long(9), all: [] } }, 'where.any: is not known'],
  [{ where: { any: long(17) } }, 'where: must be at most 16384 bytes'],
  [{ order: {} }, 'order.by: must be one of changed, thing_id, title'],
  [{ order: { by: 'seq' } }, 'order.by: must be one of changed'],
  [{ order: { by: { attr: `${X}x` } } }, 'order.by.attr: must be a name of at most 256'],
  [{ order: { by: 'title', descending: 1 } }, 'order.descending: must be true or false'],
  [{ group_by: [] }, 'group_by: must be a list of 1 to 2'],
  [{ group_by: ['state', 'tag', 'state'] }, 'group_by: must be a list of 1 to 2'],
  [{ group_by: ['title'] }, 'group_by[0]: must be "state", "tag"'],
  [{ group_by: [{ prefix: 0 }] }, 'group_by[0].prefix: must be a whole number from 1 to 64'],
  [{ group_by: [{ prefix: 65 }] }, 'group_by[0].prefix: must be a whole number from 1 to 64'],
  [{ group_by: [{ prefix: 1, attr: 't' }] }, 'group_by[0]: must have either attr or prefix'],
  [{ aggregate: sums(9) }, 'aggregate: must be a list of 1 to 8'],
  [{ aggregate: [{ attr: 't', of: 'median' }] }, 'aggregate[0].of: must be one of min, max'],
  [{ aggregate: [{ of: 'sum' }] }, 'aggregate[0].attr: must be a name'],
  [{ cursor: 'c1' }, 'invalid_cursor'],
  [{ cursor: 'qAAAA' }, 'invalid_cursor'],
  [{ cursor: encodePlace({ key: { rank: 1, value: 'a', id: 'a' } }) }, 'invalid_cursor'],
  [{ cursor: encodePlace({ key: { rank: 0, value: 1.5, id: 'a' } }) }, 'invalid_cursor'],
] // oxfmt-ignore

test('a query is taken up to its limits, and refused behind them by its path', (t) => {
  for (const sent of TAKEN) t.is(refusalOf(sent), 'no fault', JSON.stringify(sent).slice(0, 200))
  for (const [sent, says] of REFUSED) {
    const refusal = refusalOf(sent)
    t.true(refusal.startsWith(says), `${refusal} is not: ${says}`)
  }
})

test('a cursor of one order is none of another', (t) => {
  const cursor = encodePlace({ key: { rank: 0, value: 3, id: 'a' } })
  t.is(refusalOf({ cursor }), 'no fault')
  t.is(refusalOf({ cursor, order: { by: { attr: 't' } } }), 'no fault')
  t.is(refusalOf({ cursor, order: { by: 'title' } }), 'invalid_cursor')
})

const MANY = Array.from({ length: 1_001 }, (_, index) => {
  const number = String(index).padStart(4, '0')
  return thingOf({ id: `t-${number}`, seq: index + 1, attrs: { number, n: index } })
})
const ASKED = { order: { by: { attr: 'n' } } }

test('query-page/1: a page holds its limit, and the rest comes behind it', async (t) => {
  const whole = await pageOver(MANY.slice(0, 1_000), { ...ASKED, limit: 1_000 }, { scanned: 500 })
  t.is(whole.items.length, 1_000)
  t.is(whole.next, undefined)
  const cut = await pageOver(MANY, { ...ASKED, limit: 1_000 }, { scanned: 500 })
  t.is(cut.items.length, 1_000)
  const rest = await pageOver(MANY, { ...ASKED, cursor: cut.cursor }, { scanned: 500 })
  t.deepEqual(rest.items.map(({ id }) => id), ['t-1000']) // oxfmt-ignore
})

test('query-page/1: a page ends at its bytes, however the Things came, and one Thing always fits', async (t) => {
  const half = 'ü'.repeat(PAGE_BYTES_MAX / 4 - 400)
  const things = [3, 1, 4, 2, 5].map((n) =>
    thingOf({ id: `t-${9 - n}`, seq: n, attrs: { n, half: n === 5 ? half.repeat(3) : half } }),
  )
  const { pages } = await everyItem(things, ASKED)
  const ids = pages.map(({ items }) => items.map(({ id }) => id).join())
  t.deepEqual(ids, ['t-8,t-7', 't-6,t-5', 't-4'])
})

test('groups/1: a thousand groups are held, and the answer says that there are more', async (t) => {
  const asked = { group_by: [{ attr: 'number' }], aggregate: [{ attr: 'n', of: 'sum' }], limit: 1 }
  const whole = await pageOver(MANY.slice(0, 1_000), asked, { scanned: 500 })
  t.is(whole.groups?.length, 1_000)
  t.is(whole.isComplete, true)
  const cut = await pageOver(MANY, asked, { scanned: 500 })
  t.is(cut.groups?.length, 1_000)
  t.is(cut.isComplete, false)
})

test('an attr is asked for by any name that it may have, the empty one too', async (t) => {
  for (const name of ['', ' ', '.', '__proto__']) {
    const things = [2, 3, 1].map((n) =>
      thingOf({ id: `t-${n}`, seq: n, attrs: JSON.parse(`{"${name}": ${n}}`) as Fields }),
    )
    const page = await pageOver(things, {
      where: { attr: name, above: 1 },
      order: { by: { attr: name }, descending: true },
      group_by: [{ attr: [name] }],
      aggregate: [{ attr: name, of: 'sum' }],
    })
    t.deepEqual(page.items.map(({ id }) => id), ['t-3', 't-2']) // oxfmt-ignore
    const groups = page.groups?.map(({ key, aggregates }) => [key, aggregates[0]?.value])
    t.deepEqual(groups, [[[2], 2], [[3], 3]], name) // oxfmt-ignore
  }
})

test('aggregates without groups are those of one group of all Things', async (t) => {
  const computed = ['min', 'max', 'mean', 'sum'].map((of) => ({ attr: 'n', of }))
  const { groups } = await pageOver(MANY, { aggregate: computed }, { scanned: 500 })
  t.deepEqual(groups?.map(({ key, count }) => ({ key, count })), [{ key: [], count: 1_001 }]) // oxfmt-ignore
  t.deepEqual(groups?.[0]?.aggregates.map(({ value }) => value), [0, 1_000, 500, 500_500]) // oxfmt-ignore
  const none = await pageOver(MANY, { aggregate: [{ attr: 'number', of: 'sum' }] })
  t.deepEqual(none.groups?.[0]?.aggregates, [{ attr: 'number', of: 'sum' }])
})

test('a sum that is too large for a number is left out, and so is its mean', async (t) => {
  const things = ['a', 'b'].map((id, n) => thingOf({ id, seq: n + 1, attrs: { n: 1e308 } }))
  const computed = ['max', 'mean', 'sum'].map((of) => ({ attr: 'n', of }))
  const { groups } = await pageOver(things, { aggregate: computed })
  const [max, mean, sum] = groups?.[0]?.aggregates ?? []
  t.deepEqual(max, { attr: 'n', of: 'max', value: 1e308 })
  t.deepEqual(mean, { attr: 'n', of: 'mean' })
  t.deepEqual(sum, { attr: 'n', of: 'sum' })
})

test('looking/1: a page ends with the Things and the steps that it may take, and names the rest', async (t) => {
  const things = MANY.slice(0, 10)
  const nobody = { where: { tag: 'none' }, order: { by: 'thing_id' } }
  for (const [bounds, count] of [
    [{ looked: 10, steps: 10 ** 6 }, 1],
    [{ looked: 9, steps: 10 ** 6 }, 2],
    [{ looked: 10, steps: 1 }, 10],
  ] as const) {
    const { pages, ids } = await everyItem(things, nobody, { bounds })
    t.deepEqual(ids, [])
    t.is(pages.length, count, JSON.stringify(bounds))
  }
  const counted = await pageOver(things, { count: true }, { bounds: { looked: 9, steps: 10 ** 6 } })
  t.like(counted, { total: 9, isComplete: false, next: { after: 't-0008' } })
  t.deepEqual(LOOKING_BOUNDS, { looked: 200_000, steps: 30_000_000 })
})

test('looking/2: a later page of a part that has grown too much is refused', async (t) => {
  const bounds = { looked: 3, steps: 10 ** 6 }
  const within = { bounds, scanned: 4 }
  const asked = { ...ASKED, limit: 1 }
  const first = await pageOver(MANY.slice(0, 3), asked, within)
  const more = { ...asked, cursor: first.cursor }
  t.is((await pageOver(MANY.slice(0, 6), more, within)).items.length, 1)
  const refused = await t.throwsAsync(pageOver(MANY.slice(0, 7), more, within))
  t.regex(refused.message, /invalid_cursor.*begin again/)
})

test('an expression has the steps of a rule, and fails alone', async (t) => {
  const things = [
    thingOf({ id: 'long', seq: 1, attrs: { l: Array(20_000).fill(1) } }),
    thingOf({ id: 'short', seq: 2, attrs: { l: [1, 2] } }),
  ]
  const { items } = await pageOver(things, {
    where: { cel: 'attrs.l.exists(x, x == 2 || x == 1)' },
  })
  t.deepEqual(items.map(({ id }) => id), ['short', 'long']) // oxfmt-ignore
  const cel = '!attrs.l.exists(x, x == 5)'
  const costly = await pageOver(things, { where: { cel } })
  t.deepEqual(costly.items.map(({ id }) => id), ['short']) // oxfmt-ignore
})

test('tags that two groups multiply are bounded by the steps of a Thing', async (t) => {
  const tags = Array.from({ length: 300 }, (_, index) => `tag-${index}`)
  const things = [thingOf({ id: 'a', seq: 1, fields: { tags } }), thingOf({ id: 'b', seq: 2 })]
  const { groups, isComplete } = await pageOver(things, { group_by: ['tag', 'tag'] })
  t.deepEqual(groups, [{ key: [null, null], count: 1, aggregates: [] }])
  t.is(isComplete, false)
})
