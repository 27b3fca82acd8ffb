// POST /thing/get, /thing/list, /event/get, /event/list and /channel/history: what a channel holds,
// for who knows its password and for its subscribed devices. (decisions.md 8)

import { fault, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { Page, ReadStore, SubscriptionStore } from '#domain/store-ports'
import { eventToWire, feedEntryToWire, thingToWire } from '#src/schemas/answers'
import {
  encodeCursor,
  readEntityGet,
  readEntityList,
  readHistory,
} from '#src/schemas/reading-requests'
import type { Reader } from '#src/schemas/reading-requests'
import type { Credentials } from './credentials.ts'
import { deviceIdOf } from './device-identity.ts'
import type { Handler } from './request.ts'

export interface ReadPorts {
  readonly read: ReadStore
  readonly credentials: Credentials
  readonly subscriptions: Pick<SubscriptionStore, 'isSubscribed'>
}

/**
 * Why a reader may not read. A device that is not subscribed learns as little as a wrong password.
 */
async function refusalOf(
  { credentials, subscriptions }: ReadPorts,
  reader: Reader,
): Promise<Fault | undefined> {
  if (reader.kind === 'password') {
    const opened = await credentials.check(reader.channelId, reader.password)
    return isFault(opened) ? opened : undefined
  }
  const deviceId = deviceIdOf(reader.deviceKey)
  const isSubscribed = await subscriptions.isSubscribed(deviceId, reader.channelId)
  return isSubscribed ? undefined : fault('channel_not_found')
}

export function getEntity(model: 'thing' | 'event', ports: ReadPorts): Handler {
  return async ({ body }) => {
    const request = readEntityGet(model, body)
    if (isFault(request)) return request
    const refusal = await refusalOf(ports, request.reader)
    if (refusal !== undefined) return refusal
    const { channelId } = request.reader
    const wire =
      model === 'thing'
        ? wireOf(await ports.read.thing(channelId, request.id), thingToWire)
        : wireOf(await ports.read.event(channelId, request.id), eventToWire)
    return wire ?? fault('entity_not_found', { field: `${model}_id` })
  }
}

const wireOf = <Entity>(
  entity: Entity | undefined,
  toWire: (entity: Entity) => object,
): object | undefined => (entity === undefined ? undefined : toWire(entity))

/** Newest change first. */
export function listEntities(model: 'thing' | 'event', ports: ReadPorts): Handler {
  return async ({ body }) => {
    const request = readEntityList(model, body)
    if (isFault(request)) return request
    const { reader, ...filter } = request
    const refusal = await refusalOf(ports, reader)
    if (refusal !== undefined) return refusal
    const query = { ...filter, channelId: reader.channelId }
    return model === 'thing'
      ? pageToWire(await ports.read.things(query), thingToWire)
      : pageToWire(await ports.read.events(query), eventToWire)
  }
}

/** In seq order. */
export function channelHistory(ports: ReadPorts): Handler {
  return async ({ body }) => {
    const request = readHistory(body)
    if (isFault(request)) return request
    const { reader, ...filter } = request
    const refusal = await refusalOf(ports, reader)
    if (refusal !== undefined) return refusal
    const page = await ports.read.history({ ...filter, channelId: reader.channelId })
    return pageToWire(page, feedEntryToWire)
  }
}

function pageToWire<Item>({ items, next }: Page<Item>, toWire: (item: Item) => object): object {
  const wire = { items: items.map((item) => toWire(item)) }
  return next === undefined ? wire : { ...wire, next_cursor: encodeCursor(next) }
}
