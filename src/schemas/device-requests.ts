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
import { request } from './shape.ts'
import type { SentText } from './values.ts'

/** POST /device/register */
export const readRegister = request(DEVICE_ROUTES['/device/register'].request, {
  platform: (body) => readPlatform(body.platform),
  /** The sent text, trimmed: a key of any other form counts as unknown. */
  deviceKey: (body) => trimmedText(body.device_key),
})

const ROUTE_READ = {
  deviceKey: (body: { readonly device_key: string }) => readDeviceKey(body.device_key),
  channelType: (body: { readonly channel_type: string }) => readChannelType(body.channel_type),
}

/** POST /channel/device */
export const readSetRoute = request(DEVICE_ROUTES['/channel/device'].request, {
  ...ROUTE_READ,
  /** Trimmed; checkProviderToken checks its form once the platform is known. A secret. */
  providerToken: (body) => trimmedText(body.provider_token),
})

/** POST /channel/device/delete */
export const readDeleteRoute = request(DEVICE_ROUTES['/channel/device/delete'].request, ROUTE_READ)

/** POST /channel/device/provider-token/retire */
export function readRetireToken(
  sent: unknown,
): Answer<{ readonly platform: Platform; readonly providerToken: string }> {
  const wish = readRetirement(sent)
  if (isFault(wish)) return wish
  const { platform } = wish
  const forms = PROVIDERS.map(providerRow)
    .filter((row) => platformsOf(row).includes(platform))
    .map(({ token }) => token)
  const providerToken = readProviderToken(forms, wish.sentToken)
  return isFault(providerToken) ? providerToken : { platform, providerToken }
}

const RETIREMENT = DEVICE_ROUTES['/channel/device/provider-token/retire'].request
const readRetirement = request(RETIREMENT, {
  platform: (body) => readPlatform(body.platform),
  sentToken: (body) => body.provider_token,
})

// ---- what the routes share

/** A device key of the right form; any other one is not registered. */
export function readDeviceKey(sent: string): Answer<DeviceKey> {
  const field = 'device_key'
  const key = sent.trim()
  if (key === '') return fault('validation_failed', { field, detail: 'device_key is required' })
  return parseDeviceKey(key) ?? fault('device_key_not_found', { field })
}

/** Absent when it is blank. */
const trimmedText = (sent: SentText): string | undefined => sent?.trim() || undefined

function readChannelType(sent: string): Answer<ChannelType> {
  const name = sent.trim().toLowerCase()
  const detail = `channel_type must be one of ${CHANNEL_TYPES.join(', ')}`
  const channelType = CHANNEL_TYPES.find((type) => type === name)
  return channelType ?? fault('invalid_channel_type', { field: 'channel_type', detail })
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
