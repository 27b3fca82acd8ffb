// The mappings of channels, and the topics that nothing maps.

import test from 'ava'

import { UNMAPPED_MAX } from '#domain/mqtt/mappings'
import { ChannelWriter } from '#test/support/store-writer'
import { channel } from '#test/support/submissions'
import type { OpenStore } from './store-contract.ts'

const [A, B, NONE] = [channel(1), channel(2), channel(3)]
const topics = (name: string, ...times: number[]) => times.map((at) => ({ topic: name + at, at }))

export function mappingContract(engine: string, open: OpenStore): void {
  test(`${engine}: mappings stay until others take their place, beside the unmapped topics`, async (t) => {
    const store = await open(t)
    await ChannelWriter.open(store, 1)
    await ChannelWriter.open(store, 2)
    t.is(await store.mappings.find(A), undefined)
    t.true(await store.mappings.put(A, '[1]'))
    await store.mappings.note([{ channelId: A, topics: topics('a', 1) }])
    t.true(await store.mappings.put(A, '[2]'))
    t.false(await store.mappings.put(NONE, '[3]'))
    await store.mappings.note([{ channelId: NONE, topics: topics('a', 1) }])
    const [first, none, other, again] = await Promise.all(
      [A, NONE, B, A].map((one) => store.mappings.find(one)),
    )
    t.deepEqual(first, { mappings: '[2]', unmapped: topics('a', 1) })
    t.deepEqual(again, first)
    t.deepEqual([none, other], [undefined, undefined])
    await store.channels.delete(A, 5)
    t.is(await store.mappings.find(A), undefined)
    t.false(await store.mappings.put(A, '[4]'))
  })

  test(`${engine}: channel-documents/1: the newest unmapped topics of several nodes are kept, each once`, async (t) => {
    const store = await open(t)
    await ChannelWriter.open(store, 1)
    await ChannelWriter.open(store, 2)
    const times = Array.from({ length: UNMAPPED_MAX }, (_, index) => index + 1)
    await Promise.all([
      ...times.map((at) => store.mappings.note([{ channelId: A, topics: topics('a', at) }])),
      ...times.map((at) =>
        store.mappings.note([
          { channelId: B, topics: topics('b', at) },
          { channelId: A, topics: topics('b', at + 100) },
        ]),
      ),
      store.mappings.note([{ channelId: A, topics: [{ topic: 'a1', at: 105 }] }]),
    ])
    const kept = (await store.mappings.find(A))?.unmapped ?? []
    t.is(kept.length, UNMAPPED_MAX)
    t.deepEqual(
      kept.map(({ at }) => at),
      [110, 109, 108, 107, 106, 105, 105, 104, 103, 102],
    )
    t.is(kept.filter(({ topic }) => topic === 'a1').length, 1)
    t.is((await store.mappings.find(B))?.unmapped.length, UNMAPPED_MAX)
  })
}
