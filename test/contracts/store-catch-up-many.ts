// Catching up with many channels in one read: each page is what a read of that channel alone gives,
// and what does not fit is left for the next read.

import test from 'ava'

import type { CatchUpRequest } from '#domain/feed'
import type { Store } from '#src/store/store'
import { pageFrom } from '#test/support/feed-reader'
import { seeded } from '#test/support/random'
import { ChannelWriter } from '#test/support/store-writer'
import { channel, message, thing } from '#test/support/submissions'
import type { OpenStore } from './store-contract.ts'

/** More than one statement asks for. */
const CHANNELS = 37
const BODY = 'ü'.repeat(5_000)

async function fill(store: Store): Promise<void> {
  const below = seeded(3)
  for (let number = 1; number <= CHANNELS; number += 1) {
    const writer = await ChannelWriter.open(store, number)
    const { channelId } = writer
    for (let count = below(7); count > 0; count -= 1) {
      writer.take(message({ channelId }), thing('update', `t${below(4)}`, { channelId, at: count }))
    }
    await writer.commit()
  }
}

export function catchUpManyContract(engine: string, open: OpenStore): void {
  test(`${engine}: many channels give the pages that each of them gives alone`, async (t) => {
    const store = await open(t)
    await fill(store)
    const below = seeded(5)
    for (let round = 0; round < 20; round += 1) {
      const requests = Array.from({ length: 1 + below(CHANNELS + 2) }, (_, at): CatchUpRequest => {
        // The last ones do not exist.
        const channelId = channel(CHANNELS + 2 - at)
        return { channelId, afterSeq: below(4), sinceSeq: below(4), limit: 1 + below(9) }
      })
      const alone = []
      for (const request of requests) alone.push(await pageFrom(store, request))
      t.deepEqual(await store.read.catchUp(requests), alone)
    }
  })

  test(`${engine}: sized/1: pages of many channels share their bytes`, async (t) => {
    const store = await open(t)
    const numbers = [1, 2, 3, 4]
    for (const number of numbers) {
      const writer = await ChannelWriter.open(store, number)
      const { channelId } = writer
      const large = () => message({ channelId, fields: { body: BODY } })
      await writer.take(large(), large(), large()).commit()
    }
    const requests = numbers.map((number) => ({
      channelId: channel(number),
      afterSeq: 0,
      sinceSeq: 0,
      limit: 9,
    }))
    const shapeOf = async (bytes: number): Promise<readonly unknown[]> =>
      (await store.read.catchUp(requests, bytes)).map(({ entries, complete }) => [
        entries.length,
        complete,
      ])
    t.deepEqual(await shapeOf(45_000), [
      [3, true],
      [1, false],
    ])
    t.deepEqual(await shapeOf(33_000), [[3, true]])
    t.deepEqual(await shapeOf(1), [[1, false]])
    t.is((await shapeOf(2 ** 20)).length, 4)
  })
}
