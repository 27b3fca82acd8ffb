// Blocks of updates: a channel reads the same from them before and after they are joined.

import test from 'ava'

import type { HistoryQuery } from '#domain/history/ordered-reads'
import type { Store } from '#src/store/store'
import { joinAll } from '#test/support/joined'
import { NEVER } from '#test/support/retention-limits'
import { stepsOf } from '#test/support/retired'
import { ChannelWriter } from '#test/support/store-writer'
import { channel, event, message, thing } from '#test/support/submissions'
import { rounds } from '#test/support/until'
import type { OpenStore } from './store-contract.ts'

const A = channel(1)
const UPDATES = 700

/** Every page of a query, as text. */
async function pagesOf(store: Store, query: HistoryQuery): Promise<string> {
  const pages: unknown[] = []
  let afterSeq = query.afterSeq
  for (const goOn = rounds(); goOn();) {
    const page = await store.read.history({ ...query, ...(afterSeq !== undefined && { afterSeq }) })
    pages.push(page)
    if (page.next === undefined) break
    afterSeq = page.next
  }
  return JSON.stringify(pages)
}

/** A feed of every model, over two channels and several commits, some of them in one run. */
async function fill(store: Store): Promise<readonly ChannelWriter[]> {
  const writers = [await ChannelWriter.open(store, 1), await ChannelWriter.open(store, 2)]
  for (const [index, writer] of writers.entries()) {
    for (let count = 0; count < UPDATES; count += 1) {
      const parts = { channelId: writer.channelId, at: count + 1, acceptedAt: 5_000 + 10 * count }
      const fields = {
        title: `Nr. ${count} "ü\u2028😀"`,
        note: 'x'.repeat(count % 90 === 7 ? 30_000 : 9),
      }
      writer.take(
        thing('update', `${count % 2 === 0 ? 'even' : 'odd'}-${count % 9}`, {
          ...parts,
          fields,
          attrs: { n: 0 },
        }),
      )
      if (count % 40 === 39) {
        writer.take(thing('update', 'even-0', { ...parts, at: 1, attrs: { n: count } }))
      }
      if (count % 50 === 0) writer.take(message(parts), event('update', `e${count}`, parts))
      if (count % 60 === 1)
        writer.take(thing('update', 'named', { ...parts, opId: `op-${index}-${count}` }))
      if (count % 300 === 299) await writer.commit()
    }
    await writer.commit()
  }
  return writers
}

const QUERIES: readonly Omit<HistoryQuery, 'channelId'>[] = [
  { limit: 200 },
  { limit: 7, afterSeq: 440 },
  { limit: 50, models: ['thing'] },
  { limit: 50, models: ['message'] },
  { limit: 50, models: ['message', 'event'] },
  { limit: 50, models: ['event', 'thing'] },
  { limit: 50, entityId: 'named' },
  { limit: 9, entityId: 'even-4', afterSeq: 99 },
  { limit: 50, thingPrefix: 'odd-' },
  { limit: 50, thingPrefix: 'odd-', models: ['thing'] },
]

export function joinedContract(engine: string, open: OpenStore): void {
  test(`${engine}: update-blocks/1, joining/2: history is the same before and after blocks are joined`, async (t) => {
    const store = await open(t)
    const writers = await fill(store)
    const ask = (): Promise<string[]> =>
      Promise.all(
        writers.flatMap(({ channelId }) =>
          QUERIES.map((query) => pagesOf(store, { channelId, ...query })),
        ),
      )
    const before = await ask()
    t.true((await joinAll(store)) >= 2 * UPDATES)
    t.deepEqual(await ask(), before)
    // Some in joined blocks and some in others.
    for (const writer of writers)
      await writer
        .take(thing('update', 'odd-1', { at: 9_999, channelId: writer.channelId }))
        .commit()
    const mixed = await ask()
    await joinAll(store)
    t.deepEqual(await ask(), mixed)
    const since = await store.read.history({
      channelId: A,
      sinceMs: 9_000,
      limit: 200,
      models: ['thing'],
    })
    t.deepEqual(
      since.items.map(({ seq }) => seq),
      writers[0]?.feed
        .filter(({ model, acceptedAt }) => model === 'thing' && acceptedAt >= 9_000)
        .slice(0, 200)
        .map(({ seq }) => seq),
    )
  })

  test(`${engine}: blocks are joined when they are old or many`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    writer.take(message(), thing('update', 'lamp', { acceptedAt: 1_000 }), event('update', 'fire'))
    await writer.commit()
    t.is(await store.joining.join(1_000 + 600_000), 0)
    t.is(await store.joining.join(1_001 + 600_000), 1)
    t.is(await store.joining.join(1_001 + 600_000), 0)
  })

  test(`${engine}: blocks that are not old are joined once one more would not fit into a run`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    let at = 0
    const commit = async () => {
      for (let update = 0; update < 126; update += 1) {
        writer.take(thing('update', 'lamp', { at: (at += 1), acceptedAt: 1_000 }))
      }
      await writer.commit()
    }
    for (let block = 0; block < 130; block += 1) await commit()
    t.is(await store.joining.join(1_000), 0)
    await commit()
    t.is(await store.joining.join(1_000), 130 * 126)
  })

  test(`${engine}: joining/4: while turns need all the time only old blocks are joined`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    const blocks = 512
    for (let at = 0; at < blocks; at += 1) {
      await writer.take(thing('update', 'lamp', { at, acceptedAt: 1_000 })).commit()
    }
    t.is(await store.joining.join(1_000, true), 0)
    t.is(await store.joining.join(1_001 + 600_000, true), blocks)
    for (let at = blocks; at < 2 * blocks; at += 1) {
      t.is(await store.joining.join(700_000, false), 0)
      await writer.take(thing('update', 'lamp', { at, acceptedAt: 700_000 })).commit()
    }
    t.is(await store.joining.join(700_000, false), blocks)
  })

  test(`${engine}: blocks are removed once all of their updates are past their time`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    const other = await ChannelWriter.open(store, 2)
    await writer.take(thing('update', 'a', { acceptedAt: 1_000 })).commit()
    await other
      .take(thing('update', 'b', { acceptedAt: 1_500, channelId: other.channelId }))
      .commit()
    await joinAll(store)
    const seqs = async () => (await store.read.history({ channelId: A, limit: 9 })).items.length
    t.deepEqual(await stepsOf(store, { ...NEVER, thingUpdates: 1_500 }, 9), [])
    t.is(await seqs(), 1)
    t.deepEqual(await stepsOf(store, { ...NEVER, thingUpdates: 1_501 }, 9), [3])
    t.is(await seqs(), 0)
  })

  test(`${engine}: a deleted channel has no place in a block`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    await writer.take(thing('update', 'a', { at: 2, attrs: { n: 2 } })).commit()
    await joinAll(store)
    await writer.take(thing('update', 'a', { at: 1, attrs: { n: 1 } })).commit()
    await store.channels.delete(A, 1_000)
    // Its places, that of a late reading too, its Thing, its chunk of tiers, and the two rows of the
    // channel itself.
    t.deepEqual(await stepsOf(store, { ...NEVER, deletedChannels: 1_001 }, 9), [6])
  })

  test(`${engine}: joining/1: two that gather at once move each update once`, async (t) => {
    const store = await open(t)
    const [writer] = await fill(store)
    const before = await pagesOf(store, { channelId: A, limit: 200 })
    const late = Number.MAX_SAFE_INTEGER
    await Promise.allSettled([store.joining.join(late), store.joining.join(late)])
    await joinAll(store)
    t.is(await pagesOf(store, { channelId: A, limit: 200 }), before)
    t.is(writer?.channelId, A)
  })
}
