// Pages of the open Events of a channel in the order of their ids. A page steps over a bounded
// number of rows, however few of them match. (paging/1, sized/1)

import type { Event } from '#domain/entity'
import type { OrderedPage, OrderedQuery } from '#domain/history/ordered-reads'
import type { EventRow } from '#src/store/entities/entities'
import type { Executor } from '#src/store/jobs/executor'
import { contentOf, fill, roomFor, sizeColumns } from '#src/store/statements/sized'
import type { Sized } from '#src/store/statements/sized'
import { eventFrom } from '#src/store/turns/document'

type Place = Sized & Pick<EventRow, 'id' | 'state' | 'thingId'>

export async function openEvents(
  executor: Executor,
  channel: number,
  { afterId = '', thingPrefix = '', limit }: OrderedQuery,
): Promise<OrderedPage<Event>> {
  const places = await executor.all<Place>(
    `SELECT ${sizeColumns('events')}, state, thing_id AS thingId FROM events
      WHERE channel = ? AND id > ? ORDER BY id LIMIT ?`,
    [channel, afterId, limit + 1],
  )
  const found = places
    .slice(0, limit)
    .filter(({ state, thingId }) => state !== 'closed' && (thingId ?? '').startsWith(thingPrefix))
  const { count } = fill(found, roomFor(limit))
  const wanted = found.slice(0, count).map(({ id, seq }) => ({ channel, id, seq }))
  const content = { table: 'events', columns: 'id, state, seq, document' } as const
  const items = (await contentOf<EventRow>(executor, content, wanted)).map(eventFrom)
  const isWhole = count === found.length && places.length <= limit
  const last = count < found.length ? found[count - 1] : places[Math.min(limit, places.length) - 1]
  return isWhole || last === undefined ? { items } : { items, nextId: last.id }
}
