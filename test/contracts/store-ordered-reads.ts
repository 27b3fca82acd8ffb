// All open Events of a channel, in the order of their ids.

import test from 'ava'

import type { OrderedPage, OrderedQuery } from '#domain/history/ordered-reads'
import { ChannelWriter } from '#test/support/store-writer'
import { acknowledgement, channel, event } from '#test/support/submissions'
import { rounds } from '#test/support/until'
import type { OpenStore } from './store-contract.ts'

const A = channel(1)

async function idsOf<Item extends { readonly id: string }>(
  read: (query: OrderedQuery) => Promise<OrderedPage<Item>>,
  query: Partial<OrderedQuery>,
): Promise<readonly string[]> {
  const ids: string[] = []
  const goOn = rounds()
  let afterId: string | undefined
  do {
    const page = await read({ channelId: A, limit: 2, ...query, afterId })
    ids.push(...page.items.map(({ id }) => id))
    afterId = page.nextId
  } while (afterId !== undefined && goOn())
  return ids
}

export function orderedReadsContract(engine: string, open: OpenStore): void {
  test(`${engine}: open Events come in the order of their ids, and those of a prefix alone`, async (t) => {
    const store = await open(t)
    const writer = await ChannelWriter.open(store, 1)
    const opened = (id: string, thingId?: string) =>
      event('create', id, { fields: { severity: 'high', ...(thingId && { thing_id: thingId }) } })
    await writer
      .take(opened('c', 'pump-1'), opened('b'), opened('a', 'door'), opened('d', 'pump-2'))
      .take(event('close', 'd', { at: 5 }), acknowledgement('c'))
      .commit()
    const events = (query: OrderedQuery) => store.read.openEventsInOrder(query)
    t.deepEqual(await idsOf(events, { limit: 1 }), ['a', 'b', 'c'])
    t.deepEqual(await idsOf(events, { thingPrefix: 'pump-', limit: 1 }), ['c'])
  })
}
