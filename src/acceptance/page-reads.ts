// Bounds the reads of pages: reading is faster than answering, so each that runs may hold a page.

import type { Limiter } from '#domain/bounds/limiter'
import { STORE_BUSY } from '#domain/store-ports'
import type { ReadStore } from '#domain/store-ports'

/** Pages that may be read and not answered yet, and reads that wait for a place. */
export const PAGE_READS = { places: 16, waitingMax: 10_000 }

/** The same reads; those of pages wait for a place, and reject as a busy store does without one. */
export function pagesInTurn(read: ReadStore, pages: Limiter): ReadStore {
  const inTurn = <Page>(job: () => Promise<Page>): Promise<Page> =>
    pages.run(job) ?? Promise.reject(busy(pages))
  return {
    thing: (channelId, id) => read.thing(channelId, id),
    event: (channelId, id) => read.event(channelId, id),
    catchUp: (requests, bytes) => read.catchUp(requests, bytes),
    things: (query) => inTurn(() => read.things(query)),
    events: (query) => inTurn(() => read.events(query)),
    history: (query) => inTurn(() => read.history(query)),
    pull: (deviceId, limit) => inTurn(() => read.pull(deviceId, limit)),
  }
}

const busy = ({ waiting }: Limiter): Error =>
  Object.assign(new Error(`${waiting} reads of pages wait, which is the limit`), {
    name: STORE_BUSY,
  })
