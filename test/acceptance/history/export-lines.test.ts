// Goal: the lines of an export: what they are, where they end, and that another one goes on there.
// Method: a store in memory that gives short pages.

import test from 'ava'

import type { Thing } from '#domain/entity'
import { fault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { FeedEntry } from '#domain/feed'
import type { BucketColumns, SeriesQuery } from '#domain/history/series'
import { parseThingId } from '#domain/identity'
import type { EntityId } from '#domain/identity'
import type { HistoryQuery } from '#domain/history/ordered-reads'
import type { ScanQuery } from '#domain/things/scan'
import { documentOf } from '#domain/things/document'
import { ExportLines } from '#src/acceptance/history/export-lines'
import type { ExportPlan } from '#src/acceptance/history/export-lines'
import { EXPORTED } from '#src/schemas/history/export-names'
import { channel, opId } from '#test/support/submissions'

const A = channel(1)
const PAGE = 3
/** Ten buckets: three lines a Thing. */
const KEPT = { step: '1h', from: 10, to: 20 } as const
const MODELS = ['thing', 'event', 'message'] as const
const KINDS = ['update', 'event', 'message']

const entry = (seq: number): FeedEntry => ({
  channelId: A,
  seq,
  opId: opId(`op-${seq}`),
  model: MODELS[seq % 3] ?? 'thing',
  action: 'update',
  entityId: (parseThingId(`t${seq}`) ?? '') as EntityId,
  acceptedAt: seq * 1000,
  payload: `{"n":${seq}}`,
})

const thing = (id: string): Thing => {
  const none = { values: {}, times: undefined }
  const attrs = { values: { n: 1 }, times: undefined }
  const times = { at: 1, stateAt: 1, changedAt: 1, rev: 1, seq: 1 }
  return { id, state: 'active', ...times, fields: none, attrs, externalIds: none }
}

type Line = Readonly<Record<string, unknown>>

/** Buckets that a read of series gives at most. */
const BUCKETS = 4
const NO_SERIES = new Set(['b', 'd'])

/** A bucket a millisecond. */
function columnsOf(times: readonly number[]): BucketColumns {
  return { times, min: times, max: times, mean: times, last: times, count: times }
}

/** A store with these entries and Things; each page passes through `meanwhile`. */
function rig(entries: readonly FeedEntry[], things: readonly Thing[] = []) {
  const queries: HistoryQuery[] = []
  const world = {
    pages: 0,
    queries,
    refusal: undefined as Fault | undefined,
    meanwhile: (_page: number): void => undefined,
  }
  const turned = () => world.meanwhile((world.pages += 1))
  const read = {
    history: async (query: HistoryQuery) => {
      turned()
      queries.push(query)
      const { afterSeq = 0, sinceMs = 0, models } = query
      const behind = entries.filter(
        ({ seq, acceptedAt }) => seq > afterSeq && acceptedAt >= sinceMs,
      )
      // As the store does, a page steps over a bounded number of entries, whether they match or not.
      const stepped = behind.slice(0, PAGE)
      const items = stepped.filter(({ model }) => models?.includes(model) !== false)
      const last = stepped.at(-1)
      return behind.length > PAGE && last ? { items, next: last.seq } : { items }
    },
    scan: async ({ after = '' }: ScanQuery) => {
      turned()
      const behind = things.filter(({ id }) => id > String(after))
      const page = behind.slice(0, PAGE).map((one) => ({ ...one, document: documentOf(one) }))
      const found = page.map((one) => ({ ...one, bytes: one.document.length }))
      return { things: found, isLast: behind.length <= PAGE }
    },
  }
  const series = {
    series: async ({ thingId, from, to }: SeriesQuery) => {
      turned()
      // At most BUCKETS at a time, and none of every second Thing.
      const first = Math.max(from, to - BUCKETS)
      const times = Array.from({ length: to - first }, (_, at) => first + at)
      const attrs = NO_SERIES.has(thingId) ? {} : { n: columnsOf(times) }
      return { attrs, ...(first > from && { wholeFrom: first }) }
    },
  }
  const controller = new AbortController()
  const lines = (plan: Partial<ExportPlan> = {}): ExportLines =>
    new ExportLines(
      { channelId: A, what: EXPORTED, series: KEPT, afterSeq: 0, ...plan },
      { read, series, refusal: async () => world.refusal },
      controller.signal,
    )
  const all = async (plan?: Partial<ExportPlan>): Promise<readonly Line[]> => {
    const texts: string[] = []
    for await (const text of lines(plan).lines()) texts.push(text)
    const split = texts.join('').split('\n')
    return split.slice(0, -1).map((line) => JSON.parse(line) as Line)
  }
  return { world, controller, all, lines }
}

const seqs = (lines: readonly Line[]) =>
  lines.flatMap(({ seq, kind }) => (kind === 'thing' ? [] : (seq ?? [])))
const SEVEN = [1, 2, 3, 4, 5, 6, 7].map(entry)
const FIVE = ['a', 'b', 'c', 'd', 'e'].map(thing)

test('an export has every entry in seq order, then every Thing, then their series, then its end', async (t) => {
  const lines = await rig(SEVEN, FIVE).all()
  t.deepEqual(lines[0], {
    kind: 'event',
    seq: 1,
    op_id: 'op-1',
    action: 'update',
    entity_id: 't1',
    accepted_at: 1000,
    payload: { n: 1 },
  })
  const kinds = SEVEN.map(({ seq }) => KINDS[seq % 3])
  t.deepEqual(
    lines.map(({ kind }) => kind).filter((kind) => kind !== 'progress'),
    [...kinds, ...FIVE.map(() => 'thing'), ...Array<string>(9).fill('series'), 'end'],
  )
  t.deepEqual(seqs(lines), [1, 2, 3, 4, 5, 6, 7])
  t.like(lines[7], { thing_id: 'a', attrs: { n: 1 }, state: 'active' })
  t.deepEqual(lines.at(-1), { kind: 'end', complete: true, after_seq: 7 })
})

const WISHES: readonly (readonly [
  plan: Partial<ExportPlan>,
  expected: readonly number[],
  end: number,
])[] = [
  [{ what: ['updates'] }, [3, 6], 7],
  [{ what: ['events', 'messages'] }, [1, 2, 4, 5, 7], 7],
  [{ what: ['updates', 'events'], afterSeq: 3 }, [4, 6, 7], 7],
  [{ fromMs: 3000, toMs: 6000 }, [3, 4, 5], 5],
  [{ fromMs: 3001, toMs: 6001 }, [4, 5, 6], 6],
  [{ toMs: 1000 }, [], 0],
  [{ fromMs: 8000 }, [], 0],
  [{ what: ['things'], afterSeq: 2 }, [], 2],
  [{ what: ['series'], afterSeq: 2 }, [], 2],
]

for (const [plan, expected, end] of WISHES) {
  test(`an export with ${JSON.stringify(plan)} has the entries ${expected.join()} and ends behind ${end}`, async (t) => {
    const lines = await rig(SEVEN).all(plan)
    t.deepEqual(seqs(lines), expected)
    t.like(lines.at(-1), { kind: 'end', complete: true })
    if (plan.what?.[0] !== 'updates') t.is(lines.at(-1)?.['after_seq'], end)
  })
}

test('a page without an entry that was asked for tells how far the export is', async (t) => {
  const entries = [entry(3), ...[1, 2, 4, 5, 7, 8, 10].map((seq) => entry(seq + 3)), entry(15)]
  const lines = await rig(entries).all({ what: ['updates'] })
  t.deepEqual(
    lines.map(({ kind, seq, after_seq }) => [kind, seq ?? after_seq]),
    [
      ['update', 3],
      ['progress', 10],
      ['update', 15],
      ['end', 15],
    ],
  )
})

test('series come from the newest times to the oldest, as much as a read gives in a line', async (t) => {
  const lines = await rig([], FIVE).all({ what: ['series'] })
  t.deepEqual(lines[0], {
    kind: 'series',
    thing_id: 'a',
    step: '1h',
    from: 16,
    to: 20,
    attrs: { n: columnsOf([16, 17, 18, 19]) },
    after_series: 'a 16',
  })
  t.deepEqual(
    lines.map(({ kind, thing_id, from, after_series }) => [kind, thing_id, from, after_series]),
    [
      ['series', 'a', 16, 'a 16'],
      ['series', 'a', 12, 'a 12'],
      ['series', 'a', 10, 'a 10'],
      ['series', 'c', 16, 'c 16'],
      ['series', 'c', 12, 'c 12'],
      ['series', 'c', 10, 'c 10'],
      ['progress', undefined, undefined, 'c 0'],
      ['series', 'e', 16, 'e 16'],
      ['series', 'e', 12, 'e 12'],
      ['series', 'e', 10, 'e 10'],
      ['progress', undefined, undefined, 'e 0'],
      ['end', undefined, undefined, undefined],
    ],
  )
  t.deepEqual(await rig([], FIVE).all({ what: ['series'], series: undefined }), [
    { kind: 'end', complete: true, after_seq: 0 },
  ])
})

test('an export goes on behind any line of series, and has every bucket once', async (t) => {
  const whole = await rig([], FIVE).all({ what: ['series'] })
  for (const [at, { after_series }] of whole.slice(0, -1).entries()) {
    const [thingId = '', before] = String(after_series).split(' ')
    const afterSeries = { thingId, before: Number(before) }
    const rest = await rig([], FIVE).all({ what: ['series'], afterSeries })
    const isSeries = ({ kind }: Line): boolean => kind === 'series'
    t.deepEqual(rest.filter(isSeries), whole.slice(at + 1).filter(isSeries), String(after_series))
  }
})

test('the time to begin at is looked for once', async (t) => {
  const { world, all } = rig(SEVEN)
  await all({ what: ['updates', 'events', 'messages'], fromMs: 2000 })
  const asked = world.queries.map(({ sinceMs, afterSeq }) => `${sinceMs} ${afterSeq}`)
  t.deepEqual(asked, ['2000 0', 'undefined 4'])
})

test('export-lines/1: no page is read before the reader has taken the one before', async (t) => {
  const { world, lines } = rig(SEVEN)
  const texts = lines().lines()
  await texts.next()
  await new Promise((resolve) => setImmediate(resolve))
  t.is(world.pages, 1)
  await texts.return(undefined)
})

test('export-lines/2: from a refusal on nothing more is told but the end', async (t) => {
  const { world, all } = rig(SEVEN, FIVE)
  world.meanwhile = (page) => {
    if (page === 2) world.refusal = fault('key_expired')
  }
  const lines = await all()
  t.deepEqual(seqs(lines), [1, 2, 3])
  const end = { kind: 'end', complete: false, after_seq: 3, error_code: 'key_expired' }
  t.deepEqual(lines.at(-1), end)
})

const away = (): never => {
  throw Object.assign(new Error('away'), { name: 'StoreError' })
}

for (const [why, cut] of [
  ['a store that does not answer', away],
  ['the end of the gateway', undefined],
] as const) {
  test(`export-lines/3: cut at any page by ${why}, an export goes on where it was`, async (t) => {
    const isProgress = ({ kind }: Line): boolean => kind === 'progress'
    const whole = (await rig(SEVEN, FIVE).all()).slice(0, -1).filter((one) => !isProgress(one))
    for (let page = 1; page <= 17; page += 1) {
      const first = rig(SEVEN, FIVE)
      first.world.meanwhile = (at) => {
        if (at === page) (cut ?? (() => first.controller.abort()))()
      }
      const before = await first.all()
      const { kind, complete, after_seq, after_thing, after_series, error_code } =
        before.at(-1) ?? {}
      t.deepEqual([kind, complete, error_code], ['end', false, 'server_busy'])
      const [thingId = '', time] = ((after_series as string | undefined) ?? '').split(' ')
      const behind = await rig(SEVEN, FIVE).all({
        afterSeq: Number(after_seq),
        afterThing: after_thing as string | undefined,
        ...(thingId !== '' && { afterSeries: { thingId, before: Number(time) } }),
      })
      const all = [...before.slice(0, -1), ...behind.slice(0, -1)]
      t.deepEqual(
        all.filter((one) => !isProgress(one)),
        whole,
        String(page),
      )
    }
  })
}

test('a defect of the store breaks the export off: it does not look whole', async (t) => {
  const { world, all } = rig(SEVEN)
  world.meanwhile = () => {
    throw new TypeError('a defect')
  }
  await t.throwsAsync(all(), { instanceOf: TypeError })
})

test('export-lines/1: a page of long entries comes in texts of some 65,536 characters', async (t) => {
  const long = [1, 2, 3].map((seq) => ({ ...entry(seq), payload: `"${'x'.repeat(40_000)}"` }))
  const counts: number[] = []
  for await (const text of rig(long).lines().lines()) counts.push(text.split('\n').length - 1)
  t.deepEqual(counts, [2, 1, 1])
})
