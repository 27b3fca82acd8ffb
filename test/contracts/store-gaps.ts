// Gaps: changes that retention has removed, and such that a restored database never had.

import test from 'ava'

import type { CatchUpPage } from '#domain/feed'
import { FeedReader, pageFrom } from '#test/support/feed-reader'
import { retireBefore } from '#test/support/retired'
import { ChannelWriter } from '#test/support/store-writer'
import { channel, message, thing } from '#test/support/submissions'
import type { OpenStore } from './store-contract.ts'

const A = channel(1)

export function gapsContract(engine: string, open: OpenStore): void {
  test(`${engine}: catch-up/1, retention/2: the gap covers the removed and unseen entries`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    for (let at = 1; at <= 6; at += 1) writer.take(message({ acceptedAt: at }))
    await writer.commit()
    await retireBefore(store, 5)
    const rows: [after: number, since: number, gap: CatchUpPage['gap']][] = [
      [0, 0, { from: 1, to: 4, restart: false }],
      [2, 0, { from: 3, to: 4, restart: false }],
      [1, 3, { from: 4, to: 4, restart: false }],
      [4, 0, undefined],
      [0, 4, undefined],
      [6, 0, undefined],
    ]
    for (const [afterSeq, sinceSeq, gap] of rows) {
      const page = await pageFrom(store, { channelId: A, afterSeq, sinceSeq, limit: 9 })
      t.deepEqual(page.gap, gap)
      t.deepEqual(page.removedTo, { entries: 4, tombstones: 0 })
    }
  })

  test(`${engine}: catch-up/2, catch-up/3, retention/2: a forgotten deletion restarts once, over many pages`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    for (const id of ['a', 'b', 'c', 'd']) writer.take(thing('update', id))
    await writer.commit()
    const reader = new FeedReader(A, 0)
    await reader.read(store, 9)
    await writer.take(thing('delete', 'a', { at: 2, acceptedAt: 2_000 })).commit()
    await writer.take(message({ acceptedAt: 3_000 })).commit()
    await retireBefore(store, 2_500)

    reader.pages = 0
    await reader.read(store, 1)
    t.deepEqual([...reader.things.keys()].toSorted(), ['b', 'c', 'd'])
    t.is(reader.pages, 4)
    t.deepEqual([...reader.lost], [5])
  })

  test(`${engine}: catch-up/2: a deletion that is forgotten between two pages restarts`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    await writer.take(thing('update', 'a'), thing('update', 'b')).commit()
    const reader = new FeedReader(A, 0)
    await reader.read(store, 9)
    await writer
      .take(thing('update', 'b', { at: 2, acceptedAt: 2_000 }))
      .take(thing('delete', 'a', { at: 2, acceptedAt: 3_000 }), message({ acceptedAt: 4_000 }))
      .commit()
    // Messages go before tombstones that are as old.
    await retireBefore(store, 5_000, 0)
    await reader.read(store, 1, 1)
    t.deepEqual([...reader.lost], [3, 4, 5])
    await retireBefore(store, 5_000)
    await reader.read(store, 1)
    t.deepEqual([...reader.things.keys()], ['b'])
  })

  test(`${engine}: a device ahead of a restored database begins anew`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    await writer.take(message(), thing('update', 'lamp')).commit()
    const page = await pageFrom(store, { channelId: A, afterSeq: 9, sinceSeq: 0, limit: 9 })
    t.deepEqual(page.gap, { from: 3, to: 9, restart: true })
    t.deepEqual(
      page.entries.map(({ seq }) => seq),
      [2],
    )
  })
}
