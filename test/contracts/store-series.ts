// Series of readings, late ones among them.

import test from 'ava'

import type { BucketColumns } from '#domain/history/series'
import { ChannelWriter } from '#test/support/store-writer'
import { thing } from '#test/support/submissions'
import { DAY, HOUR, START, joinOld, mergeAll, seriesOf } from '#test/support/tiers'
import type { OpenStore } from './store-contract.ts'

export function seriesContract(engine: string, open: OpenStore): void {
  test(`${engine}: raw gives readings with texts and booleans, in the order of their times`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    const { channelId } = writer
    const say = (at: number, attrs: object) =>
      writer.take(thing('update', 'a', { at, attrs: { ...attrs }, acceptedAt: at })).commit()
    await say(START, { mode: 'on', n: 1, list: [1] })
    await joinOld(store)
    await say(START + 1, { mode: true, n: 2 })
    const raw = { channelId, thingId: 'a', step: 'raw' } as const
    t.deepEqual(await seriesOf(store, { ...raw, from: START, to: START + 2 }), {
      mode: { times: [START, START + 1], values: ['on', true] },
      n: { times: [START, START + 1], values: [1, 2] },
    })
    t.deepEqual(await seriesOf(store, { ...raw, from: START + 1, to: START + 2, attrs: ['n'] }), {
      n: { times: [START + 1], values: [2] },
    })
    t.deepEqual(await seriesOf(store, { ...raw, from: START, to: START + 1, attrs: ['n'] }), {
      n: { times: [START], values: [1] },
    })
  })

  test(`${engine}: an attr whose name is empty has readings and buckets, and is asked for by it`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    const attrs = { '': 1, n: 2 }
    await writer.take(thing('update', 'a', { at: START, attrs, acceptedAt: START })).commit()
    const query = { channelId: writer.channelId, thingId: 'a', attrs: [''] }
    for (const prepare of [() => Promise.resolve(), () => joinOld(store), () => mergeAll(store)]) {
      await prepare()
      for (const step of ['raw', '5m', '1d'] as const) {
        const series = await seriesOf(store, { ...query, step })
        t.deepEqual(Object.keys(series), [''], step)
        t.deepEqual(series['']?.times, [START])
      }
    }
  })

  test(`${engine}: series/4: columns with the same numbers are one array, and no others`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    const say = (at: number, attrs: object) =>
      writer.take(thing('update', 'a', { at, attrs: { ...attrs }, acceptedAt: at })).commit()
    await say(START, { n: 1, of: 1, twice: 1 })
    await say(START + HOUR, { n: 2, of: 3, twice: 2 })
    await say(START + HOUR + 1, { twice: 4, other: 5 })
    const query = { channelId: writer.channelId, thingId: 'a', step: '1h' } as const
    const series = (await seriesOf(store, query)) as Record<string, BucketColumns>
    const { n, of, twice, other } = series
    t.deepEqual(n, { times: [START, START + HOUR], ...onceEach([1, 2]) })
    t.true([n?.min, n?.max, n?.mean].every((column) => column === n?.last))
    t.is(of?.times, n?.times)
    t.is(twice?.times, n?.times)
    t.like(twice, { min: [1, 2], max: [1, 4], mean: [1, 3], last: [1, 4], count: [1, 2] })
    t.deepEqual(other, { times: [START + HOUR], ...onceEach([5]) })
  })

  test(`${engine}: raw/2: a late reading counts once, in raw and in each tier, whenever it is joined`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    const { channelId } = writer
    let acceptedAt = START
    const say = (at: number, attrs: object) => {
      acceptedAt += 1
      return writer.take(thing('update', 'a', { at, attrs: { ...attrs }, acceptedAt })).commit()
    }
    const ask = async () => {
      const query = { channelId, thingId: 'a', attrs: ['n'] }
      const raw = (await seriesOf(store, { ...query, step: 'raw' }))['n']
      const day = (await seriesOf(store, { ...query, step: '1d' }))['n']
      const fine = (await seriesOf(store, { ...query, step: '5m' }))['n'] as
        | BucketColumns
        | undefined
      return [raw?.times, day?.times, fine?.count]
    }
    const [present, closed, before] = [START + 3 * DAY, START, START + 3 * DAY - HOUR] as const
    await say(present, { n: 1 })
    await joinOld(store)
    await mergeAll(store)
    await say(closed, { n: 2 }) // Of a period that was written for good.
    await say(before, { n: 3 })
    t.deepEqual([writer.feed.length, writer.late.length], [1, 2])
    const all = [
      [closed, before, present],
      [START, before - (before % DAY), present],
      [1, 1, 1],
    ]
    t.deepEqual(await ask(), all)
    await joinOld(store)
    t.deepEqual(await ask(), all)
    await mergeAll(store)
    t.deepEqual(await ask(), all)
  })

  for (const [form, updates] of [
    ['small', 4],
    ['compressed', 100],
  ] as const) {
    test(`${engine}: a series finds its Thing in ${form} blocks that are not joined, and no other`, async (t) => {
      const store = await open(t)
      const writer = await ChannelWriter.open(store, 1)
      const { channelId } = writer
      const ids = ['a', 'aa', 'a-1', 'b']
      for (let at = 0; at < 2 * updates; at += 1) {
        const id = ids[at % ids.length] ?? ''
        writer.take(thing('update', id, { at: START + at, attrs: { n: at }, acceptedAt: START }))
        if (at === updates - 1) await writer.commit()
      }
      await writer.commit()
      for (const [place, thingId] of [...ids, '-1'].entries()) {
        const series = await seriesOf(store, { channelId, thingId, step: '1d' })
        const counts = place < ids.length ? [updates / 2] : undefined
        t.deepEqual((series['n'] as BucketColumns | undefined)?.count, counts, thingId)
      }
    })
  }

  test(`${engine}: raw/2: a deletion takes the late readings before it, and none behind it`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    const { channelId } = writer
    const steps = [
      ['create', 10, 1],
      ['update', 5, 2],
      ['delete', 20, undefined],
      ['create', 5_000_030, 3],
      ['update', 5_000_025, 4],
    ] as const
    for (const [index, [action, at, n]] of steps.entries()) {
      const attrs = n === undefined ? {} : { n }
      await writer.take(thing(action, 'a', { at, attrs, acceptedAt: 2_000_000 * index })).commit()
    }
    t.is(writer.late.length, 2)
    const times = async () =>
      (await seriesOf(store, { channelId, thingId: 'a', step: 'raw' }))['n']?.times
    t.deepEqual(await times(), [5_000_025, 5_000_030])
    await joinOld(store)
    t.deepEqual(await times(), [5_000_025, 5_000_030])
  })

  test(`${engine}: turn-rows/1, contributions/2: a deletion takes the late readings of its turn, and none behind it`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    const { channelId } = writer
    const steps = [
      ['update', 10, 1],
      ['update', 5, 2],
      ['delete', 20, undefined],
      ['create', 5_000_030, 3],
      ['update', 5_000_025, 4],
    ] as const
    for (const [index, [action, at, n]] of steps.entries()) {
      const attrs = n === undefined ? {} : { n }
      const acceptedAt = 2_000_000 * index
      writer.take(thing(action, 'a', { at: START + at, attrs, acceptedAt }))
      if (action === 'update')
        writer.take(thing(action, 'b', { at: START + at, attrs, acceptedAt }))
    }
    await writer.commit()
    t.is(writer.late.length, 3)
    const counts = () =>
      Promise.all(
        ['a', 'b'].map(async (thingId) => {
          const { n } = await seriesOf(store, { channelId, thingId, step: '1d' })
          return n !== undefined && 'count' in n ? n.count : []
        }),
      )
    t.deepEqual(await counts(), [[2], [3]])
    await joinOld(store)
    t.deepEqual(await counts(), [[2], [3]])
    await mergeAll(store)
    t.deepEqual(await counts(), [[2], [3]])
  })
}

/** The columns of buckets with one reading each. */
const onceEach = (values: readonly number[]) => ({
  min: values,
  max: values,
  mean: values,
  last: values,
  count: values.map(() => 1),
})
