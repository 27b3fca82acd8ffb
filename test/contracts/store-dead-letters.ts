// The contract of dead letters as their operator reads them.

import test from 'ava'

import { PAGE_BYTES_MAX } from '#domain/store-ports'
import { ChannelWriter } from '#test/support/store-writer'
import type { OpenStore } from './store-contract.ts'

const letter = (index: number, payload = `{"number":${index}}`) => ({
  lane: 1,
  position: 1,
  index,
  payload,
  error: 'Error: no',
  at: 5,
})

export function deadLetterContract(engine: string, open: OpenStore): void {
  test(`${engine}: dead letters are listed by age, page by page, found and removed`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    writer.deadLetters.push(...[1, 2, 3].map((index) => letter(index)))
    await writer.commit()
    const { deadLetters } = store
    const first = await deadLetters.list({ after: 0, limit: 2 })
    const [one] = first.items
    t.like(one, { lane: 1, payload: '{"number":1}', error: 'Error: no', at: 5 })
    const rest = await deadLetters.list({ after: first.next ?? 0, limit: 2 })
    t.deepEqual(
      [...first.items, ...rest.items].map(({ payload }) => payload),
      ['{"number":1}', '{"number":2}', '{"number":3}'],
    )
    t.is(rest.next, undefined)
    const id = one?.id ?? 0
    t.deepEqual(await deadLetters.find(id), one)
    await deadLetters.remove(id)
    await deadLetters.remove(id)
    t.is(await deadLetters.find(id), undefined)
    t.is((await deadLetters.list({ after: 0, limit: 5 })).items.length, 2)
  })

  test(`${engine}: a page of dead letters ends at its bytes, and has one at least`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    const large = 'x'.repeat(PAGE_BYTES_MAX / 2)
    writer.deadLetters.push(...[1, 2, 3].map((index) => letter(index, large)))
    await writer.commit()
    const page = await store.deadLetters.list({ after: 0, limit: 3 })
    t.deepEqual([page.items.length, page.next], [1, page.items[0]?.id])
  })
}
