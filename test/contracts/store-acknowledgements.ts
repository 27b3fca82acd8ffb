// Acknowledgements: up to a seq, and of single entries in any order, against a simple model.

import test from 'ava'
import * as fc from 'fast-check'

import { ACKED_AHEAD_MAX } from '#domain/store-ports'
import type { Store } from '#src/store/store'
import { part } from '#test/support/part'
import { ChannelWriter } from '#test/support/store-writer'
import { channel, event, message, thing } from '#test/support/submissions'
import { device } from './store-channels.ts'
import type { OpenStore } from './store-contract.ts'

const A = channel(1)
const DEVICE = device(1)

async function subscribed(store: Store): Promise<ChannelWriter> {
  const writer = await ChannelWriter.open(store, 1)
  await store.devices.create(DEVICE, 'linux', 1)
  await store.subscriptions.subscribe(DEVICE, A, 1)
  return writer
}

const acked = async (store: Store): Promise<number | undefined> =>
  (await store.subscriptions.position(DEVICE, A))?.ackedSeq

const single = (store: Store, ...seqs: readonly number[]): Promise<number> =>
  store.subscriptions.acknowledgeEntries(
    DEVICE,
    seqs.map((seq) => ({ channelId: A, seq })),
  )

const pulledSeqs = async (store: Store, limit = 200): Promise<readonly number[]> =>
  (await store.read.pull(DEVICE, limit)).items.map(({ seq }) => seq)

export function acknowledgementContract(engine: string, open: OpenStore): void {
  test(`${engine}: acknowledgements/1: positions move forward and never beyond the head`, async (t) => {
    const store = await open(t)
    const writer = await subscribed(store)
    for (let count = 0; count < 5; count += 1) writer.take(message())
    await writer.commit()
    const upTo = (...seqs: readonly number[]) =>
      store.subscriptions.acknowledge(seqs.map((seq) => ({ deviceId: DEVICE, channelId: A, seq })))
    const rows: [given: number[], expected: number][] = [
      [[3], 3],
      [[2], 3],
      [[1, 4, 2], 4],
      [[99], 5],
      [[], 5],
    ]
    for (const [given, expected] of rows) {
      await upTo(...given)
      t.is(await acked(store), expected)
    }
  })

  test(`${engine}: acknowledgements of unknown devices are left out`, async (t) => {
    const store = await open(t)
    const writer = await subscribed(store)
    await writer.take(message()).commit()
    await store.subscriptions.acknowledge([
      { deviceId: device(2), channelId: A, seq: 1 },
      { deviceId: DEVICE, channelId: channel(2), seq: 1 },
      { deviceId: DEVICE, channelId: A, seq: 1 },
    ])
    t.is(await acked(store), 1)
    t.is(await store.subscriptions.acknowledgeEntries(device(2), [{ channelId: A, seq: 1 }]), 0)
  })

  test(`${engine}: acknowledgements/2: the position waits for the first open entry`, async (t) => {
    const store = await open(t)
    const writer = await subscribed(store)
    for (let count = 0; count < 5; count += 1) writer.take(message())
    await writer.commit()
    t.is(await single(store, 2, 4), 2)
    t.is(await acked(store), 0)
    t.deepEqual(await pulledSeqs(store), [1, 3, 5])
    t.is(await single(store, 2, 4), 0)
    t.is(await single(store, 1, 6, 0, -1), 1)
    t.is(await acked(store), 2)
    t.is(await single(store, 3), 1)
    t.is(await acked(store), 4)
    t.is(await single(store, 5, 5), 1)
    t.is(await acked(store), 5)
    t.deepEqual(await pulledSeqs(store), [])
  })

  test(`${engine}: acknowledgements/2: an older state of a Thing does not hold the position`, async (t) => {
    const store = await open(t)
    const writer = await subscribed(store)
    await writer.take(thing('update', 'lamp', { at: 1 }), message()).commit()
    await writer.take(thing('update', 'lamp', { at: 2, attrs: { on: true } })).commit()
    t.is(await single(store, 2), 1)
    t.is(await acked(store), 2)
    t.deepEqual(await pulledSeqs(store), [3])
  })

  test(`${engine}: acknowledgements/3: the seqs furthest ahead are given up first`, async (t) => {
    const store = await open(t)
    const writer = await subscribed(store)
    for (let count = 0; count < ACKED_AHEAD_MAX + 2; count += 1) writer.take(message())
    await writer.commit()
    const ahead = Array.from({ length: ACKED_AHEAD_MAX }, (_, index) => index + 3)
    t.is(await single(store, ...ahead.slice(0, -1)), ACKED_AHEAD_MAX - 1)
    t.is(await single(store, ACKED_AHEAD_MAX + 2), 1)
    t.deepEqual(await pulledSeqs(store), [1, 2])
    t.is(await single(store, 2), 1)
    t.deepEqual(await pulledSeqs(store), [1, ACKED_AHEAD_MAX + 2])
    t.is(await single(store, ACKED_AHEAD_MAX + 2), 0)
    t.is(await single(store, 1), 1)
    t.is(await acked(store), ACKED_AHEAD_MAX + 1)
  })

  test(`${engine}: a plain acknowledgement forgets the single ones before it`, async (t) => {
    const store = await open(t)
    const writer = await subscribed(store)
    for (let count = 0; count < 5; count += 1) writer.take(message())
    await writer.commit()
    await single(store, 2, 5)
    await store.subscriptions.acknowledge([{ deviceId: DEVICE, channelId: A, seq: 3 }])
    t.deepEqual(await pulledSeqs(store), [4])
    t.is(await single(store, 5), 0)
  })

  test(`${engine}: single acknowledgements in any order agree with a model`, async (t) => {
    const act = fc.oneof(
      fc.record({ kind: fc.constant('message' as const) }),
      fc.record({ kind: fc.constant('event' as const) }),
      fc.record({ kind: fc.constant('thing' as const), id: fc.constantFrom('a', 'b') }),
      fc.record({ kind: fc.constant('delete' as const), id: fc.constantFrom('a', 'b') }),
      fc.record({
        kind: fc.constant('ack' as const),
        seqs: fc.array(fc.integer({ min: 1, max: 14 }), { minLength: 1, maxLength: 4 }),
      }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 25 }), (acts) =>
        part(async (owner) => {
          const store = await open(owner)
          const writer = await subscribed(store)
          const known = new Set<number>()
          let at = 0
          for (const one of acts) {
            at += 1
            if (one.kind === 'ack') {
              const before = (await acked(store)) ?? 0
              const fresh = new Set(
                one.seqs.filter(
                  (seq) => seq > before && seq <= writer.head.headSeq && !known.has(seq),
                ),
              )
              for (const seq of fresh) known.add(seq)
              t.is(await single(store, ...one.seqs), fresh.size)
            } else {
              if (one.kind === 'message') writer.take(message())
              if (one.kind === 'event') writer.take(event('update', 'fire', { at }))
              if (one.kind === 'thing') writer.take(thing('update', one.id, { at, attrs: { at } }))
              if (one.kind === 'delete') writer.take(thing('delete', one.id, { at }))
              await writer.commit()
            }
            const unseen = deliverablesOf(writer).filter((seq) => !known.has(seq))
            t.deepEqual(await pulledSeqs(store), unseen)
            const position = (await acked(store)) ?? 0
            t.true(position < (unseen[0] ?? Infinity))
          }
        }),
      ),
      { numRuns: 25 },
    )
  })
}

/**
 * Seqs of what a subscriber from the beginning has to see: every entry, but of Things only the
 * last.
 */
function deliverablesOf(writer: ChannelWriter): readonly number[] {
  const last = new Map(writer.feed.map(({ model, entityId, seq }) => [`${model} ${entityId}`, seq]))
  return writer.feed
    .filter(
      ({ model, entityId, seq }) => model !== 'thing' || last.get(`${model} ${entityId}`) === seq,
    )
    .map(({ seq }) => seq)
}
