// A channel in memory for exports: a store that gives short pages, and series of ten buckets.

import type { Thing } from '#domain/entity'
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

export const entry = (seq: number): FeedEntry => ({
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

export type Line = Readonly<Record<string, unknown>>

/** Buckets that a read of series gives at most. */
const BUCKETS = 4
const NO_SERIES = new Set(['b', 'd'])
/** A read gives buckets of a Thing from the first time on, and before the second; of these a part. */
export type Taken = Readonly<Record<string, readonly [from: number, to: number, part?: 'part']>>

/** A bucket a millisecond. */
export function columnsOf(times: readonly number[]): BucketColumns {
  return { times, min: times, max: times, mean: times, last: times, count: times }
}

/** A store with these entries and Things; each page passes through `meanwhile`. */
export function exportRig(
  entries: readonly FeedEntry[],
  things: readonly Thing[] = [],
  taken: Taken = {},
) {
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
      const headSeq = entries.at(-1)?.seq ?? 0
      return { items, headSeq, ...(behind.length > PAGE && last && { next: last.seq }) }
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
      const [low, high, part]: Taken[string] = taken[thingId] ?? [from, to]
      const last = Math.min(to, high)
      const first = Math.min(to, Math.max(from, last - BUCKETS, low))
      const times = Array.from({ length: Math.max(0, last - first) }, (_, at) => first + at)
      const attrs = NO_SERIES.has(thingId) || times.length === 0 ? {} : { n: columnsOf(times) }
      const wholeTo = last < to && { wholeTo: last }
      const isPartial = part === 'part' && { isPartial: true as const }
      return { attrs, ...(first > from && { wholeFrom: first }), ...wholeTo, ...isPartial }
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

export const SEVEN = [1, 2, 3, 4, 5, 6, 7].map(entry)
export const FIVE = ['a', 'b', 'c', 'd', 'e'].map(thing)

/** A store that does not answer. */
export const away = (): never => {
  throw Object.assign(new Error('away'), { name: 'StoreError' })
}
