// Reading what a channel holds: one entity, lists, history, and what a device has yet to pull.

import test from 'ava'

import type { HistoryQuery } from '#domain/history/ordered-reads'
import type { EntityQuery, Page } from '#domain/store-ports'
import type { Store } from '#src/store/store'
import { ChannelWriter } from '#test/support/store-writer'
import { acknowledgement, channel, event } from '#test/support/submissions'
import { message, scatteredUpdates, thing } from '#test/support/submissions'
import { device } from './store-channels.ts'
import type { OpenStore } from './store-contract.ts'
import { rounds } from '#test/support/until'

const A = channel(1)
const NOBODY = channel(99)

/** Every item of every page, and how many pages that took. */
async function everyPage<Item>(
  read: (next: number | undefined) => Promise<Page<Item>>,
): Promise<{ readonly items: readonly Item[]; readonly pages: number }> {
  const items: Item[] = []
  const goOn = rounds()
  let pages = 0
  let next: number | undefined
  do {
    const page = await read(next)
    items.push(...page.items)
    pages += 1
    next = page.next
  } while (next !== undefined && goOn())
  return { items, pages }
}

const history = (store: Store, query: Partial<HistoryQuery>) =>
  everyPage((next) =>
    store.read.history({
      channelId: A,
      limit: 3,
      ...query,
      ...(next !== undefined && { afterSeq: next }),
    }),
  )

const list = (store: Store, kind: 'things' | 'events', query: Partial<EntityQuery>) =>
  everyPage<{ readonly id: string }>((next) =>
    store.read[kind]({
      channelId: A,
      limit: 2,
      ...query,
      ...(next !== undefined && { before: next }),
    }),
  )

export function readingContract(engine: string, open: OpenStore): void {
  test(`${engine}: mysql/1: a Thing and an Event are read as they are, in their own channel`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    await ChannelWriter.open(store, 2)
    await writer
      .take(thing('update', 'lamp', { attrs: { on: 1 } }), event('close', 'fire'))
      .commit()
    t.deepEqual(await store.read.thing(A, 'lamp'), writer.things.get('lamp'))
    t.deepEqual(await store.read.event(A, 'fire'), writer.events.get('fire'))
    for (const other of ['fire', 'LAMP', 'lämp']) {
      t.is(await store.read.thing(A, other), undefined)
    }
    t.is(await store.read.event(A, 'lamp'), undefined)
    t.is(await store.read.thing(channel(2), 'lamp'), undefined)
    t.is(await store.read.thing(NOBODY, 'lamp'), undefined)
  })

  test(`${engine}: lists give the newest change first, page by page`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    for (const id of ['a', 'b', 'c', 'd', 'e']) writer.take(thing('update', id))
    writer.take(thing('archive', 'b', { at: 2 }), thing('delete', 'd', { at: 2 }))
    await writer.take(event('create', 'x', { fields: { thing_id: 'a' } })).commit()
    await writer.take(event('create', 'y', { fields: { thing_id: 'b' } })).commit()
    await writer.take(event('close', 'x', { at: 2 })).commit()
    await writer.take(event('create', 'z', { fields: { thing_id: 'c' } })).commit()
    await writer.take(event('update', 'z', { at: 2, fields: { thing_id: '' } })).commit()

    const rows: [kind: 'things' | 'events', query: Partial<EntityQuery>, ids: string][] = [
      ['things', {}, 'dbeca'],
      ['things', { state: 'active' }, 'eca'],
      ['things', { state: 'deleted' }, 'd'],
      ['things', { state: 'unknown' }, ''],
      ['events', {}, 'zxy'],
      ['events', { state: 'open' }, 'zy'],
      ['events', { thingId: 'c' }, ''],
      ['events', { thingId: '' }, ''],
      ['events', { thingId: 'a' }, 'x'],
      ['events', { thingId: 'a', state: 'open' }, ''],
    ]
    for (const [kind, query, ids] of rows) {
      const { items } = await list(store, kind, query)
      t.is(items.map(({ id }) => id).join(''), ids, JSON.stringify([kind, query]))
    }
    t.deepEqual(await store.read.things({ channelId: NOBODY, limit: 2 }), { items: [] })
  })

  test(`${engine}: last-changes/1: lists lose nothing, wherever the last changes are`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    await writer.take(...scatteredUpdates()).commit()
    const newest = [...writer.things.values()].toSorted((one, other) => other.seq - one.seq)
    for (const limit of [1, 7, 100, 200]) {
      const { items } = await list(store, 'things', { limit })
      t.deepEqual(items, newest)
    }
    const deleted = await list(store, 'things', { state: 'deleted', limit: 3 })
    t.deepEqual(
      deleted.items,
      newest.filter(({ state }) => state === 'deleted'),
    )
  })

  test(`${engine}: paging/1: a filter ends its page early and loses nothing`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    // Matches at both ends and around every place where a page of 2,000 rows may end, or the block
    // of 128 rows in which it ends.
    const archived = new Set([0, 199, 200, 201, 382, 383, 2_199, 2_200, 2_302, 2_303, 4_100])
    for (let index = 0; index < 4_200; index += 1) {
      writer.take(thing(archived.has(index) ? 'archive' : 'update', `t${index}`))
    }
    await writer.take(message(), event('update', 'fire')).commit()
    const { items, pages } = await list(store, 'things', { state: 'archived', limit: 50 })
    t.deepEqual(
      items.map(({ id }) => id),
      [...archived].map((index) => `t${index}`).toReversed(),
    )
    t.is(pages, 3)
    // The first entries that the first and the second page of the history leave to the next one.
    for (const id of ['t2000', 't4000']) {
      t.is((await history(store, { entityId: id })).items.length, 1)
    }
    // Messages and Events behind any number of updates are in the first page.
    const told = await history(store, { models: ['message', 'event'], limit: 50 })
    t.is(told.pages, 1)
    t.deepEqual(told.items, writer.feed.slice(-2))
  })

  test(`${engine}: paging/1: a filter of the history loses nothing of either table`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    // Two updates for each message at first, then only messages: the tables' pages end far apart.
    for (let index = 0; index < 4_100; index += 1) {
      const isPulse = index % 500 === 1
      if (index % 3 === 0 && !isPulse) writer.take(message())
      else writer.take(thing('update', isPulse ? 'pulse' : `t${index}`, { at: index }))
    }
    for (let index = 0; index < 2_100; index += 1) writer.take(message())
    writer.take(thing('update', 'pulse', { at: 9_999 }))
    await writer.commit()
    const { items, pages } = await history(store, { entityId: 'pulse', limit: 50 })
    t.deepEqual(
      items,
      writer.feed.filter(({ entityId }) => entityId === 'pulse'),
    )
    t.is(pages, 3)
  })

  test(`${engine}: a prefix keeps to Things whose id begins so, to the byte, and to their Events`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    const inside = ['boiler_', 'boiler_7']
    const things = ['boiler', 'boilerX7', 'Boiler_7', 'x-boiler_7', ...inside]
    for (const id of things) {
      writer.take(thing('update', id), event('update', `e-${id}`, { fields: { thing_id: id } }))
    }
    await writer.take(message(), event('update', 'e-none')).commit()
    const query = { thingPrefix: 'boiler_', limit: 50 }
    const events = inside.map((id) => `e-${id}`)
    const idsOf = ({ items }: { readonly items: readonly { readonly id: string }[] }) =>
      items.map(({ id }) => id).toSorted()
    t.deepEqual(idsOf(await list(store, 'things', query)), inside)
    t.deepEqual(idsOf(await list(store, 'events', query)), events)
    const { items } = await history(store, query)
    t.deepEqual(items.map(({ entityId }) => entityId).toSorted(), [...inside, ...events])
  })

  test(`${engine}: a list of Events is of acknowledged ones, or of all others; both are open`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    const ids = ['none', 'held', 'over', 'ended']
    writer.take(...ids.map((id) => event('update', id, { fields: { severity: 'high' } })))
    writer.take(...ids.slice(1).map((id) => acknowledgement(id, { by: 'anna', snoozeMs: 60_000 })))
    writer.take(event('update', 'over', { at: 2, fields: { severity: 'critical' } }))
    await writer.take(event('close', 'ended')).commit()
    const idsOf = async (query: Partial<EntityQuery>) => {
      const { items } = await list(store, 'events', { ...query, limit: 50 })
      return items.map(({ id }) => id).toSorted()
    }
    t.deepEqual(await idsOf({ isAcknowledged: true }), ['held'])
    t.deepEqual(await idsOf({ isAcknowledged: false }), ['ended', 'none', 'over'])
    t.deepEqual(await idsOf({ state: 'open' }), ['held', 'none', 'over'])
    t.deepEqual(await idsOf({ state: 'closed' }), ['ended'])
    t.deepEqual(await idsOf({ state: 'open', isAcknowledged: false }), ['none', 'over'])
    for (const id of ids) {
      t.deepEqual(await store.read.event(writer.channelId, id), writer.events.get(id))
    }
  })

  test(`${engine}: history gives both kinds of entries in seq order`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    for (let at = 1; at <= 4; at += 1) {
      const acceptedAt = at * 10
      writer.take(
        message({ acceptedAt }),
        thing('update', 'lamp', { at, acceptedAt, attrs: { at } }),
        event('update', 'fire', { at, acceptedAt, fields: { title: `${at}` } }),
      )
    }
    await writer.commit()
    const { feed } = writer
    const rows: [query: Partial<HistoryQuery>, seqs: number[]][] = [
      [{}, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]],
      [{ limit: 200 }, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]],
      [{ afterSeq: 10 }, [11, 12]],
      [{ afterSeq: 12 }, []],
      [{ models: ['thing'] }, [2, 5, 8, 11]],
      [{ models: ['message'] }, [1, 4, 7, 10]],
      [{ models: ['event'], afterSeq: 6 }, [9, 12]],
      [{ models: ['message', 'event'] }, [1, 3, 4, 6, 7, 9, 10, 12]],
      [{ models: ['thing', 'message'], afterSeq: 6 }, [7, 8, 10, 11]],
      [{ models: ['event', 'message', 'thing'], afterSeq: 9 }, [10, 11, 12]],
      [{ models: ['event', 'message'], entityId: 'lamp' }, []],
      [{ entityId: 'lamp' }, [2, 5, 8, 11]],
      [{ entityId: 'nobody' }, []],
      [{ sinceMs: 30 }, [7, 8, 9, 10, 11, 12]],
      [{ sinceMs: 31 }, [10, 11, 12]],
      [{ sinceMs: 41 }, []],
      [{ sinceMs: 0 }, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]],
      [{ sinceMs: 20, models: ['thing'], afterSeq: 5 }, [8, 11]],
      [{ channelId: NOBODY }, []],
    ]
    for (const [query, seqs] of rows) {
      const { items } = await history(store, query)
      const expected = seqs.map((seq) => feed[seq - 1])
      t.deepEqual(items, expected as typeof items, JSON.stringify(query))
    }
    // A page that found nothing tells up to which seq it has looked.
    for (const [query, headSeq] of [
      [{ sinceMs: 41 }, 12],
      [{ afterSeq: 3, models: ['event'], sinceMs: 41 }, 12],
      [{ models: ['thing'], entityId: 'nobody' }, 12],
      [{ channelId: NOBODY }, 0],
    ] as const) {
      const page = await store.read.history({ channelId: A, limit: 3, ...query })
      t.deepEqual(page, { items: [], headSeq }, JSON.stringify(query))
    }
  })

  test(`${engine}: history since a time goes on before Messages of old claims`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    // A claim whose append failed was completed by repeats: their time is that of the claim.
    const isOld = (index: number): boolean => index % 100 >= 40 && index % 100 < 60
    for (let index = 0; index < 300; index += 1) {
      writer.take(message({ acceptedAt: isOld(index) ? 10 : 1_000 + index }))
    }
    await writer.commit()
    for (const sinceMs of [11, 1_000, 1_030, 1_039, 1_060, 1_150, 1_199, 1_299]) {
      const { items } = await history(store, { sinceMs, limit: 200 })
      const expected = writer.feed.filter(({ acceptedAt }) => acceptedAt >= sinceMs)
      t.deepEqual(items, expected, `${sinceMs}`)
    }
  })

  test(`${engine}: a pull gives every channel's entries in order`, async (t) => {
    const store = await open(t)
    const { subscriptions, devices, read } = store
    await devices.create(device(1), 'linux', 1)
    const writers = [await ChannelWriter.open(store, 2), await ChannelWriter.open(store, 1)]
    for (const writer of writers) {
      await writer.take(message(), thing('update', 'lamp', { attrs: { on: true } })).commit()
      await subscriptions.subscribe(device(1), writer.channelId, 1)
      await writer.take(message(), event('create', 'fire')).commit()
    }
    const whole = await read.pull(device(1), 200)
    t.deepEqual(
      whole.items.map(({ channelId, seq, action }) => [channelId, seq, action]),
      [channel(1), channel(2)].toSorted().flatMap((channelId) => [
        [channelId, 2, 'sync'],
        [channelId, 3, 'send'],
        [channelId, 4, 'create'],
      ]),
    )
    t.false(whole.hasMore)
    t.deepEqual(await read.pull(device(1), 6), whole)
    t.deepEqual(await read.pull(device(1), 5), { items: whole.items.slice(0, 5), hasMore: true })
    t.deepEqual(await read.pull(device(2), 5), { items: [], hasMore: false })
  })
}
