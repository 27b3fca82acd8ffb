// Requests about devices and the routes to them. (decisions.md 7)

import { CHANNEL_TYPES } from '#domain/device'
import type { ChannelType } from '#domain/device'
import { fault, isFault } from '#domain/fault'
import { parseDeviceKey } from '#domain/identity'
import type { DeviceKey } from '#domain/identity'
import type { Answer } from '#domain/ports'
import { PROVIDERS, platformsOf, providerRow, PLATFORMS } from '#domain/push/providers'
import type { TokenForm, Platform } from '#domain/push/providers'

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
  const forms = PROVIDERS.map(providerRow)
    .filter((row) => platformsOf(row).includes(platform))
    .map(({ token }) => token)
  const providerToken = readProviderToken(forms, body.provider_token)
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
  if (channelType === undefined) {
    const detail = `channel_type must be one of ${CHANNEL_TYPES.join(', ')}`
    return fault('invalid_channel_type', { field: 'channel_type', detail })
  }
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
  if (channelType === 'private') {
    if (token === undefined || token.trim() === '') return undefined
    return fault('provider_token_forbidden_for_private_channel', { field: 'provider_token' })
  }
  const { only, token: form } = providerRow(channelType)
  if (only !== undefined && !only.platforms.includes(platform)) {
    return fault(only.otherwise, { field: 'channel_type' })
  }
  return readProviderToken([form], token ?? '')
}

/** The token in the first of the forms that it has. */
function readProviderToken(forms: readonly TokenForm[], sent: string): Answer<string> {
  const field = 'provider_token'
  const text = sent.trim()
  if (text === '') return fault('provider_token_required', { field })
  for (const { read } of forms) {
    const token = read(text)
    if (token !== undefined) return token
  }
  return fault('invalid_provider_token', { field })
}
