// Requests about Channels and the subscriptions to them. (decisions.md 7)

import { fault, isFault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import { isRecord } from '#domain/record'

import { CHANNELS_MAX, CHANNEL_ROUTES, CREDENTIALS_REQUEST, SYNC_ITEM } from './channel-schemas.ts'
import { readDeviceKey } from './device-requests.ts'
import { SUBSCRIBER_ID_FORM, exactly } from './patterns.ts'
import type { ValueOf } from './schema-types.ts'
import { CREDENTIALS_READ, request } from './shape.ts'
import type { RequestOf } from './shape.ts'
import { invalid, isBlank, isSafeText, readChannelId, readPassword } from './values.ts'
import type { SentText } from './values.ts'

// ---- POST /channel/create

export const readCreate = request(CHANNEL_ROUTES['/channel/create'].request, {
  channelName: (body) => readChannelName(body.channel_name),
  password: (body) => readPassword(body.password),
})

// ---- POST /channel/subscribe

export type Subscribe = RequestOf<typeof readSubscribe>

type Target =
  | { readonly kind: 'channel'; readonly channelId: ChannelId }
  | { readonly kind: 'new'; readonly channelName: string }

export const readSubscribe = request(CHANNEL_ROUTES['/channel/subscribe'].request, {
  deviceKey: (body) => readDeviceKey(body.device_key),
  password: (body) => readPassword(body.password),
  target: readTarget,
})

function readTarget(
  body: ValueOf<(typeof CHANNEL_ROUTES)['/channel/subscribe']['request']>,
): Answer<Target> {
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

export const readUnsubscribe = request(CHANNEL_ROUTES['/channel/unsubscribe'].request, {
  deviceKey: (body) => readDeviceKey(body.device_key),
  channelId: (body) => readChannelId(body.channel_id),
})

// ---- POST /channel/subscriber/remove

const SUBSCRIBER_ID = new RegExp(exactly(SUBSCRIBER_ID_FORM))

export const readSubscriberRemoval = request(CHANNEL_ROUTES['/channel/subscriber/remove'].request, {
  ...CREDENTIALS_READ,
  subscriberId: ({ subscriber_id: sent }) => {
    const subscriberId = sent.trim()
    if (SUBSCRIBER_ID.test(subscriberId)) return subscriberId
    return invalid('subscriber_id', 'must be 32 digits and letters a to f')
  },
})

// ---- POST /channel/sync

export interface SyncItem {
  /** channel_id as it was sent, for the answer; empty when it was no text. */
  readonly channelIdText: string
  /** The item itself: readSyncItem reads it. */
  readonly sent: unknown
}

export const readSync = request(CHANNEL_ROUTES['/channel/sync'].request, {
  deviceKey: (body) => readDeviceKey(body.device_key),
  /** In the order of the request. */
  items: ({ channels }) =>
    channels.length > CHANNELS_MAX
      ? fault('channels_limit_exceeded', { field: 'channels' })
      : channels.map(syncItemOf),
})

const syncItemOf = (sent: unknown): SyncItem => ({
  channelIdText: isRecord(sent) && typeof sent['channel_id'] === 'string' ? sent['channel_id'] : '',
  sent,
})

/** The channel and its password in an item of /channel/sync. */
export const readSyncItem = request(SYNC_ITEM, CREDENTIALS_READ)

// ---- POST /channel/rename, /channel/password, /channel/delete, /channel/info, subscriber/list

export const readRename = request(CHANNEL_ROUTES['/channel/rename'].request, {
  ...CREDENTIALS_READ,
  channelName: (body) => readChannelName(body.channel_name),
})

export type PasswordChange = RequestOf<typeof readPasswordChange>

export const readPasswordChange = request(CHANNEL_ROUTES['/channel/password'].request, {
  ...CREDENTIALS_READ,
  newPassword: (body) => readPassword(body.new_password, 'new_password'),
  keepsKeys: (body) => body.keep_keys === true,
})

export const readChannelCredentials = request(CREDENTIALS_REQUEST, CREDENTIALS_READ)

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
