// Requests about devices and the routes to them. (decisions.md 7)

import { APPLE_PLATFORMS, CHANNEL_TYPES, PLATFORMS } from '#domain/device'
import type { ChannelType, Platform } from '#domain/device'
import { fault, isFault } from '#domain/fault'
import { parseDeviceKey } from '#domain/identity'
import type { DeviceKey } from '#domain/identity'
import type { Answer } from '#domain/ports'

import { DEVICE_ROUTES } from './device-schemas.ts'
import { shape } from './shape.ts'

// ---- POST /device/register

export interface Register {
  /** The sent text, trimmed: a key of any other form counts as unknown. */
  readonly deviceKey?: string
  readonly platform: Platform
}

const registerShape = shape(DEVICE_ROUTES['/device/register'].request)

export function readRegister(sent: unknown): Answer<Register> {
  const body = registerShape(sent)
  if (isFault(body)) return body
  const platform = readPlatform(body.platform)
  if (isFault(platform)) return platform
  const deviceKey = body.device_key?.trim() ?? ''
  return deviceKey === '' ? { platform } : { deviceKey, platform }
}

// ---- POST /channel/device

export interface SetRoute {
  readonly deviceKey: DeviceKey
  readonly channelType: ChannelType
  /**
   * The sent token, trimmed; checkProviderToken checks its form once the platform is known. A
   * secret.
   */
  readonly providerToken?: string
}

const setRouteShape = shape(DEVICE_ROUTES['/channel/device'].request)

export function readSetRoute(sent: unknown): Answer<SetRoute> {
  const body = setRouteShape(sent)
  if (isFault(body)) return body
  const route = readRoute(body)
  const providerToken = body.provider_token?.trim() ?? ''
  return isFault(route) || providerToken === '' ? route : { ...route, providerToken }
}

// ---- POST /channel/device/delete

export interface DeleteRoute {
  readonly deviceKey: DeviceKey
  readonly channelType: ChannelType
}

const deleteRouteShape = shape(DEVICE_ROUTES['/channel/device/delete'].request)

export function readDeleteRoute(sent: unknown): Answer<DeleteRoute> {
  const body = deleteRouteShape(sent)
  return isFault(body) ? body : readRoute(body)
}

// ---- POST /channel/device/provider-token/retire

export interface RetireToken {
  readonly platform: Platform
  /** In the form in which tokens are kept. A secret. */
  readonly providerToken: string
}

const retireTokenShape = shape(DEVICE_ROUTES['/channel/device/provider-token/retire'].request)

export function readRetireToken(sent: unknown): Answer<RetireToken> {
  const body = retireTokenShape(sent)
  if (isFault(body)) return body
  const platform = readPlatform(body.platform)
  if (isFault(platform)) return platform
  const providerToken = readProviderToken(platform, body.provider_token)
  return isFault(providerToken) ? providerToken : { platform, providerToken }
}

// ---- what the routes share

/** A device key of the right form; any other one is not registered. */
export function readDeviceKey(sent: string): Answer<DeviceKey> {
  const field = 'device_key'
  const key = sent.trim()
  if (key === '') return fault('validation_failed', { field, detail: 'device_key is required' })
  return parseDeviceKey(key) ?? fault('device_key_not_found', { field })
}

function readRoute(body: {
  readonly device_key: string
  readonly channel_type: string
}): Answer<DeleteRoute> {
  const deviceKey = readDeviceKey(body.device_key)
  if (isFault(deviceKey)) return deviceKey
  const name = body.channel_type.trim().toLowerCase()
  const channelType = CHANNEL_TYPES.find((type) => type === name)
  if (channelType === undefined) return fault('invalid_channel_type', { field: 'channel_type' })
  return { deviceKey, channelType }
}

function readPlatform(sent: string): Answer<Platform> {
  const name = sent.trim().toLowerCase()
  const platform = PLATFORMS.find((known) => known === (name === 'win' ? 'windows' : name))
  return platform ?? fault('invalid_platform', { field: 'platform' })
}

/** The token in the form in which it is kept for a device of this platform and this route. */
export function checkProviderToken(
  platform: Platform,
  channelType: ChannelType,
  token: string | undefined,
): Answer<string | undefined> {
  const field = 'channel_type'
  if (channelType === 'private') {
    if (token === undefined || token.trim() === '') return undefined
    return fault('provider_token_forbidden_for_private_channel', { field: 'provider_token' })
  }
  if (channelType === 'apns' && !APPLE_PLATFORMS.includes(platform)) {
    return fault('apns_channel_requires_apple_platform', { field })
  }
  if (channelType === 'fcm' && platform !== 'android') {
    return fault('fcm_channel_requires_android_platform', { field })
  }
  return readProviderToken(platform, token ?? '')
}

const APPLE_TOKEN = /^[0-9a-f]{64,256}$/
const OTHER_TOKEN = /^[\x21-\x7e]{16,4096}$/

/** Apple tokens are hex and kept in lower case; the others are kept as they are. */
function readProviderToken(platform: Platform, sent: string): Answer<string> {
  const field = 'provider_token'
  const isApple = APPLE_PLATFORMS.includes(platform)
  const token = isApple ? sent.trim().toLowerCase() : sent.trim()
  if (token === '') return fault('provider_token_required', { field })
  const form = isApple ? APPLE_TOKEN : OTHER_TOKEN
  return form.test(token) ? token : fault('invalid_provider_token', { field })
}
