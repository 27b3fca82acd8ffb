// Goal: a query gives what a plain model gives, whatever it asks, and pages hold while Things change.
// Method: random Things and queries; the model evaluates them in the simplest way.

import * as fc from 'fast-check'
import test from 'ava'

import type { Thing } from '#domain/entity'
import type { Json } from '#domain/submission'
import { everyItem, thingOf } from '#test/support/thing-queries'

const NOW_MS = 10_000_000
const RUNS = { numRuns: 150 }

const IDS = ['a', 'a-1', 'a-2', 'b', 'b-1', 'B-1', 'c', 'c:1', 'd_1', 'zz'] as const
const value = fc.constantFrom<Json>(-1, 0, 2, 2.5, 30, 'x', 'X', 'yellow', true, false, null, [1])

const thing = (id: string, seq: number) =>
  fc.record({
    state: fc.constantFrom('active' as const, 'archived' as const, 'deleted' as const),
    heardAt: fc.constantFrom(0, NOW_MS - 60_000, NOW_MS - 59_999, NOW_MS),
    fields: fc.record(
      {
        title: fc.constantFrom('Boiler', 'boiler 2', 'Übung', ''),
        description: fc.constantFrom('in the cellar', 'attic'),
        tags: fc.constantFrom(['pump'], ['pump', 'valve'], []),
        location_type: fc.constantFrom('geo', 'room'),
        location_value: fc.constantFrom('48.2,16.4', '48.3,16.4', 'cellar'),
      },
      { requiredKeys: [] },
    ),
    attrs: fc.record({ t: value, u: value }, { requiredKeys: [] }),
  }).map((parts) => thingOf({ id, seq, ...parts })) // oxfmt-ignore

const things = fc
  .shuffledSubarray([...IDS])
  .chain((ids) => fc.tuple(...ids.map((id, index) => thing(id, index + 1))))

const leaf = fc.oneof(
  fc.record({ attr: fc.constantFrom('t', 'u'), above: fc.constantFrom(-1, 0, 2) }),
  fc.record({ attr: fc.constantFrom('t', 'u'), below: fc.constantFrom(2, 2.5) }),
  fc.record({ attr: fc.constant('t'), inside: fc.constant([0, 2]) }),
  fc.record({ attr: fc.constant('t'), outside: fc.constant([0, 2]) }),
  fc.record({ attr: fc.constant('t'), equals: fc.constantFrom(2, 'x', true) }),
  fc.record({ attr: fc.constant('u'), not_equals: fc.constantFrom(2, 'x') }),
  fc.record({ attr: fc.constantFrom('t', 'constructor'), absent: fc.constant(true) }),
  fc.constant({ silent: '1m' }),
  fc.constant({ cel: 'attrs.t > 1.0 || thing.id == "a"' }),
  fc.record({ state: fc.constantFrom('active', 'archived', 'deleted') }),
  fc.record({ tag: fc.constantFrom('pump', 'valve') }),
  fc.record({ prefix: fc.constantFrom('a', 'a-', 'b-1') }),
  fc.record({ text: fc.constantFrom('BOILER', 'cell', 'übung') }),
  fc.record({ near: fc.constant([48.2, 16.4]), within: fc.constantFrom(0, 5_000, 20_000) }),
)

const { where } = fc.letrec<{ where: object }>((tie) => ({
  where: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.record({ all: fc.array(tie('where'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ any: fc.array(tie('where'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ not: tie('where') }),
  ),
}))

const order = fc.record(
  {
    by: fc.constantFrom('changed', 'thing_id', 'title', { attr: 't' }),
    descending: fc.boolean(),
  },
  { requiredKeys: ['by'] },
)

// ---- the model

type Asked = Readonly<Record<string, unknown>>
type Holds = boolean | undefined

const attrOf = ({ attrs }: Thing, name: unknown): Json | undefined =>
  Object.entries(attrs.values).find(([known]) => known === name)?.[1] ?? undefined

const textOf = ({ fields }: Thing, name: string): string => {
  const text = fields.values[name]
  return typeof text === 'string' ? text : ''
}

function holds(one: Thing, asked: Asked): Holds {
  if (Array.isArray(asked['all'])) {
    const parts = asked['all'].map((part: Asked) => holds(one, part))
    return parts.includes(false) ? false : parts.includes(undefined) ? undefined : true
  }
  if (Array.isArray(asked['any'])) {
    const parts = asked['any'].map((part: Asked) => holds(one, part))
    return parts.includes(true) ? true : parts.includes(undefined) ? undefined : false
  }
  if ('not' in asked) {
    const part = holds(one, asked['not'] as Asked)
    return part === undefined ? undefined : !part
  }
  return 'attr' in asked ? attrHolds(attrOf(one, asked['attr']), asked) : thingHolds(one, asked)
}

function attrHolds(present: Json | undefined, asked: Asked): Holds {
  if ('absent' in asked) return present === undefined
  if (present === undefined) return undefined
  if ('equals' in asked) return present === asked['equals']
  if ('not_equals' in asked) return present !== asked['not_equals']
  if (typeof present !== 'number') return undefined
  if (typeof asked['above'] === 'number') return present > asked['above']
  if (typeof asked['below'] === 'number') return present < asked['below']
  const isInside = present >= 0 && present <= 2
  return 'inside' in asked ? isInside : !isInside
}

function thingHolds(one: Thing, asked: Asked): Holds {
  const { id, state, changedAt, fields } = one
  if ('silent' in asked) return NOW_MS - changedAt >= 60_000
  if ('state' in asked) return state === asked['state']
  if ('prefix' in asked) return id.startsWith(String(asked['prefix']))
  if ('tag' in asked) return (fields.values['tags'] as Json[] | undefined)?.includes(String(asked['tag'])) ?? false
  if ('text' in asked) {
    const wanted = String(asked['text']).toLowerCase()
    return ['title', 'description'].some((name) => textOf(one, name).toLowerCase().includes(wanted))
  }
  if ('near' in asked) return nearHolds(one, Number(asked['within']))
  const t = attrOf(one, 't')
  return id === 'a' || (typeof t === 'number' ? t > 1 : undefined)
} // oxfmt-ignore

/** A tenth of a degree is 11 km. */
function nearHolds(one: Thing, within: number): Holds {
  if (textOf(one, 'location_type') !== 'geo') return undefined
  const place = textOf(one, 'location_value')
  if (place === 'cellar' || place === '') return undefined
  return place === '48.2,16.4' || within === 20_000
}

const asksForState = (asked: unknown): boolean => JSON.stringify(asked ?? {}).includes('"state"')

const matching = (all: readonly Thing[], asked: object | undefined): readonly Thing[] =>
  all.filter(
    (one) =>
      (asked === undefined || holds(one, asked as Asked) === true) &&
      (one.state !== 'deleted' || asksForState(asked)),
  )

interface Ordered {
  readonly by: 'changed' | 'thing_id' | 'title' | { readonly attr: string }
  readonly descending?: boolean
}

function keyOf(one: Thing, by: Ordered['by']): readonly [rank: number, value: string | number] {
  const title = textOf(one, 'title')
  if (by === 'changed') return [0, one.seq]
  if (by === 'thing_id') return [1, one.id]
  const of = by === 'title' ? title || one.id : attrOf(one, by.attr)
  if (typeof of === 'number') return [0, of]
  if (typeof of === 'string') return [1, of.toLowerCase()]
  return typeof of === 'boolean' ? [2, Number(of)] : [3, 0]
}

const sorted = (
  all: readonly Thing[],
  { by, descending = false }: Ordered = { by: 'changed', descending: true },
): readonly string[] =>
  all
    .toSorted((one, other) => {
      const [rankOne, valueOne] = keyOf(one, by)
      const [rankOther, valueOther] = keyOf(other, by)
      if (rankOne !== rankOther) return rankOne - rankOther
      if (valueOne !== valueOther) return valueOne < valueOther === descending ? 1 : -1
      return one.id < other.id ? -1 : 1
    })
    .map(({ id }) => id)

const asked = fc.record(
  { where, order, limit: fc.integer({ min: 1, max: 4 }) },
  { requiredKeys: ['limit'] },
)

test('the pages are those of the model, with its total', async (t) => {
  await fc.assert(
    fc.asyncProperty(things, asked, fc.boolean(), async (all, query, isCounted) => {
      const wanted = matching(all, query.where)
      const read = await everyItem(all, { ...query, count: isCounted }, { nowMs: NOW_MS })
      t.deepEqual(read.ids, sorted(wanted, query.order as Ordered | undefined))
      const total = isCounted ? wanted.length : undefined
      for (const page of read.pages) t.is(page.total, total)
    }),
    RUNS,
  )
})

test('order/1: query-page/1: a Thing that stays within the order comes once, whatever changes', async (t) => {
  const changes = fc.array(fc.nat(1_000), { minLength: 1, maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(things, asked, changes, things, async (all, query, numbers, others) => {
      let [seq, step] = [100, 0]
      const touched = new Set<string>()
      const change = (present: readonly Thing[]): readonly Thing[] => {
        const next = others[(numbers[step++ % numbers.length] ?? 0) % (others.length + 1)]
        if (next === undefined) return present
        touched.add(next.id)
        const rest = present.filter(({ id }) => id !== next.id)
        return step % 3 === 0 ? rest : [...rest, { ...next, seq: (seq += 1) }]
      }
      const { ids } = await everyItem(all, query, { nowMs: NOW_MS }, change)
      const stays = (id: string): boolean => !touched.has(id)
      const wanted = sorted(matching(all, query.where), query.order as Ordered | undefined)
      t.deepEqual(ids.filter(stays), wanted.filter(stays))
    }),
    RUNS,
  )
})

test('looking/2: in parts, every Thing comes once, and each part is in order', async (t) => {
  const bounds = { looked: 3, steps: 1_000_000 }
  await fc.assert(
    fc.asyncProperty(things, asked, async (all, query) => {
      const { ids, pages } = await everyItem(all, query, { nowMs: NOW_MS, bounds })
      const wanted = matching(all, query.where).map(({ id }) => id)
      t.deepEqual(ids.toSorted(), wanted.toSorted())
      for (const { items } of pages) {
        const given = sorted(items, query.order as Ordered | undefined)
        t.deepEqual(items.map(({ id }) => id), given)
      }
    }),
    RUNS,
  )
}) // oxfmt-ignore

test('groups have the counts and numbers of the model', async (t) => {
  const by = fc.subarray(['state', 'tag', { attr: 't' }, { prefix: 1 }], { minLength: 1, maxLength: 2 })
  await fc.assert(
    fc.asyncProperty(things, fc.option(where, { nil: undefined }), by, async (all, of, groupBy) => {
      const counts = new Map<string, number[]>()
      for (const one of matching(all, of)) {
        const tags = (one.fields.values['tags'] as string[] | undefined) ?? []
        const scalar = attrOf(one, 't') ?? null
        const keysOf = (name: unknown): readonly Json[] => {
          if (name === 'state') return [one.state]
          if (name === 'tag') return tags.length === 0 ? [null] : tags
          return JSON.stringify(name) === '{"attr":"t"}' ? [typeof scalar === 'object' ? null : scalar] : [one.id.slice(0, 1)]
        }
        const [first = [], second] = groupBy.map(keysOf)
        const keys = second === undefined ? first.map((key) => [key]) : first.flatMap((key) => second.map((other) => [key, other]))
        for (const key of keys) {
          const text = JSON.stringify(key)
          const u = attrOf(one, 'u')
          counts.set(text, [...(counts.get(text) ?? [0]), ...(typeof u === 'number' ? [u] : [])])
          counts.get(text)?.splice(0, 1, (counts.get(text)?.[0] ?? 0) + 1)
        }
      }
      const aggregate = [{ attr: 'u', of: 'max' }, { attr: 'u', of: 'mean' }]
      const asking = { ...(of !== undefined && { where: of }), group_by: groupBy, aggregate }
      const { pages } = await everyItem(all, asking, { nowMs: NOW_MS })
      const groups = pages[0]?.groups ?? []
      t.deepEqual(groups.map(({ key }) => JSON.stringify(key)).toSorted(), [...counts.keys()].toSorted())
      for (const { key, count, aggregates } of groups) {
        const [wanted = 0, ...numbers] = counts.get(JSON.stringify(key)) ?? []
        t.is(count, wanted)
        const [max, mean] = aggregates.map((one) => one.value)
        t.is(max, numbers.length === 0 ? undefined : Math.max(...numbers))
        const sum = numbers.reduce((whole, one) => whole + one, 0)
        t.is(mean, numbers.length === 0 ? undefined : sum / numbers.length)
      }
      t.is(pages[0]?.isComplete, true)
    }),
    RUNS,
  )
}) // oxfmt-ignore
