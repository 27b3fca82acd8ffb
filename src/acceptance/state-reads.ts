// Reads the contents of a channel for callers with its password or a grant, and for its subscribed
// devices. (decisions.md 8)

import type { Event, Thing } from '#domain/entity'
import { fault, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { FeedEntry } from '#domain/feed'
import type { Answer } from '#domain/ports'
import type {
  EntityKey,
  EntityQuery,
  Page,
  ReadStore,
  SubscriptionStore,
} from '#domain/store-ports'
import { readEntityGet, readEntityList, readHistory } from '#src/schemas/reading-requests'
import type { Reader } from '#src/schemas/reading-requests'
import type { Caller } from './caller.ts'
import { readableFields } from './channel-access.ts'
import type { ChannelAccess } from './channel-access.ts'
import { deviceIdOf } from './devices/device-identity.ts'

export interface StateReadPorts {
  readonly read: Pick<ReadStore, 'thing' | 'event' | 'things' | 'events' | 'history'>
  readonly access: ChannelAccess
  readonly subscriptions: Pick<SubscriptionStore, 'isSubscribed'>
}

type Kept = 'thing' | 'event'

const NO_ENTITY: Record<Kept, Fault> = {
  thing: fault('entity_not_found', { field: 'thing_id' }),
  event: fault('entity_not_found', { field: 'event_id' }),
}

export class StateReads {
  readonly #ports: StateReadPorts

  constructor(ports: StateReadPorts) {
    this.#ports = ports
  }

  async thing(fields: unknown, caller: Caller): Promise<Answer<Thing>> {
    const key = await this.#entityKey('thing', fields, caller)
    if (isFault(key)) return key
    return (await this.#ports.read.thing(key.channelId, key.id)) ?? NO_ENTITY.thing
  }

  async event(fields: unknown, caller: Caller): Promise<Answer<Event>> {
    const key = await this.#entityKey('event', fields, caller)
    if (isFault(key)) return key
    return (await this.#ports.read.event(key.channelId, key.id)) ?? NO_ENTITY.event
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
    const request = readHistory(readableFields(fields, caller))
    if (isFault(request)) return request
    const { reader, ...filter } = request
    const refusal = await this.#refusalOf(reader, caller)
    if (refusal !== undefined) return refusal
    return this.#ports.read.history({ ...filter, channelId: reader.channelId })
  }

  async #entityKey(model: Kept, fields: unknown, caller: Caller): Promise<Answer<EntityKey>> {
    const request = readEntityGet(model, readableFields(fields, caller))
    if (isFault(request)) return request
    const { reader, id } = request
    const refusal = await this.#refusalOf(reader, caller)
    return refusal ?? { channelId: reader.channelId, id }
  }

  async #listQuery(model: Kept, fields: unknown, caller: Caller): Promise<Answer<EntityQuery>> {
    const request = readEntityList(model, readableFields(fields, caller))
    if (isFault(request)) return request
    const { reader, ...filter } = request
    const refusal = await this.#refusalOf(reader, caller)
    return refusal ?? { ...filter, channelId: reader.channelId }
  }

  /**
   * The refusal of a reader, if there is one. A device that is not subscribed learns no more than a
   * caller with a wrong password.
   */
  async #refusalOf(reader: Reader, caller: Caller): Promise<Fault | undefined> {
    const { access, subscriptions } = this.#ports
    if (reader.kind === 'password') {
      const opened = await access.open(reader.channelId, reader.password, caller)
      return isFault(opened) ? opened : caller.refusal
    }
    const deviceId = deviceIdOf(reader.deviceKey)
    const isSubscribed = await subscriptions.isSubscribed(deviceId, reader.channelId)
    // attempt/2
    const counted = isSubscribed ? caller.attempt?.known() : caller.attempt?.refused('device key')
    if (counted !== undefined) return counted
    return isSubscribed ? caller.refusal : fault('channel_not_found')
  }
}
