// Goal: chunks are merged where they lie over each other often enough, looked at nowhere else, and
// nobody waits for that.

import test from 'ava'

import { PERIOD_MS, TIER_MS } from '#domain/history/series'
import type { TierChunkRow } from '#src/store/entities/tiers'
import { CANDIDATES_MAX, Candidates } from '#src/store/tiers/candidates'
import { LAST_LEVEL, MERGED } from '#src/store/tiers/chunk-rows'
import { emptyFile } from '#test/support/sqlite-store'
import { joinAll } from '#test/support/joined'
import { ChannelWriter } from '#test/support/store-writer'
import { channel, thing } from '#test/support/submissions'
import { openWatched } from '#test/support/watched-store'

const WIDTH = TIER_MS['5m']
const EVER = { '5m': 1e14, '1h': 1e14, '1d': 1e14 }
const START = 20_000 * TIER_MS['1d']

const chunk = (ref: number, firstPlace = 0, level = 0): TierChunkRow => ({
  channel: ref,
  tier: 0,
  period: 0,
  level,
  firstPlace,
  lastPlace: firstPlace,
  run: 1,
  dueAt: 1,
  bytes: 0,
  content: Buffer.alloc(0),
})

const found = (candidates: Candidates): readonly (readonly [channel: number, place: number])[] =>
  [...candidates.found.values()].map((one) => [one.channel, one.firstPlace])

test('candidates/1: a cell is looked at once as many runs wrote to it as chunks have to lie over each other', (t) => {
  const candidates = new Candidates()
  const ofRun = (run: number, ...chunks: readonly TierChunkRow[]) =>
    candidates.written(chunks.map((one) => ({ ...one, run })))
  for (let run = 1; run < MERGED; run += 1) {
    ofRun(run, chunk(1, run), chunk(1, 100), chunk(2), chunk(2))
  }
  t.deepEqual(found(candidates), [])
  t.is(candidates.size, MERGED + 1)
  ofRun(MERGED, chunk(1, 100), chunk(1, 101), chunk(1, 100, 1))
  t.deepEqual(found(candidates), [[1, 100]])
  ofRun(MERGED, chunk(2))
  t.deepEqual(found(candidates), [
    [1, 100],
    [2, 0],
  ])
  for (const name of candidates.found.keys()) candidates.drop(name)
  ofRun(MERGED + 1, chunk(1, 100))
  t.deepEqual(found(candidates), [])
})

test('candidates/1: chunks that are left of a period are merged no more', (t) => {
  const candidates = new Candidates()
  for (let run = 0; run < MERGED; run += 1) {
    candidates.written([{ ...chunk(1, 0, LAST_LEVEL), run }])
  }
  t.is(candidates.size, 0)
})

test('candidates/2: up to the limit cells are remembered; with one more all are looked at, and it is not', (t) => {
  const candidates = new Candidates()
  const all = Array.from({ length: CANDIDATES_MAX }, (_, index) => chunk(index))
  candidates.written(all)
  t.is(candidates.size, CANDIDATES_MAX)
  t.is(candidates.found.size, 0)
  candidates.written([chunk(CANDIDATES_MAX)])
  t.is(candidates.size, CANDIDATES_MAX)
  t.is(candidates.found.size, CANDIDATES_MAX)
  for (const name of candidates.found.keys()) candidates.drop(name)
  candidates.written([chunk(CANDIDATES_MAX)])
  t.is(candidates.size, 1)
})

test('a bucket whose sum is beyond what a double holds has a mean within its readings', async (t) => {
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const writer = await ChannelWriter.open(store, 1)
  const most = Number.MAX_VALUE
  // The sum of the first run is infinite, and so is that of the second one, below zero.
  for (const [index, n] of [most, most, -most, -most].entries()) {
    writer.take(thing('update', 'a', { at: START + index, attrs: { n } }))
    if (index % 2 === 0) continue
    await writer.commit()
    await joinAll(store)
  }
  const query = { channelId: channel(1), thingId: 'a', step: '1d', from: 0, to: 2 * START } as const
  const { attrs } = await store.series.series(query)
  t.like(attrs['n'], { min: [-most], max: [most], count: [4], mean: [0] })
})

test('merging/3: chunks of many Things are halved before they are merged', async (t) => {
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const writer = await ChannelWriter.open(store, 1)
  const readings = 12
  // A chunk of the whole channel lies under large ones of its parts.
  for (let count = 0; count < readings; count += 1) {
    const things = count === 0 ? 1 : 1_000
    const attrs = Object.fromEntries(Array.from({ length: 10 }, (_, name) => [`n${name}`, count]))
    for (let index = 0; index < things; index += 1) {
      writer.take(thing('update', `t${index}`, { at: START + count * WIDTH, attrs }))
    }
    await writer.commit()
    await joinAll(store)
  }
  const removed: number[] = []
  for (let merged = 1; merged > 0; removed.push(merged)) {
    merged = await store.merging.merge(START, EVER)
  }
  t.true(removed.includes(1), 'a chunk was halved alone')
  t.true(Math.max(...removed) <= 1_024)
  const query = {
    channelId: channel(1),
    thingId: 't0',
    step: '5m',
    from: START,
    to: START + PERIOD_MS['5m'],
  } as const
  const { attrs } = await store.series.series(query)
  t.like(attrs['n3'], { count: Array.from({ length: readings }, () => 1) })
})

test('what is joined of a period that is over is merged for good, and late data of it with that', async (t) => {
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const writer = await ChannelWriter.open(store, 1)
  /** Lets a period get readings until they are merged, and gives the levels of its chunks. */
  const report = async (period: number, nowMs: number): Promise<readonly number[]> => {
    for (let run = 0; run < MERGED; run += 1) {
      writer.take(thing('update', 'a', { at: period + run * WIDTH, attrs: { n: run } }))
      await writer.commit()
      await joinAll(store)
    }
    while ((await store.merging.merge(nowMs, EVER)) > 0) continue
    const chunks = await store.database.all<{ level: number }>(
      'SELECT level FROM tier_chunks WHERE tier = ? AND period = ? ORDER BY id',
      [WIDTH, period],
    )
    return chunks.map(({ level }) => level)
  }
  const dayMs = PERIOD_MS['5m']
  const overMs = START + dayMs + dayMs / 24
  t.deepEqual(await report(START, overMs - 1), [1], 'it is not over')
  t.deepEqual(await report(START, overMs), [LAST_LEVEL], 'what it had was due')
  t.deepEqual(await report(START - dayMs, overMs), [LAST_LEVEL], 'it had nothing')
  t.deepEqual(await report(START - dayMs, overMs), [LAST_LEVEL, 1], 'more may come')
  t.deepEqual(await report(START - dayMs, overMs + dayMs), [LAST_LEVEL])
})

test('merging/3: between looks at two candidates the thread gets its messages', async (t) => {
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const writer = await ChannelWriter.open(store, 1)
  const attrs = Object.fromEntries(Array.from({ length: 10 }, (_, name) => [`n${name}`, 1]))
  for (let run = 0; run < MERGED; run += 1) {
    for (let index = 0; index < 2_000; index += 1) {
      writer.take(thing('update', `t${index}`, { at: START + run, attrs }))
    }
    await writer.commit()
    await joinAll(store)
  }
  const turnsOfMerge = async () => {
    let turns = 0
    let isOver = false
    const count = (): void => {
      turns += 1
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const merged = await store.merging.merge(START, EVER)
    isOver = true
    return { merged, turns }
  }
  let merges = 0
  while ((await turnsOfMerge()).merged > 0) merges += 1
  // As if more runs had written to each cell, of which nothing is left when the cell is looked at.
  const { database } = store
  const most = await database.first<{ id: number }>('SELECT max(id) AS id FROM tier_chunks', [])
  const cells = 'channel, tier, period, level, first_place, last_place'
  let looks = 0
  for (let run = 1; run < MERGED; run += 1) {
    looks = await database.change(
      `INSERT INTO tier_chunks (${cells}, run, due_at, bytes, content)
        SELECT ${cells}, run + ?, due_at, bytes, content FROM tier_chunks WHERE level = 1 AND id <= ?`,
      [run, most?.id ?? 0],
    )
  }
  t.true(
    (await store.merging.merge(START, EVER)) >= MERGED,
    'one cell is merged, and all are noted',
  )
  await database.change('DELETE FROM tier_chunks WHERE level = 1 AND id > ?', [most?.id ?? 0])
  const { merged, turns } = await turnsOfMerge()
  t.is(merged, 0)
  t.true(
    turns >= looks - 1 && merges > 20,
    `${turns} turns for ${looks} looks behind ${merges} merges`,
  )
})
