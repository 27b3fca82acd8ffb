// How attrs of Things are shown: what people set, beside what devices say.

import test from 'ava'

import { ChannelWriter } from '#test/support/store-writer'
import { channel } from '#test/support/submissions'
import type { OpenStore } from './store-contract.ts'

const [A, B, NONE] = [channel(1), channel(2), channel(3)]

export function presentationContract(engine: string, open: OpenStore): void {
  test(`${engine}: a presentation stays until another takes its place, beside what devices say`, async (t) => {
    const store = await open(t)
    const { presentations } = store
    await ChannelWriter.open(store, 1)
    t.is(await presentations.find(A), undefined)
    t.true(await presentations.put(A, '[1]'))
    await presentations.discover([{ channelId: A, attrs: { power: { unit: 'W' } } }])
    t.true(await presentations.put(A, '[2]'))
    t.false(await presentations.put(NONE, '[3]'))
    await presentations.discover([{ channelId: NONE, attrs: { power: { unit: 'W' } } }])
    const kept = { presentation: '[2]', discovered: '{"power":{"unit":"W"}}' }
    t.deepEqual(await presentations.find(A), kept)
    t.is(await presentations.find(NONE), undefined)
    await store.channels.delete(A, 5)
    t.is(await presentations.find(A), undefined)
    t.false(await presentations.put(A, '[4]'))
  })

  test(`${engine}: channel-documents/1: what several nodes hear of devices at once is kept of all`, async (t) => {
    const store = await open(t)
    const { presentations } = store
    await ChannelWriter.open(store, 1)
    await ChannelWriter.open(store, 2)
    const names = Array.from({ length: 10 }, (_, index) => `a${index}`)
    const said = (name: string) => ({ [name]: { unit: name } })
    await Promise.all(
      names.map((name) =>
        presentations.discover([
          { channelId: B, attrs: said(name) },
          { channelId: A, attrs: said(name) },
        ]),
      ),
    )
    for (const channelId of [A, B]) {
      const kept = await presentations.find(channelId)
      const all = JSON.parse(kept?.discovered ?? '{}') as Record<string, unknown>
      t.deepEqual(Object.keys(all).toSorted(), names)
    }
  })
}
