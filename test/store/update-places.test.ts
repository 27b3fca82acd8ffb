// Method: the number that the next update gets is moved on, so that few blocks fill many spans.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import type { FeedEntry } from '#domain/feed'
import type { RawColumns } from '#domain/history/series'
import type { HistoryQuery } from '#domain/history/ordered-reads'
import type { Page } from '#domain/store-ports'
import { setFact } from '#src/store/turns/lanes'
import { UPDATE_NUMBER } from '#src/store/turns/update-numbers'
import { joinAll } from '#test/support/joined'
import { NEVER } from '#test/support/retention-limits'
import { emptyFile } from '#test/support/sqlite-store'
import { ChannelWriter } from '#test/support/store-writer'
import { channel, message, thing } from '#test/support/submissions'
import { openWatched } from '#test/support/watched-store'
import { rounds } from '#test/support/until'

const SPAN_ROWS = 32_768

/** Two channels whose updates lie in these places of the table; each is accepted at its place. */
async function openWith(t: ExecutionContext, placesOf: Readonly<Record<number, number[]>>) {
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const writers = new Map<number, ChannelWriter>()
  const updates = Object.entries(placesOf).flatMap(([number, places]) =>
    places.map((place) => ({ number: Number(number), place })),
  )
  for (const { number, place } of updates.toSorted((one, other) => one.place - other.place)) {
    const writer = writers.get(number) ?? (await ChannelWriter.open(store, number))
    writers.set(number, writer)
    await store.database.durable((executor) => setFact(executor, UPDATE_NUMBER, String(place)))
    await store.turns.takeLane({ lane: 0, epoch: 1 }) // It takes new numbers then.
    const acceptedAt = 1_000 + place
    const update = { at: place, acceptedAt, attrs: { place }, channelId: channel(number) }
    await writer.take(thing('update', 'lamp', update)).commit()
  }
  const history = async (number: number, query: Partial<HistoryQuery>): Promise<FeedEntry[]> => {
    const found: FeedEntry[] = []
    const goOn = rounds()
    let afterSeq: number | undefined = query.afterSeq ?? 0
    while (afterSeq !== undefined && goOn()) {
      const asked = { limit: 2, ...query, channelId: channel(number), afterSeq }
      const page: Page<FeedEntry> = await store.read.history(asked)
      found.push(...page.items)
      afterSeq = page.next
    }
    return found
  }
  return { store, writers, history }
}

const FIRST = 1
const LAST_OF_FIRST_SPAN = SPAN_ROWS - 1
const MIDDLE = 3 * SPAN_ROWS + 5
const NEWEST = 9 * SPAN_ROWS
const PLACES = {
  1: [FIRST, LAST_OF_FIRST_SPAN, SPAN_ROWS, SPAN_ROWS + 1, MIDDLE, NEWEST],
  2: [5, MIDDLE + 1],
}

test('the history of a channel goes from span to span, page by page', async (t) => {
  const { writers, history } = await openWith(t, PLACES)
  for (const [number, writer] of writers) {
    for (const limit of [1, 2, 3, 4, 5, 6, 7]) {
      t.deepEqual(await history(number, { limit }), writer.feed, `${number} ${limit}`)
    }
  }
  const [, ...later] = writers.get(1)?.feed ?? []
  t.deepEqual(await history(1, { afterSeq: 1 }), later)
  t.deepEqual(await history(1, { afterSeq: 6 }), [])
})

test('a time leaves out entries accepted before it, wherever its span is', async (t) => {
  const { writers, history } = await openWith(t, PLACES)
  for (const [number, writer] of writers) {
    for (const place of PLACES[1].flatMap((one) => [one - 1, one, one + 1, one + SPAN_ROWS])) {
      const sinceMs = 1_000 + place
      const expected = writer.feed.filter(({ acceptedAt }) => acceptedAt >= sinceMs)
      t.deepEqual(await history(number, { sinceMs }), expected, `${number} ${place}`)
    }
  }
})

test('a clock that goes back where a span begins hides nothing', async (t) => {
  const { store, writers, history } = await openWith(t, { 1: [FIRST, LAST_OF_FIRST_SPAN] })
  const writer = writers.get(1)
  const sinceMs = 1_000 + LAST_OF_FIRST_SPAN
  for (const acceptedAt of [sinceMs - 1, sinceMs, sinceMs + 1]) {
    await writer?.take(thing('update', 'lamp', { at: acceptedAt + 9e9, acceptedAt })).commit()
  }
  t.deepEqual(
    (await history(1, { sinceMs })).map(({ seq }) => seq),
    [2, 4, 5],
  )
  await store.database.close()
})

test('no span is searched for a time before the oldest one left', async (t) => {
  const { store, writers, history } = await openWith(t, PLACES)
  await store.database.durable((executor) =>
    executor.run('DELETE FROM update_blocks WHERE id < ?', [MIDDLE]),
  )
  t.deepEqual(await history(1, {}), writers.get(1)?.feed.slice(4))
  await store.database.durable((executor) => executor.run('DELETE FROM update_blocks'))
  t.deepEqual(await history(1, {}), [])
  t.deepEqual(await history(1, { sinceMs: 1 }), [])
})

test('a history joins rows and blocks', async (t) => {
  const { writers, history } = await openWith(t, PLACES)
  const writer = writers.get(1)
  await writer?.take(message({ acceptedAt: 1_000 + NEWEST })).commit()
  t.deepEqual(await history(1, {}), writer?.feed)
  t.deepEqual(
    (await history(1, { sinceMs: 1_000 + NEWEST })).map(({ seq }) => seq),
    [6, 7],
  )
})

test('raw/2: late readings are found in every span, with and without an entry beside them', async (t) => {
  const { store, writers } = await openWith(t, PLACES)
  const writer = writers.get(1)
  const places = [NEWEST + 7, 11 * SPAN_ROWS, 11 * SPAN_ROWS + 5, 14 * SPAN_ROWS]
  for (const [index, place] of places.entries()) {
    await store.database.durable((executor) => setFact(executor, UPDATE_NUMBER, String(place)))
    await store.turns.takeLane({ lane: 0, epoch: 1 })
    const late = { at: index === 2 ? place : 2 + index, acceptedAt: 1_000 + place }
    await writer?.take(thing('update', 'lamp', { ...late, attrs: { place } })).commit()
  }
  t.is(writer?.late.length, 3)
  const all = [...PLACES[1], ...places].toSorted((one, other) => one - other)
  const query = { channelId: channel(1), thingId: 'lamp', step: 'raw', from: 0, to: 9e9 } as const
  const read = async () => {
    const columns = (await store.series.series(query)).attrs['place'] as RawColumns
    return columns.values.toSorted((one, other) => Number(one) - Number(other))
  }
  t.deepEqual(await read(), all)
  await joinAll(store)
  t.deepEqual(await read(), all)
})

test('the updates of a deleted channel go from every span', async (t) => {
  const { store } = await openWith(t, PLACES)
  await store.channels.delete(channel(1), 5)
  for (let left = 1; left > 0;) {
    left = await store.retention.step({ ...NEVER, deletedChannels: 6 }, 3)
  }
  const rows = await store.database.read((executor) =>
    executor.all<{ channel: number }>('SELECT DISTINCT channel FROM update_places'),
  )
  t.is(rows.length, 1)
})
