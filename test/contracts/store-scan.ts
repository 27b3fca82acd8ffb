// Scanning Things for queries: both orders, both directions, and pages of long documents.

import test from 'ava'

import type { ScanQuery, ScannedThing } from '#domain/things/scan'
import { documentOf } from '#domain/things/document'
import { PAGE_BYTES_MAX } from '#domain/store-ports'
import type { Store } from '#src/store/store'
import { ChannelWriter } from '#test/support/store-writer'
import { channel, thing } from '#test/support/submissions'
import { rounds } from '#test/support/until'
import type { OpenStore } from './store-contract.ts'

const A = channel(1)
const IDS = ['A', 'Z', '_', 'a', 'a-', 'a-1', 'a-z', 'a:', 'aa', 'b', 'z'] as const

/** Every Thing of every page. */
async function scanned(store: Store, query: Partial<ScanQuery>): Promise<readonly ScannedThing[]> {
  const found: ScannedThing[] = []
  const { by = 'thing_id', isDescending = false } = query
  let { after } = query
  for (const isWithin = rounds(100); isWithin();) {
    const page = await store.read.scan({
      channelId: A,
      limit: 3,
      ...query,
      by,
      isDescending,
      ...(after !== undefined && { after }),
    })
    found.push(...page.things)
    const last = page.things.at(-1)
    if (page.isLast || last === undefined) return found
    after = by === 'changed' ? last.seq : last.id
  }
  throw new Error('the scan has no end')
}

const idsOf = (things: readonly ScannedThing[]): readonly string[] => things.map(({ id }) => id)

async function filled(store: Store): Promise<ChannelWriter> {
  await ChannelWriter.open(store, 2)
  const writer = await ChannelWriter.open(store, 1)
  for (const id of ['z', 'a-1', 'b', '_', 'aa', 'a', 'Z', 'a:', 'A', 'a-z', 'a-']) {
    await writer.take(thing('update', id, { attrs: { id } })).commit()
  }
  await writer.take(thing('archive', 'b', { at: 2 }), thing('delete', 'z', { at: 2 })).commit()
  return writer
}

export function scanContract(engine: string, open: OpenStore): void {
  test(`${engine}: a scan gives every Thing once, by its id or its last change`, async (t) => {
    const store = await open(t)
    const { things } = await filled(store)
    const byId = await scanned(store, {})
    t.deepEqual(idsOf(byId), IDS)
    t.deepEqual(idsOf(await scanned(store, { isDescending: true })), IDS.toReversed())
    const changed = [...things.values()].toSorted((one, other) => one.seq - other.seq)
    const inOrder = changed.map(({ id }) => id)
    t.deepEqual(idsOf(await scanned(store, { by: 'changed' })), inOrder)
    const newest = await scanned(store, { by: 'changed', isDescending: true })
    t.deepEqual(idsOf(newest), inOrder.toReversed())
    for (const { id, state, seq, document, bytes } of byId) {
      const kept = things.get(id)
      t.like(kept, { state, seq })
      t.is(document, kept === undefined ? '' : documentOf(kept))
      t.is(bytes, Buffer.byteLength(document))
    }
    t.deepEqual(await scanned(store, { channelId: channel(2) }), [])
    t.deepEqual(await scanned(store, { channelId: channel(99) }), [])
  })

  test(`${engine}: a scan by ids stays within its bounds`, async (t) => {
    const store = await open(t)
    await filled(store)
    t.deepEqual(idsOf(await scanned(store, { prefix: 'a-' })), ['a-', 'a-1', 'a-z'])
    const back = await scanned(store, { prefix: 'a', isDescending: true })
    t.deepEqual(idsOf(back), ['aa', 'a:', 'a-z', 'a-1', 'a-', 'a'])
    t.deepEqual(idsOf(await scanned(store, { after: '_', until: 'a-1' })), ['a', 'a-', 'a-1'])
    t.deepEqual(await scanned(store, { prefix: 'c' }), [])
  })

  test(`${engine}: a scan by ids gives every Thing once, though Things change between its pages`, async (t) => {
    const store = await open(t)
    const writer = await filled(store)
    const query = { channelId: A, by: 'thing_id', isDescending: false, limit: 4 } as const
    const first = await store.read.scan(query)
    await writer.take(thing('update', 'Z', { at: 9, attrs: { n: 2 } })).commit()
    const rest = await scanned(store, { after: first.things.at(-1)?.id ?? '' })
    t.deepEqual(idsOf([...first.things, ...rest]), IDS)
  })

  test(`${engine}: scanning/1: long documents come in pages, and none is lost`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    const half = 'ü'.repeat(15_000)
    for (let index = 10; index < 60; index += 1) {
      const attrs = index % 5 === 0 ? { n: index } : { half, other: half }
      writer.take(thing('update', `t-${index}`, { attrs }))
    }
    await writer.commit()
    const query = { channelId: A, by: 'thing_id', isDescending: false, limit: 50 } as const
    const first = await store.read.scan(query)
    t.false(first.isLast)
    const bytes = first.things.reduce((sum, one) => sum + one.bytes, 0)
    t.true(bytes > PAGE_BYTES_MAX / 2 && bytes < PAGE_BYTES_MAX * 1.2, String(bytes))
    const all = await scanned(store, { limit: 50 })
    t.is(new Set(idsOf(all)).size, 50)
    for (const { id, document } of all) {
      const kept = writer.things.get(id)
      t.is(document, kept === undefined ? '' : documentOf(kept))
    }
  })
}
