// Catching up: a device that applies what it gets knows what the gateway knows, without a silent
// gap.

import test from 'ava'
import * as fc from 'fast-check'

import { FeedReader, liveOf, pageFrom, sorted } from '#test/support/feed-reader'
import { part } from '#test/support/part'
import { seeded } from '#test/support/random'
import { retireBefore } from '#test/support/retired'
import { ChannelWriter } from '#test/support/store-writer'
import { channel, event, message, scatteredUpdates, thing } from '#test/support/submissions'
import type { OpenStore } from './store-contract.ts'

const A = channel(1)

const someThing = fc.constantFrom('a', 'b', 'c', 'd')
const act = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('message' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('event' as const) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('update' as const),
      id: someThing,
      key: fc.constantFrom('x', 'y'),
      value: fc.constantFrom(1, 'two', null),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('archive' as const), id: someThing }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), id: someThing }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('commit' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('subscribe' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('read' as const),
      reader: fc.nat(3),
      limit: fc.integer({ min: 1, max: 5 }),
      pages: fc.integer({ min: 1, max: 3 }),
      isAnew: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('retire' as const),
      age: fc.nat(20),
      tombstonesLonger: fc.nat(20),
    }),
  },
)
type Act = typeof act extends fc.Arbitrary<infer One> ? One : never

function submit(writer: ChannelWriter, one: Act, at: number): void {
  const acceptedAt = at
  if (one.kind === 'message') writer.take(message({ acceptedAt }))
  if (one.kind === 'event') writer.take(event('update', `e${at}`, { at, acceptedAt }))
  if (one.kind === 'update') {
    const attrs = { [one.key]: one.value }
    writer.take(thing('update', one.id, { at, acceptedAt, attrs }))
  }
  if (one.kind === 'archive' || one.kind === 'delete') {
    writer.take(thing(one.kind, one.id, { at, acceptedAt }))
  }
}

export function catchUpContract(engine: string, open: OpenStore): void {
  test(`${engine}: a device that caught up knows the gateway's state, whatever happened`, async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 60 }), (acts) =>
        part(async (owner) => {
          const store = await open(owner)
          const writer = await ChannelWriter.open(store, 1)
          const readers = [new FeedReader(A, 0)]
          let at = 0
          for (const one of acts) {
            at += 1
            submit(writer, one, at)
            if (one.kind === 'commit') await writer.commit()
            if (one.kind === 'subscribe') {
              await writer.commit()
              readers.push(new FeedReader(A, writer.head.headSeq))
            }
            if (one.kind === 'retire') {
              await retireBefore(store, at - one.age, at - one.age - one.tombstonesLonger)
            }
            if (one.kind === 'read') {
              if (one.isAnew) readers[one.reader]?.reconnect()
              await readers[one.reader]?.read(store, one.limit, one.pages)
            }
          }
          await writer.commit()
          for (const reader of readers) {
            await reader.read(store, 3)
            t.deepEqual(sorted(reader.things), sorted(liveOf(writer)))
            const missing = writer.feed.filter(
              ({ model, seq }) =>
                model !== 'thing' &&
                seq > reader.sinceSeq &&
                !reader.entries.has(seq) &&
                !reader.lost.has(seq),
            )
            t.deepEqual(missing, [])
            t.true([...reader.entries].every((seq) => seq > reader.sinceSeq))
          }
        }),
      ),
      { numRuns: 60 },
    )
  })

  test(`${engine}: catching up follows the Things that changed, not their updates`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    for (let at = 1; at <= 2_000; at += 1) {
      writer.take(thing('update', `t${at % 5}`, { at, attrs: { at } }))
    }
    await writer.commit()
    const page = await pageFrom(store, { channelId: A, afterSeq: 3, sinceSeq: 0, limit: 5 })
    t.true(page.complete)
    t.is(page.headSeq, 2_000)
    t.deepEqual(
      page.entries.map(({ seq, action }) => [seq, action]),
      [1_996, 1_997, 1_998, 1_999, 2_000].map((seq) => [seq, 'sync']),
    )
    t.is(page.entries[4]?.opId, writer.feed[1_999]?.opId)
  })

  test(`${engine}: last-changes/1: a page holds the next changes, wherever they are in the feed`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    await writer.take(...scatteredUpdates()).commit()
    const changed = [...writer.things.values()].toSorted((one, other) => one.seq - other.seq)
    const { headSeq } = writer.head
    const below = seeded(7)
    for (let asked = 0; asked < 60; asked += 1) {
      const [afterSeq, sinceSeq, limit] = [below(headSeq), below(headSeq), 1 + below(200)]
      const page = await pageFrom(store, { channelId: A, afterSeq, sinceSeq, limit })
      const expected = changed.filter(
        ({ seq, state }) => seq > afterSeq && (state !== 'deleted' || seq > sinceSeq),
      )
      t.deepEqual(
        page.entries.map(({ seq, entityId }) => [seq, entityId] as const),
        expected.slice(0, limit).map(({ seq, id }) => [seq, id] as const),
      )
      t.is(page.complete, expected.length <= limit)
    }
  })

  test(`${engine}: a synced Thing keeps its operation through late data`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    await writer
      .take(thing('update', 'lamp', { opId: 'said', at: 5, attrs: { on: true } }))
      .commit()
    await writer
      .take(thing('update', 'lamp', { opId: 'late', at: 4, attrs: { on: false } }))
      .commit()
    const { entries } = await pageFrom(store, {
      channelId: A,
      afterSeq: 0,
      sinceSeq: 0,
      limit: 9,
    })
    t.deepEqual(
      entries.map(({ seq, opId, rev, payload }) => ({ seq, opId, rev, payload })) as unknown,
      [
        {
          seq: 1,
          opId: 'said',
          rev: 1,
          payload: '{"attrs":{"on":true},"external_ids":{},"observed_at":5}',
        },
      ],
    )
  })

  test(`${engine}: a new subscriber gets live Things, and nothing older`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    writer.take(
      message(),
      thing('update', 'lamp'),
      thing('update', 'door'),
      thing('archive', 'shed'),
    )
    await writer.take(thing('delete', 'door', { at: 2 }), event('create', 'fire')).commit()
    const sinceSeq = writer.head.headSeq
    await writer.take(message(), thing('delete', 'lamp', { at: 2 })).commit()
    const page = await pageFrom(store, { channelId: A, afterSeq: 0, sinceSeq, limit: 9 })
    t.deepEqual(
      page.entries.map(({ model, entityId, state }) =>
        model === 'thing' ? [entityId, state] : model,
      ),
      [['shed', 'archived'], 'message', ['lamp', 'deleted']] as unknown,
    )
  })

  test(`${engine}: a device that subscribes again gets deletions`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    await writer.take(thing('update', 'lamp'), thing('update', 'door'), message()).commit()
    await writer.take(thing('delete', 'door', { at: 2 }), message()).commit()
    const { headSeq } = writer.head
    const page = await pageFrom(store, {
      channelId: A,
      afterSeq: 3,
      sinceSeq: headSeq,
      deletedSince: 3,
      limit: 9,
    })
    t.deepEqual(
      page.entries.map(({ entityId, state }) => [entityId, state]),
      [['door', 'deleted']] as unknown,
    )
  })

  test(`${engine}: a channel that does not exist has nothing to catch up with`, async (t) => {
    const store = await open(t)
    t.deepEqual(await pageFrom(store, { channelId: A, afterSeq: 5, sinceSeq: 0, limit: 9 }), {
      entries: [],
      headSeq: 0,
      complete: true,
    })
  })
}
