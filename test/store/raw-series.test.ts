// Goal: whatever a channel has, readings themselves are read to their end by who goes on at `to`.
// Method: reads that unpack few updates, over blocks of a few.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { ALL_POINTS_MAX } from '#domain/history/series'
import type { SeriesFound } from '#domain/history/series'
import { SeriesReading } from '#src/store/tiers/series'
import { FakeMeter } from '#test/support/fake-telemetry'
import { emptyFile } from '#test/support/sqlite-store'
import { ChannelWriter } from '#test/support/store-writer'
import { channel, thing } from '#test/support/submissions'
import { START } from '#test/support/tiers'
import { rounds } from '#test/support/until'
import { openWatched } from '#test/support/watched-store'

const UPDATES_MAX = 64
const BLOCK = 4

interface Said {
  readonly id?: string
  /** When it was observed, and when it was accepted, behind START. */
  readonly at: number
  readonly accepted?: number
}

async function rigWith(t: ExecutionContext, said: readonly Said[]) {
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const writer = await ChannelWriter.open(store, 1)
  for (const [index, { id = 'a', at, accepted = at }] of said.entries()) {
    const attrs = { n: index }
    writer.take(thing('update', id, { at: START + at, acceptedAt: START + accepted, attrs }))
    if (index % BLOCK === BLOCK - 1) await writer.commit()
  }
  await writer.commit()
  const series = new SeriesReading(store.database, new FakeMeter(), { updates: UPDATES_MAX })
  const query = { channelId: channel(1), thingId: 'a', step: 'raw' } as const
  const read = (from: number, to: number) =>
    series.series({ ...query, from: START + from, to: START + to })
  return { store, writer, read }
}

type Read = (from: number, to: number) => Promise<SeriesFound>

/** The times that somebody finds who asks for the rest until there is none. */
async function allTimes(read: Read, to: number): Promise<readonly number[]> {
  const times: number[] = []
  let from = 0
  for (const goOn = rounds(); from < to && goOn();) {
    const { attrs, wholeTo = START + to } = await read(from, to)
    times.push(...(attrs['n']?.times ?? []).map((time) => time - START))
    from = wholeTo - START
  }
  return times
}

const counted = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at)
const EVERY = counted(300)
const OWN: readonly Said[] = EVERY.map((at) => ({ at }))

const CHANNELS: readonly (readonly [title: string, said: readonly Said[]])[] = [
  ['the Thing alone', OWN],
  ['more updates within the hour before than a read takes', [
    ...counted(200).map((at) => ({ id: 'b', at: at - 200 })),
    ...OWN,
  ]],
  ['more late readings than a read takes', [
    { id: 'b', at: 1_000, accepted: 0 },
    ...counted(200).map((at) => ({ id: 'b', at, accepted: 0 })),
    ...OWN,
  ]],
  ['updates of another Thing between any two', EVERY.flatMap((at) => [
    ...counted(10).map(() => ({ id: 'b', at })),
    { at },
  ])],
] // oxfmt-ignore

for (const [title, said] of CHANNELS) {
  test(`raw/3: with ${title}, all readings are read by who goes on at its end`, async (t) => {
    const { read } = await rigWith(t, said)
    t.deepEqual(await allTimes(read, 300), EVERY)
  })
}

test('raw/3: a Thing that is silent for longer than a read takes is read on behind it', async (t) => {
  const others = counted(300).map((at) => ({ id: 'b', at }))
  const { read } = await rigWith(t, [{ at: 0 }, ...others, { at: 299 }])
  t.deepEqual(await allTimes(read, 300), [0, 299])
})

test('raw/3: it says that it left late readings out, or those of clocks that are ahead', async (t) => {
  const late = await rigWith(t, CHANNELS[2]?.[1] ?? [])
  t.true((await late.read(290, 300)).isPartial)
  const ahead = await rigWith(t, CHANNELS[1]?.[1] ?? [])
  t.true((await ahead.read(0, 10)).isPartial)
  const neither = await rigWith(t, OWN.slice(0, 20))
  t.false('isPartial' in (await neither.read(0, 20)))
})

test('raw/3: of one time it gives as many values as a series may have, and says that there are more', async (t) => {
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const writer = await ChannelWriter.open(store, 1)
  const names = counted(64).map((at) => `n${at}`)
  const say = (at: number, count: number) => {
    const attrs = Object.fromEntries(names.map((name) => [name, count]))
    writer.take(thing('update', 'a', { at: START + at, acceptedAt: START + count, attrs }))
  }
  const most = ALL_POINTS_MAX / names.length
  for (const count of counted(3 * most)) say(0, count)
  say(1, 3 * most)
  await writer.commit()
  const query = { channelId: channel(1), thingId: 'a', step: 'raw' } as const
  const read = (from: number, to: number) =>
    store.series.series({ ...query, from: START + from, to: START + to })
  for (const to of [1, 5]) {
    const { attrs, wholeTo, isPartial } = await read(0, to)
    t.deepEqual([wholeTo, isPartial], [to === 1 ? undefined : START + 1, true])
    t.deepEqual(
      names.map((name) => attrs[name]?.times.length),
      names.map(() => most),
    )
  }
  const { attrs, wholeTo, isPartial } = await read(1, 5)
  t.deepEqual([wholeTo, isPartial, attrs['n0']?.times], [undefined, undefined, [START + 1]])
})

test('raw/4: long texts are read in parts by who goes on at the end, as many at once as short ones take', async (t) => {
  const store = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const writer = await ChannelWriter.open(store, 1)
  const text = 'a'.repeat(30_000)
  for (const at of counted(300)) {
    const attrs = { n: `${text}${at}`, t: at }
    writer.take(thing('update', 'a', { at: START + at, acceptedAt: START + at, attrs }))
  }
  await writer.commit()
  const query = { channelId: channel(1), thingId: 'a', step: 'raw' } as const
  const lengths: number[] = []
  const times = await allTimes(async (from, to) => {
    const found = await store.series.series({ ...query, from: START + from, to: START + to })
    lengths.push(JSON.stringify(found).length)
    return found
  }, 300)
  t.deepEqual(times, counted(300))
  t.true(lengths.length > 1 && Math.max(...lengths) < 6 * 2 ** 20, lengths.join())
  // Of one time as well.
  for (const at of counted(300)) {
    writer.take(
      thing('update', 'b', { at: START, acceptedAt: START + at, attrs: { n: text + at } }),
    )
  }
  await writer.commit()
  const one = { ...query, thingId: 'b', from: START, to: START + 5 }
  const { wholeTo, isPartial, attrs } = await store.series.series(one)
  t.deepEqual([wholeTo, isPartial], [START + 1, true])
  t.true((attrs['n']?.times.length ?? 0) > 100)
  t.true(JSON.stringify(attrs).length < 6 * 2 ** 20)
})
