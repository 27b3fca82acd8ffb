// Reads the contents of a channel for callers with its password or a grant, and for its subscribed
// devices. (decisions.md 8)

import type { Limiter } from '#domain/bounds/limiter'
import type { Event, Thing } from '#domain/entity'
import type { StoredKey } from '#domain/channel-keys'
import { fault, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { FeedEntry } from '#domain/feed'
import type { Answer } from '#domain/ports'
import { STORE_BUSY } from '#domain/store-ports'
import type {
  EntityKey,
  EntityQuery,
  Page,
  ReadStore,
  SubscriptionStore,
} from '#domain/store-ports'
import { readEntityGet, readEntityList, readHistory } from '#src/schemas/reading-requests'
import type { EntityModel, Reader } from '#src/schemas/reading-requests'
import type { Caller } from './caller.ts'
import type { ChannelAccess } from './channel-access.ts'
import { deviceIdOf } from './devices/device-identity.ts'
import { foreignThing, mayReadEvent, mayReadThing } from './key-rights.ts'

export interface StateReadPorts {
  readonly read: Pick<ReadStore, 'thing' | 'event' | 'things' | 'events' | 'history'>
  readonly access: ChannelAccess
  readonly subscriptions: Pick<SubscriptionStore, 'isSubscribed'>
}

const NO_ENTITY: Record<EntityModel, Fault> = {
  thing: fault('entity_not_found', { field: 'thing_id' }),
  event: fault('entity_not_found', { field: 'event_id' }),
}

export class StateReads {
  readonly #ports: StateReadPorts

  constructor(ports: StateReadPorts) {
    this.#ports = ports
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
    const query = await this.#listQuery('thing', fields, caller)
    return isFault(query) ? query : this.#ports.read.things(query)
  }

  /** Newest change first. */
  async events(fields: unknown, caller: Caller): Promise<Answer<Page<Event>>> {
    const query = await this.#listQuery('event', fields, caller)
    return isFault(query) ? query : this.#ports.read.events(query)
  }

  /** Reads the feed in seq order. */
  async history(fields: unknown, caller: Caller): Promise<Answer<Page<FeedEntry>>> {
    const opened = await this.#opened(readHistory, fields, caller)
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
    const opened = await this.#opened((sent) => readEntityGet(model, sent), fields, caller)
    if (isFault(opened)) return opened
    const { reader, id } = opened.request
    return { channelId: reader.channelId, id, key: opened.key }
  }

  async #listQuery(
    model: EntityModel,
    fields: unknown,
    caller: Caller,
  ): Promise<Answer<EntityQuery>> {
    const opened = await this.#opened((sent) => readEntityList(model, sent), fields, caller)
    if (isFault(opened)) return opened
    const { reader, ...filter } = opened.request
    return { ...filter, ...prefixOf(opened.key), channelId: reader.channelId }
  }

  /** Reads a request and opens its channel; gives the key that opened it, too. */
  async #opened<Request extends { readonly reader: Reader }>(
    read: (fields: unknown) => Answer<Request>,
    sent: unknown,
    from: Caller,
  ): Promise<Answer<{ readonly request: Request; readonly key: StoredKey | undefined }>> {
    const opened = await this.#ports.access.read(read, sent, from)
    if (isFault(opened)) return opened
    const { request, caller } = opened
    const key = await this.#open(request.reader, caller)
    return isFault(key) ? key : (caller.refusal ?? { request, key })
  }

  /**
   * The key of a reader, if it has one. A device that is not subscribed learns no more than a
   * caller with a wrong password.
   */
  async #open(reader: Reader, caller: Caller): Promise<Answer<StoredKey | undefined>> {
    const { access, subscriptions } = this.#ports
    if (reader.kind === 'password') {
      const opened = await access.open(reader, caller, 'read')
      return isFault(opened) ? opened : opened.key
    }
    const deviceId = deviceIdOf(reader.deviceKey)
    const isSubscribed = await subscriptions.isSubscribed(deviceId, reader.channelId)
    // attempt/2
    const counted = isSubscribed ? caller.attempt?.known() : caller.attempt?.refused('device key')
    if (counted !== undefined) return counted
    return isSubscribed ? undefined : fault('channel_not_found')
  }
}

const prefixOf = (key: StoredKey | undefined): Pick<EntityQuery, 'thingPrefix'> =>
  key === undefined || key.thingPrefix === '' ? {} : { thingPrefix: key.thingPrefix }

// Reading is faster than answering, so each read that runs may hold a page: they are bounded.

/** Pages that may be read and not answered yet, and reads that wait for a place. */
export const PAGE_READS = { places: 16, waitingMax: 10_000 }

/** The same reads; those of pages wait for a place, and reject as a busy store does without one. */
export function pagesInTurn(read: ReadStore, pages: Limiter): ReadStore {
  const inTurn = <Rows>(job: () => Promise<Rows>): Promise<Rows> =>
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
