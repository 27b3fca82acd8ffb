// Requests that read the gateway's state: entities, history, and a device's own backlog.
// (decisions.md 8)

import { fault, isFault } from '#domain/fault'
import { deliveryIdOf } from '#domain/feed'
import { parseChannelId, parseThingId } from '#domain/identity'
import type { ChannelId, DeviceKey } from '#domain/identity'
import type { Answer } from '#domain/ports'
import { MODELS } from '#domain/submission'
import type { Model } from '#domain/submission'

import { readDeviceKey } from './device-requests.ts'
import { DELIVERIES_MAX, LIMIT_FALLBACK, LIMIT_MAX, READING_ROUTES } from './reading-schemas.ts'
import { STATES } from './reading-schemas.ts'
import type { ValueOf } from './schema-types.ts'
import { shape } from './shape.ts'
import { ENTITY_ID_RULE, invalid, isBlank, isTimeAbsent, readChannelId } from './values.ts'
import {
  readCredentials,
  readLimit,
  readParsed,
  readPassword,
  readTime,
  readWhole,
} from './values.ts'
import type { Credentials, SentText, SentTime } from './values.ts'

/** The right by which somebody reads a Channel. */
export type Reader =
  | { readonly kind: 'password'; readonly channelId: ChannelId; readonly password: string }
  | { readonly kind: 'device'; readonly channelId: ChannelId; readonly deviceKey: DeviceKey }

const PAGE_LIMIT = { max: LIMIT_MAX, fallback: LIMIT_FALLBACK }
/** The models whose state is kept. */
export type EntityModel = 'thing' | 'event'

// ---- POST /thing/get, /event/get

export interface EntityGet {
  readonly reader: Reader
  readonly id: string
}

const getThing = shape(READING_ROUTES['/thing/get'].request)
const getEvent = shape(READING_ROUTES['/event/get'].request)

export function readEntityGet(model: EntityModel, sent: unknown): Answer<EntityGet> {
  if (model === 'thing') {
    const body = getThing(sent)
    return isFault(body) ? body : readGet(body, 'thing_id', body.thing_id)
  }
  const body = getEvent(sent)
  return isFault(body) ? body : readGet(body, 'event_id', body.event_id)
}

function readGet(
  body: ReaderBody,
  field: 'thing_id' | 'event_id',
  sent: string,
): Answer<EntityGet> {
  const reader = readReader(body)
  if (isFault(reader)) return reader
  const id = readParsed(field, sent, ENTITY_ID_FORM)
  if (id === undefined) return fault(`${field}_required`, { field })
  return isFault(id) ? id : { reader, id }
}

// ---- POST /thing/list, /event/list

export interface EntityList {
  readonly reader: Reader
  readonly state?: string
  /** Events only. */
  readonly thingId?: string
  /** Entities whose last change lies before this seq. */
  readonly before?: number
  readonly limit: number
}

const listThings = shape(READING_ROUTES['/thing/list'].request)
const listEvents = shape(READING_ROUTES['/event/list'].request)

export function readEntityList(model: EntityModel, sent: unknown): Answer<EntityList> {
  if (model === 'thing') {
    const body = listThings(sent)
    return isFault(body) ? body : readList(body, STATES.thing, undefined)
  }
  const body = listEvents(sent)
  return isFault(body) ? body : readList(body, STATES.event, body.thing_id)
}

function readList(
  body: ListBody,
  states: readonly string[],
  sentThingId: SentText,
): Answer<EntityList> {
  const reader = readReader(body)
  if (isFault(reader)) return reader
  const state = readOneOf('state', body.state, states)
  if (isFault(state)) return state
  const thingId = readParsed('thing_id', sentThingId, ENTITY_ID_FORM)
  if (isFault(thingId)) return thingId
  const before = readCursor(body.cursor)
  if (isFault(before)) return before
  const count = readLimit(body.limit, PAGE_LIMIT)
  if (isFault(count)) return count
  return {
    reader,
    limit: count,
    ...(state !== undefined && { state }),
    ...(thingId !== undefined && { thingId }),
    ...(before !== undefined && { before }),
  }
}

// ---- POST /channel/history

export interface HistoryRequest {
  readonly reader: Reader
  readonly afterSeq?: number
  readonly sinceMs?: number
  readonly model?: Model
  readonly entityId?: string
  readonly limit: number
}

const historyShape = shape(READING_ROUTES['/channel/history'].request)

export function readHistory(sent: unknown): Answer<HistoryRequest> {
  const body = historyShape(sent)
  if (isFault(body)) return body
  const reader = readReader(body)
  if (isFault(reader)) return reader
  const afterSeq = readCursor(body.cursor) ?? readSeq(body.after_seq)
  if (isFault(afterSeq)) return afterSeq
  const sinceMs = readTime('since', body.since)
  if (isFault(sinceMs)) return sinceMs
  const model = readOneOf('model', body.model, MODELS)
  if (isFault(model)) return model
  const entityId = readParsed('entity_id', body.entity_id, ENTITY_ID_FORM)
  if (isFault(entityId)) return entityId
  const count = readLimit(body.limit, PAGE_LIMIT)
  if (isFault(count)) return count
  return {
    reader,
    limit: count,
    ...(afterSeq !== undefined && { afterSeq }),
    ...(sinceMs !== undefined && { sinceMs }),
    ...(model !== undefined && { model }),
    ...(entityId !== undefined && { entityId }),
  }
}

// ---- POST /messages/pull, /messages/ack

export interface Pull {
  readonly deviceKey: DeviceKey
  readonly limit: number
}

const pullShape = shape(READING_ROUTES['/messages/pull'].request)

export function readPull(sent: unknown): Answer<Pull> {
  const body = pullShape(sent)
  if (isFault(body)) return body
  const deviceKey = readDeviceKey(body.device_key)
  if (isFault(deviceKey)) return deviceKey
  const count = readLimit(body.limit, { max: LIMIT_MAX, fallback: LIMIT_MAX })
  return isFault(count) ? count : { deviceKey, limit: count }
}

export interface Ack {
  readonly deviceKey: DeviceKey
  readonly deliveries: readonly { readonly channelId: ChannelId; readonly seq: number }[]
  /** The number of different deliveries that the request names. */
  readonly requestedCount: number
}

const ackShape = shape(READING_ROUTES['/messages/ack'].request)

export function readAck(sent: unknown): Answer<Ack> {
  const body = ackShape(sent)
  if (isFault(body)) return body
  const deviceKey = readDeviceKey(body.device_key)
  if (isFault(deviceKey)) return deviceKey
  const field = 'delivery_ids'
  const ids = [...new Set(body.delivery_ids.map((id) => id.trim()))]
  if (ids.length === 0 || ids.length > DELIVERIES_MAX) {
    return fault('delivery_ack_batch_invalid', { field })
  }
  const deliveries = ids.map(deliveryFrom).filter((delivery) => delivery !== undefined)
  if (deliveries.length < ids.length) return fault('delivery_id_invalid', { field })
  return { deviceKey, deliveries, requestedCount: ids.length }
}

/** Reverses `deliveryIdOf`; undefined for a text that it did not make. */
function deliveryFrom(id: string) {
  const channelId = parseChannelId(id.slice(0, 26))
  const seq = Number(id.slice(27))
  if (channelId === undefined || !Number.isSafeInteger(seq) || seq < 1) return undefined
  return deliveryIdOf(channelId, seq) === id ? { channelId, seq } : undefined
}

// ---- cursors: each holds a seq and nothing secret

const CURSOR = /^c[0-9a-z]{1,11}$/

/** The cursor that stands for a place in a list, a whole number from 0. */
export const encodeCursor = (place: number): string => `c${place.toString(36)}`

/** The place that a cursor stands for; undefined when none was sent. */
export function readCursor(sent: SentText): Answer<number | undefined> {
  if (sent === undefined || sent === null || isBlank(sent)) return undefined
  const cursor = sent.trim()
  const place = CURSOR.test(cursor) ? Number.parseInt(cursor.slice(1), 36) : NaN
  const isOurs = Number.isSafeInteger(place) && encodeCursor(place) === cursor
  return isOurs ? place : fault('invalid_cursor', { field: 'cursor' })
}

/** A page of a list of the channel: places from `after` on, `limit` of them at most. */
export type Listing = Credentials & { readonly after: number; readonly limit: number }

type ListingBody = Parameters<typeof readCredentials>[0] & {
  readonly cursor?: SentText
  readonly limit?: SentTime
}

/** Reads a request for a page of a list of the channel. */
export function readListing(body: ListingBody): Answer<Listing> {
  const credentials = readCredentials(body)
  if (isFault(credentials)) return credentials
  const after = readCursor(body.cursor)
  if (isFault(after)) return after
  const limit = readLimit(body.limit, { max: LIMIT_MAX, fallback: LIMIT_FALLBACK })
  return isFault(limit) ? limit : { ...credentials, after: after ?? 0, limit }
}

// ---- what the requests share

type ListBody = ValueOf<(typeof READING_ROUTES)['/thing/list']['request']>
type ReaderBody = Pick<ListBody, 'channel_id' | 'password' | 'device_key'>

function readReader(body: ReaderBody): Answer<Reader> {
  const channelId = readChannelId(body.channel_id)
  if (isFault(channelId)) return channelId
  const { password, device_key: deviceKey } = body
  if (deviceKey === undefined || deviceKey === null || isBlank(deviceKey)) {
    const read = readPassword(password)
    return isFault(read) ? read : { kind: 'password', channelId, password: read }
  }
  if (!isBlank(password)) {
    return invalid('device_key', 'must not be sent together with password')
  }
  const read = readDeviceKey(deviceKey)
  return isFault(read) ? read : { kind: 'device', channelId, deviceKey: read }
}

/** The form of every entity's id, whatever its model. */
const ENTITY_ID_FORM = { parse: parseThingId, rule: ENTITY_ID_RULE }

function readOneOf<Name extends string>(
  field: string,
  sent: SentText,
  names: readonly Name[],
): Answer<Name | undefined> {
  const rule = `must be one of ${names.join(', ')}`
  const parse = (name: string) => names.find((known) => known === name.toLowerCase())
  return readParsed(field, sent, { parse, rule })
}

function readSeq(sent: SentTime): Answer<number | undefined> {
  if (sent === undefined || sent === null || isTimeAbsent(sent)) return undefined
  const seq = readWhole(sent)
  return seq === undefined ? invalid('after_seq', 'must be a whole number from 0') : seq
}
