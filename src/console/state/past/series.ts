// Reads the values of Things over a span of time, from the gateway's tiers or its readings.

import { TIER_MS } from '#domain/history/series'
import type { Tier } from '#domain/history/series'
import type { DataOf } from '#src/client/bodies'
import { client } from '#console/state/gateway.ts'
import { readerOf } from '#console/state/history.ts'
import type { Course } from './thing-history.ts'

type Answer = DataOf<'/thing/series'>
type Columns = NonNullable<Answer['attrs']>[string]

export interface SeriesWish {
  readonly attrs: readonly string[]
  readonly fromMs: number
  readonly toMs: number
  readonly step?: 'auto' | 'raw'
}

export interface SeriesRead {
  readonly courses: ReadonlyMap<string, Course>
  /** False where retention has taken a part. */
  readonly isWhole: boolean
}

const courseOf = (columns: Columns, step: string): Course => {
  const { times, values, min: low = [], max: high = [], mean, count: counts = [] } = columns
  if (values !== undefined) return { times, values }
  return { times, values: mean ?? [], steps: { ms: TIER_MS[step as Tier], low, high, counts } }
}

const coursesOf = (found: Answer['attrs'], step: string): ReadonlyMap<string, Course> =>
  new Map(Object.entries(found ?? {}).map(([name, each]) => [name, courseOf(each, step)]))

// The end of a span is left out: the reading of this very moment is in it.
const fieldsOf = ({ attrs, fromMs, toMs, step = 'auto' }: SeriesWish) => ({
  attrs: [...attrs],
  step,
  from: Math.floor(fromMs),
  to: Math.ceil(toMs) + 1,
})

/** Reads courses of one attr by the ids of up to twenty Things. Throws what the gateway answers. */
export async function readSeriesOfThings(
  channelId: string,
  thingIds: readonly string[],
  wish: SeriesWish,
): Promise<ReadonlyMap<string, Course>> {
  const body = { ...readerOf(channelId), thing_ids: [...thingIds], ...fieldsOf(wish) }
  const { step, things } = await client.peek().thing.series(body)
  return coursesOf(things, step)
}

/** A span so short is shown in single readings, where they are kept and not too many. */
const READINGS_MS = 2 * 3_600_000
const READINGS_MAX = 2_000

/** Reads courses of a Thing's attrs by their names. Throws what the gateway answers. */
export async function readSeries(
  channelId: string,
  thingId: string,
  wish: SeriesWish,
  signal: AbortSignal,
): Promise<SeriesRead> {
  if (wish.step !== 'raw' && wish.toMs - wish.fromMs <= READINGS_MS) {
    const read = await readSeries(channelId, thingId, { ...wish, step: 'raw' }, signal)
    const longest = Math.max(0, ...[...read.courses.values()].map(({ times }) => times.length))
    if (read.isWhole && longest <= READINGS_MAX) return read
  }
  const body = { ...readerOf(channelId), thing_id: thingId, ...fieldsOf(wish) }
  const { step, attrs: found, complete } = await client.peek().thing.series(body, { signal })
  return { courses: coursesOf(found, step), isWhole: complete }
}
