// Requests about Channels and the subscriptions to them. (decisions.md 7)

import { fault, isFault } from '#domain/fault'
import type { ChannelId, DeviceKey } from '#domain/identity'
import type { Answer } from '#domain/ports'
import { isRecord } from '#domain/record'

import { CHANNELS_MAX, CHANNEL_ROUTES, CREDENTIALS_REQUEST, SYNC_ITEM } from './channel-schemas.ts'
import { readDeviceKey } from './device-requests.ts'
import { SUBSCRIBER_ID_FORM, exactly } from './patterns.ts'
import type { ValueOf } from './schema-types.ts'
import { shape } from './shape.ts'
import {
  invalid,
  isBlank,
  isSafeText,
  readChannelId,
  readCredentials,
  readPassword,
} from './values.ts'
import type { Credentials, SentText } from './values.ts'

// ---- POST /channel/create

export interface Create {
  readonly channelName: string
  readonly password: string
}

const createShape = shape(CHANNEL_ROUTES['/channel/create'].request)

export function readCreate(sent: unknown): Answer<Create> {
  const body = createShape(sent)
  if (isFault(body)) return body
  const channelName = readChannelName(body.channel_name)
  if (isFault(channelName)) return channelName
  const password = readPassword(body.password)
  return isFault(password) ? password : { channelName, password }
}

// ---- POST /channel/subscribe

export interface Subscribe {
  readonly deviceKey: DeviceKey
  readonly password: string
  readonly target:
    | { readonly kind: 'channel'; readonly channelId: ChannelId }
    | { readonly kind: 'new'; readonly channelName: string }
}

const subscribeShape = shape(CHANNEL_ROUTES['/channel/subscribe'].request)

export function readSubscribe(sent: unknown): Answer<Subscribe> {
  const body = subscribeShape(sent)
  if (isFault(body)) return body
  const deviceKey = readDeviceKey(body.device_key)
  if (isFault(deviceKey)) return deviceKey
  const password = readPassword(body.password)
  if (isFault(password)) return password
  const target = readTarget(body)
  return isFault(target) ? target : { deviceKey, password, target }
}

function readTarget(
  body: ValueOf<(typeof CHANNEL_ROUTES)['/channel/subscribe']['request']>,
): Answer<Subscribe['target']> {
  const hasId = !isBlank(body.channel_id)
  if (hasId === !isBlank(body.channel_name)) return fault('channel_binding_invalid')
  if (hasId) {
    const channelId = readChannelId(body.channel_id)
    return isFault(channelId) ? channelId : { kind: 'channel', channelId }
  }
  const channelName = readChannelName(body.channel_name)
  return isFault(channelName) ? channelName : { kind: 'new', channelName }
}

// ---- POST /channel/unsubscribe

export interface Unsubscribe {
  readonly deviceKey: DeviceKey
  readonly channelId: ChannelId
}

const unsubscribeShape = shape(CHANNEL_ROUTES['/channel/unsubscribe'].request)

export function readUnsubscribe(sent: unknown): Answer<Unsubscribe> {
  const body = unsubscribeShape(sent)
  if (isFault(body)) return body
  const deviceKey = readDeviceKey(body.device_key)
  if (isFault(deviceKey)) return deviceKey
  const channelId = readChannelId(body.channel_id)
  return isFault(channelId) ? channelId : { deviceKey, channelId }
}

// ---- POST /channel/subscriber/remove

export interface SubscriberRemoval extends Credentials {
  readonly subscriberId: string
}

const removalShape = shape(CHANNEL_ROUTES['/channel/subscriber/remove'].request)
const SUBSCRIBER_ID = new RegExp(exactly(SUBSCRIBER_ID_FORM))

export function readSubscriberRemoval(sent: unknown): Answer<SubscriberRemoval> {
  const body = removalShape(sent)
  if (isFault(body)) return body
  const credentials = readCredentials(body)
  if (isFault(credentials)) return credentials
  const subscriberId = body.subscriber_id.trim()
  if (!SUBSCRIBER_ID.test(subscriberId)) {
    return invalid('subscriber_id', 'must be 32 digits and letters a to f')
  }
  return { ...credentials, subscriberId }
}

// ---- POST /channel/sync

export interface SyncItem {
  /** channel_id as it was sent, for the answer; empty when it was no text. */
  readonly channelIdText: string
  /** The item itself: readSyncItem reads it. */
  readonly sent: unknown
}

export interface Sync {
  readonly deviceKey: DeviceKey
  /** In the order of the request. */
  readonly items: readonly SyncItem[]
}

const syncShape = shape(CHANNEL_ROUTES['/channel/sync'].request)
const itemShape = shape(SYNC_ITEM)

export function readSync(sent: unknown): Answer<Sync> {
  const body = syncShape(sent)
  if (isFault(body)) return body
  const deviceKey = readDeviceKey(body.device_key)
  if (isFault(deviceKey)) return deviceKey
  const { channels } = body
  if (channels.length > CHANNELS_MAX) return fault('channels_limit_exceeded', { field: 'channels' })
  return { deviceKey, items: channels.map(syncItemOf) }
}

const syncItemOf = (sent: unknown): SyncItem => ({
  channelIdText: isRecord(sent) && typeof sent['channel_id'] === 'string' ? sent['channel_id'] : '',
  sent,
})

/** The channel and its password in an item of /channel/sync. */
export function readSyncItem(sent: unknown): Answer<Credentials> {
  const body = itemShape(sent)
  return isFault(body) ? body : readCredentials(body)
}

// ---- POST /channel/rename, /channel/password, /channel/delete, /channel/info, subscriber/list

export interface Rename extends Credentials {
  readonly channelName: string
}

const renameShape = shape(CHANNEL_ROUTES['/channel/rename'].request)

export function readRename(sent: unknown): Answer<Rename> {
  const body = renameShape(sent)
  if (isFault(body)) return body
  const credentials = readCredentials(body)
  if (isFault(credentials)) return credentials
  const channelName = readChannelName(body.channel_name)
  return isFault(channelName) ? channelName : { ...credentials, channelName }
}

export interface PasswordChange extends Credentials {
  readonly newPassword: string
  readonly keepsKeys: boolean
}

const passwordShape = shape(CHANNEL_ROUTES['/channel/password'].request)

export function readPasswordChange(sent: unknown): Answer<PasswordChange> {
  const body = passwordShape(sent)
  if (isFault(body)) return body
  const credentials = readCredentials(body)
  if (isFault(credentials)) return credentials
  const newPassword = readPassword(body.new_password, 'new_password')
  if (isFault(newPassword)) return newPassword
  return { ...credentials, newPassword, keepsKeys: body.keep_keys === true }
}

const credentialsShape = shape(CREDENTIALS_REQUEST)

export function readChannelCredentials(sent: unknown): Answer<Credentials> {
  const body = credentialsShape(sent)
  return isFault(body) ? body : readCredentials(body)
}

// ---- GET /channel/exists

export interface Exists {
  readonly channelId: ChannelId
}

/** `sent` is the query parameter channel_id. */
export function readExists(sent: string | undefined): Answer<Exists> {
  const channelId = readChannelId(sent)
  return isFault(channelId) ? channelId : { channelId }
}

// ---- what the requests share

/** Counted in characters, not bytes: a letter of any script is one. */
function readChannelName(sent: SentText): Answer<string> {
  const name = sent?.trim() ?? ''
  const isWithin = name !== '' && name.length <= 256 && Array.from(name).length <= 128
  if (isWithin && !/\p{Cc}/u.test(name) && isSafeText(name)) return name
  return fault('invalid_channel_name', { field: 'channel_name' })
}
