// Pages by their bytes: no page of any kind is larger than its bound, and none loses an item.

import test from 'ava'

import { PAGE_BYTES_MAX } from '#domain/store-ports'
import type { Store } from '#src/store/store'
import { pageFrom } from '#test/support/feed-reader'
import { ChannelWriter } from '#test/support/store-writer'
import { channel, event, message, thing } from '#test/support/submissions'
import { device } from './store-channels.ts'
import type { OpenStore } from './store-contract.ts'
import { rounds } from '#test/support/until'

const A = channel(1)
/** Characters of two bytes each: a bound that counted characters would let twice as much pass. */
const large = (bytes: number): string => 'ü'.repeat(bytes / 2)
const KIB_100 = 102_400

interface Read {
  readonly items: readonly { readonly seq: number }[]
  /** The start of the next page; undefined: nothing is left. */
  readonly next: number | undefined
}

/** The reader of each kind of page: gives the page behind a place. */
const KINDS: Record<string, (store: Store, from: number | undefined) => Promise<Read>> = {
  history: async (store, afterSeq = 0) => {
    const { items, next } = await store.read.history({ channelId: A, afterSeq, limit: 200 })
    return { items, next }
  },
  'the history of Messages': async (store, afterSeq = 0) => {
    const query = { channelId: A, afterSeq, limit: 200, models: ['message'] } as const
    const { items, next } = await store.read.history(query)
    return { items, next }
  },
  'the list of Things': async (store, before = Number.MAX_SAFE_INTEGER) => {
    const { items, next } = await store.read.things({ channelId: A, before, limit: 200 })
    return { items, next }
  },
  'the list of Events': async (store, before = Number.MAX_SAFE_INTEGER) => {
    const query = { channelId: A, before, limit: 200, state: 'open' }
    const { items, next } = await store.read.events(query)
    return { items, next }
  },
  'catch-up': async (store, afterSeq = 0) => {
    const request = { channelId: A, afterSeq, sinceSeq: 0, limit: 200 }
    const { entries, complete } = await pageFrom(store, request)
    return { items: entries, next: complete ? undefined : entries.at(-1)?.seq }
  },
}

const bytesOf = (items: readonly object[]): number => Buffer.byteLength(JSON.stringify(items))

async function fillChannel(store: Store, count: number): Promise<ChannelWriter> {
  const writer = await ChannelWriter.open(store, 1)
  await store.devices.create(device(1), 'linux', 1)
  await store.subscriptions.subscribe(device(1), A, 1)
  for (let index = 0; index < count; index += 1) {
    const half = large(KIB_100 / 2)
    const patch = { fields: { title: half }, attrs: { half } }
    writer.take(
      message({ fields: { body: half + half } }),
      thing('update', `t${index}`, patch),
      event('update', `e${index}`, patch),
    )
    await writer.commit()
  }
  return writer
}

export function pageBytesContract(engine: string, open: OpenStore): void {
  test(`${engine}: sized/1: pages of every kind end at a mebibyte and lose nothing`, async (t) => {
    const store = await open(t)
    const writer = await fillChannel(store, 24)
    for (const [kind, read] of Object.entries(KINDS)) {
      const seqs: number[] = []
      const goOn = rounds(20)
      let next: number | undefined
      do {
        const page: Read = await read(store, next)
        t.true(bytesOf(page.items) <= PAGE_BYTES_MAX, `${kind}: ${bytesOf(page.items)}`)
        if (page.next !== undefined) t.is(page.items.length, 10, kind)
        seqs.push(...page.items.map(({ seq }) => seq))
        next = page.next
      } while (next !== undefined && goOn())
      t.is(new Set(seqs).size, seqs.length, kind)
      const isWhole = kind === 'history' || kind === 'catch-up'
      t.is(seqs.length, isWhole ? writer.feed.length : 24, kind)
    }
  })

  test(`${engine}: sized/1: an item larger than a page is a page of its own`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    await store.devices.create(device(1), 'linux', 1)
    await store.subscriptions.subscribe(device(1), A, 1)
    const fields = { body: large(PAGE_BYTES_MAX + 2) }
    await writer.take(message({ fields }), message({ fields })).commit()
    for (const kind of ['history', 'catch-up']) {
      const page = await KINDS[kind]?.(store, undefined)
      t.deepEqual(page?.items.length, 1, kind)
      t.is(page?.next, 1, kind)
      const last = await KINDS[kind]?.(store, 1)
      t.deepEqual([last?.items.length, last?.next], [1, undefined], kind)
    }
    const pulled = await store.read.pull(device(1), 200)
    t.deepEqual([pulled.items.length, pulled.hasMore], [1, true])
  })

  test(`${engine}: sized/1: a pull ends at a mebibyte over all channels`, async (t) => {
    const store = await open(t)
    const { devices, subscriptions, read } = store
    await devices.create(device(1), 'linux', 1)
    for (const number of [1, 2, 3]) {
      const writer = await ChannelWriter.open(store, number)
      await subscriptions.subscribe(device(1), writer.channelId, 1)
      for (let count = 0; count < 4; count += 1) {
        writer.take(message({ channelId: writer.channelId, fields: { body: large(KIB_100) } }))
      }
      await writer.commit()
    }
    const counts: number[] = []
    for (const goOn = rounds(); goOn();) {
      const { items, hasMore } = await read.pull(device(1), 200)
      t.true(bytesOf(items) <= PAGE_BYTES_MAX)
      counts.push(items.length)
      await subscriptions.acknowledgeEntries(device(1), items)
      if (!hasMore) break
    }
    t.deepEqual(counts, [10, 2])
  })

  test(`${engine}: entries acknowledged ahead take no room in a pull`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    await store.devices.create(device(1), 'linux', 1)
    await store.subscriptions.subscribe(device(1), A, 1)
    for (let count = 0; count < 12; count += 1) {
      writer.take(message({ fields: { body: large(KIB_100) } }))
    }
    await writer.commit()
    const ahead = [2, 3, 4, 5].map((seq) => ({ channelId: A, seq }))
    await store.subscriptions.acknowledgeEntries(device(1), ahead)
    const seqsOf = async (limit: number): Promise<readonly number[]> =>
      (await store.read.pull(device(1), limit)).items.map(({ seq }) => seq)
    t.deepEqual(await seqsOf(200), [1, 6, 7, 8, 9, 10, 11, 12])
    t.deepEqual(await seqsOf(2), [1, 6])
    t.true((await store.read.pull(device(1), 7)).hasMore)
    t.false((await store.read.pull(device(1), 8)).hasMore)
  })
}
