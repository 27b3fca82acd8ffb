// Reads the contents of a channel for callers with its password or a grant, and for its subscribed
// devices. (decisions.md 8)

import type { Limiter } from '#domain/bounds/limiter'
import type { Event, Thing } from '#domain/entity'
import type { StoredKey } from '#domain/channel-keys'
import { fault, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { FeedEntry } from '#domain/feed'
import type { SeriesStore } from '#domain/history/series'
import type { Answer } from '#domain/ports'
import { STORE_BUSY } from '#domain/store-ports'
import type { EntityKey, EntityQuery, Page, ReadStore } from '#domain/store-ports'
import type { QueryResult } from '#src/queries/looking'
import { readQuery } from '#src/queries/query'
import { STATE } from '#src/schemas/reading-routes'
import type { Reader } from '#src/schemas/credentials'
import { readersOf, request as readerOf } from '#src/schemas/shape'
import type { Caller } from './caller.ts'
import { ThingQueries, narrowed, nothingOf } from './queries/thing-queries.ts'
import { foreignThing, mayReadEvent, mayReadThing } from './key-rights.ts'
import type { Stage } from './stage.ts'

const READ = readersOf(STATE)
/** The readers of one member each; src/queries compiles what members say together. */
const readThingQuery = readerOf(STATE.query.request, { query: readQuery })

/** The models whose state is kept. */
type EntityModel = 'thing' | 'event'

const NO_ENTITY: Record<EntityModel, Fault> = {
  thing: fault('entity_not_found', { field: 'thing_id' }),
  event: fault('entity_not_found', { field: 'event_id' }),
}

export class StateReads {
  readonly #ports: Stage
  readonly #queries: ThingQueries

  constructor(ports: Stage) {
    this.#ports = ports
    this.#queries = new ThingQueries(ports)
  }

  async thing(fields: unknown, caller: Caller): Promise<Answer<Thing>> {
    const opened = await this.#entityKey('thing', fields, caller)
    if (isFault(opened)) return opened
    const { channelId, id, key } = opened
    if (key !== undefined && !mayReadThing(key, id)) {
      return this.#ports.access.refuse(caller, foreignThing(key))
    }
    return (await this.#ports.read.thing(channelId, id)) ?? NO_ENTITY.thing
  }

  async event(fields: unknown, caller: Caller): Promise<Answer<Event>> {
    const opened = await this.#entityKey('event', fields, caller)
    if (isFault(opened)) return opened
    const event = await this.#ports.read.event(opened.channelId, opened.id)
    const isHidden = event !== undefined && opened.key !== undefined
    if (isHidden && !mayReadEvent(opened.key, event)) return NO_ENTITY.event // key-rights/1
    return event ?? NO_ENTITY.event
  }

  /** Newest change first. */
  async things(fields: unknown, caller: Caller): Promise<Answer<Page<Thing>>> {
    const query = await this.#listQuery('things', fields, caller)
    return isFault(query) ? query : this.#ports.read.things(query)
  }

  /** One page of a query; rate_limited or server_busy when too many run. */
  async query(fields: unknown, caller: Caller): Promise<Answer<QueryResult>> {
    const opened = await this.#opened(readThingQuery, fields, caller)
    if (isFault(opened)) return opened
    const { query, limit, reader } = opened.request
    const own = narrowed(query, opened.key?.thingPrefix ?? '') // key-rights/1
    return own === undefined ? nothingOf(query) : this.#queries.run(reader.channelId, own, limit)
  }

  /** Newest change first. */
  async events(fields: unknown, caller: Caller): Promise<Answer<Page<Event>>> {
    const query = await this.#listQuery('events', fields, caller)
    return isFault(query) ? query : this.#ports.read.events(query)
  }

  /** Reads the feed in seq order. */
  async history(fields: unknown, caller: Caller): Promise<Answer<Page<FeedEntry>>> {
    const opened = await this.#opened(READ.history, fields, caller)
    if (isFault(opened)) return opened
    const { reader, ...filter } = opened.request
    return this.#ports.read.history({
      ...filter,
      ...prefixOf(opened.key),
      channelId: reader.channelId,
    })
  }

  async #entityKey(
    model: EntityModel,
    fields: unknown,
    caller: Caller,
  ): Promise<Answer<EntityKey & { readonly key: StoredKey | undefined }>> {
    const opened = await this.#opened(READ[model], fields, caller)
    if (isFault(opened)) return opened
    const { reader, id } = opened.request
    return { channelId: reader.channelId, id, key: opened.key }
  }

  async #listQuery(
    models: `${EntityModel}s`,
    fields: unknown,
    caller: Caller,
  ): Promise<Answer<EntityQuery>> {
    const opened = await this.#opened((sent) => READ[models](sent), fields, caller)
    if (isFault(opened)) return opened
    const { reader, ...filter } = opened.request
    return { ...filter, ...prefixOf(opened.key), channelId: reader.channelId }
  }

  /** Reads a request and opens its channel; gives the key that opened it, too. */
  async #opened<Request extends { readonly reader: Reader }>(
    read: (fields: unknown) => Answer<Request>,
    fields: unknown,
    caller: Caller,
  ): Promise<Answer<{ readonly request: Request; readonly key: StoredKey | undefined }>> {
    const opened = await this.#ports.access.open({
      fields,
      caller,
      read: (sent) => {
        const request = read(sent)
        return isFault(request) ? request : { ...request.reader, request }
      },
      scope: 'read',
    })
    return isFault(opened) ? opened : { request: opened.request.request, key: opened.key }
  }
}

const prefixOf = (key: StoredKey | undefined): Pick<EntityQuery, 'thingPrefix'> =>
  key === undefined || key.thingPrefix === '' ? {} : { thingPrefix: key.thingPrefix }

// Reading is faster than answering, so each read that runs may hold a page: they are bounded.

/** Pages that may be read and not answered yet, and reads that wait for a place. */
export const PAGE_READS = { places: 16, waitingMax: 10_000 }

interface PageStores {
  readonly read: ReadStore
  readonly series: SeriesStore
}

/** The same reads; those of pages wait for a place, and reject as a busy store does without one. */
export function pagesInTurn({ read, series }: PageStores, pages: Limiter): PageStores {
  const inTurn = <Rows>(job: () => Promise<Rows>): Promise<Rows> =>
    pages.run(job) ?? Promise.reject(busy(pages))
  return {
    read: {
      thing: (channelId, id) => read.thing(channelId, id),
      event: (channelId, id) => read.event(channelId, id),
      catchUp: (requests, bytes) => read.catchUp(requests, bytes),
      scan: (query) => inTurn(() => read.scan(query)),
      things: (query) => inTurn(() => read.things(query)),
      events: (query) => inTurn(() => read.events(query)),
      history: (query) => inTurn(() => read.history(query)),
      openEventsInOrder: (query) => inTurn(() => read.openEventsInOrder(query)),
      receipts: (query) => inTurn(() => read.receipts(query)),
      pull: (deviceId, limit) => inTurn(() => read.pull(deviceId, limit)),
    },
    series: { series: (query) => inTurn(() => series.series(query)) },
  }
}

const busy = ({ waiting }: Limiter): Error =>
  Object.assign(new Error(`${waiting} reads of pages wait, which is the limit`), {
    name: STORE_BUSY,
  })
