// Requests that read the gateway's state: entities, history, and a device's own backlog.
// (decisions.md 8)

import { fault, isFault } from '#domain/fault'
import { deliveryIdOf } from '#domain/feed'
import { parseChannelId, parseThingId } from '#domain/identity'
import type { ChannelId, DeviceKey } from '#domain/identity'
import type { Answer } from '#domain/ports'
import { MODELS } from '#domain/submission'

import { readDeviceKey } from './device-requests.ts'
import { DELIVERIES_MAX, LIMIT_FALLBACK, LIMIT_MAX, READING_ROUTES } from './reading-schemas.ts'
import { STATES } from './reading-schemas.ts'
import type { ValueOf } from './schema-types.ts'
import type { RequestOf } from './shape.ts'
import { CREDENTIALS_READ, request } from './shape.ts'
import { ENTITY_ID_RULE, invalid, isBlank, isTimeAbsent, readChannelId } from './values.ts'
import { readLimit, readParsed, readPassword, readTime, readWhole } from './values.ts'
import type { Credentials, SentText, SentTime } from './values.ts'

/** The right by which somebody reads a Channel. */
export type Reader =
  | { readonly kind: 'password'; readonly channelId: ChannelId; readonly password: string }
  | { readonly kind: 'device'; readonly channelId: ChannelId; readonly deviceKey: DeviceKey }

const PAGE_LIMIT = { max: LIMIT_MAX, fallback: LIMIT_FALLBACK }
/** The models whose state is kept. */
export type EntityModel = 'thing' | 'event'

// ---- POST /thing/get, /event/get

export type EntityGet = RequestOf<typeof getThing>

const idOf = (field: 'thing_id' | 'event_id', sent: string): Answer<string> =>
  readParsed(field, sent, ENTITY_ID_FORM) ?? fault(`${field}_required`, { field })

const getThing = request(READING_ROUTES['/thing/get'].request, {
  reader: readReader,
  id: (body) => idOf('thing_id', body.thing_id),
})
const getEvent = request(READING_ROUTES['/event/get'].request, {
  reader: readReader,
  id: (body) => idOf('event_id', body.event_id),
})

export const readEntityGet = (model: EntityModel, sent: unknown): Answer<EntityGet> =>
  model === 'thing' ? getThing(sent) : getEvent(sent)

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

const PLACE_AND_COUNT = {
  before: (body: { readonly cursor?: SentText }) => readCursor(body.cursor),
  limit: (body: { readonly limit?: SentTime }) => readLimit(body.limit, PAGE_LIMIT),
}

const listThings = request(READING_ROUTES['/thing/list'].request, {
  reader: readReader,
  state: (body) => readOneOf('state', body.state, STATES.thing),
  ...PLACE_AND_COUNT,
})
const listEvents = request(READING_ROUTES['/event/list'].request, {
  reader: readReader,
  state: (body) => readOneOf('state', body.state, STATES.event),
  thingId: (body) => readParsed('thing_id', body.thing_id, ENTITY_ID_FORM),
  ...PLACE_AND_COUNT,
})

export const readEntityList = (model: EntityModel, sent: unknown): Answer<EntityList> =>
  model === 'thing' ? listThings(sent) : listEvents(sent)

// ---- POST /channel/history

export const readHistory = request(READING_ROUTES['/channel/history'].request, {
  reader: readReader,
  afterSeq: (body) => readCursor(body.cursor) ?? readSeq(body.after_seq),
  sinceMs: (body) => readTime('since', body.since),
  model: (body) => readOneOf('model', body.model, MODELS),
  entityId: (body) => readParsed('entity_id', body.entity_id, ENTITY_ID_FORM),
  limit: (body) => readLimit(body.limit, PAGE_LIMIT),
})

// ---- POST /messages/pull, /messages/ack

export const readPull = request(READING_ROUTES['/messages/pull'].request, {
  deviceKey: (body) => readDeviceKey(body.device_key),
  limit: (body) => readLimit(body.limit, { max: LIMIT_MAX, fallback: LIMIT_MAX }),
})

export const readAck = request(READING_ROUTES['/messages/ack'].request, {
  deviceKey: (body) => readDeviceKey(body.device_key),
  /** The different ones of the request. */
  deliveries: (body) => readDeliveries(body.delivery_ids),
})

function readDeliveries(sent: readonly string[]) {
  const field = 'delivery_ids'
  const ids = [...new Set(sent.map((id) => id.trim()))]
  if (ids.length === 0 || ids.length > DELIVERIES_MAX) {
    return fault('delivery_ack_batch_invalid', { field })
  }
  const deliveries = ids.map(deliveryFrom).filter((delivery) => delivery !== undefined)
  if (deliveries.length < ids.length) return fault('delivery_id_invalid', { field })
  return deliveries
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

/** The members of a request for a page of a list of the channel. */
export const LISTING_READ = {
  ...CREDENTIALS_READ,
  after: (body: { readonly cursor?: SentText }) => readCursor(body.cursor) ?? 0,
  limit: (body: { readonly limit?: SentTime }) => readLimit(body.limit, PAGE_LIMIT),
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
