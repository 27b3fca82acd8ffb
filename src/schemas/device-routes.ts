// The routes of devices: their keys, the ways to them, and what waits for them. (decisions.md 7, 8)

import type { Registered } from '#domain/administration'
import { CHANNEL_TYPES } from '#domain/device'
import type { ChannelType } from '#domain/device'
import { fault, isFault } from '#domain/fault'
import { deliveryIdOf } from '#domain/feed'
import { parseChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import { PROVIDERS, platformsOf, providerRow, PLATFORMS } from '#domain/push/providers'
import type { Platform, TokenForm } from '#domain/push/providers'

import { always } from './channel-routes.ts'
import { DEVICE_KEY } from './credentials.ts'
import { ABSENT, given, inOneCase, list, object } from './json-schema.ts'
import { oneOf, requiredText, text, whole, word } from './json-schema.ts'
import { computed, read } from './members.ts'
import { LIMIT_MAX, limit } from './paging.ts'
import { DELIVERY_ID_FORM, atMost, trimmed } from './patterns.ts'
import { FEED_ENTRY } from './reading-routes.ts'
import { post, routes } from './route.ts'
import { invalid, readText } from './values.ts'
import type { SentText } from './values.ts'

// ---- platforms, routes and the tokens of providers

const wordOf = <const Word extends string>(words: readonly Word[]) =>
  word(words, `In any case: ${words.join(', ')}.`)

function readPlatform(sent: string): Answer<Platform> {
  const name = sent.trim().toLowerCase()
  const platform = PLATFORMS.find((known) => known === (name === 'win' ? 'windows' : name))
  return platform ?? fault('invalid_platform', { field: 'platform' })
}

function readChannelType(sent: string): Answer<ChannelType> {
  const name = sent.trim().toLowerCase()
  const detail = `channel_type must be one of ${CHANNEL_TYPES.join(', ')}`
  const channelType = CHANNEL_TYPES.find((type) => type === name)
  return channelType ?? fault('invalid_channel_type', { field: 'channel_type', detail })
}

const LABEL_MAX = 64

/** Counted in characters; undefined when it is absent or blank. */
function readLabel(sent: SentText, field: string): Answer<string | undefined> {
  const label = readText(field, sent)
  if (typeof label !== 'string' || Array.from(label).length <= LABEL_MAX) return label
  return invalid(field, `must be at most ${LABEL_MAX} characters`)
}

/** Absent when it is blank. */
const trimmedText = (sent: SentText): string | undefined => sent?.trim() || undefined

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
  const token = sent.trim()
  if (token === '') return fault('provider_token_required', { field })
  for (const form of forms) {
    const known = form.read(token)
    if (known !== undefined) return known
  }
  return fault('invalid_provider_token', { field })
}

/** A token of any provider that the platform may have. */
function readTokenOf(sentPlatform: string, sent: string): Answer<string> {
  const platform = readPlatform(sentPlatform)
  if (isFault(platform)) return platform
  const rows = ROWS.filter((row) => platformsOf(row).includes(platform))
  return readProviderToken(
    rows.map(({ token }) => token),
    sent,
  )
}

const PLATFORM = read(wordOf(PLATFORMS), readPlatform)
const CHANNEL_TYPE = read(wordOf(CHANNEL_TYPES), readChannelType)
const ROWS = PROVIDERS.map((name) => ({ name, ...providerRow(name) }))
const TOKEN_RULE = ROWS.map(({ name, token }) => `${name}: ${token.rule}`).join('; ')

const tokenOf = ({ rule, pattern, example }: TokenForm) => ({
  ...requiredText(`${rule}.`, trimmed(pattern)),
  examples: [example],
})

const SET_ROUTE_REQUEST = inOneCase(
  object(
    {
      device_key: DEVICE_KEY,
      channel_type: CHANNEL_TYPE,
      // checkProviderToken checks its form once the platform is known. A secret.
      provider_token: read(
        text(`Required for ${PROVIDERS.join(', ')}; forbidden for private. ${TOKEN_RULE}.`),
        trimmedText,
      ),
    },
    ['device_key', 'channel_type'],
  ),
  [
    {
      ...object({ channel_type: wordOf(['private']), provider_token: ABSENT }, []),
      title: 'Over its own connection',
    },
    ...ROWS.map(({ name, title, token }) => ({
      ...object({ channel_type: wordOf([name]), provider_token: tokenOf(token) }, [
        'provider_token',
      ]),
      title,
    })),
  ],
)

const RETIRE_TOKEN_REQUEST = inOneCase(
  whole({
    platform: PLATFORM,
    provider_token: read(
      requiredText(`${TOKEN_RULE}.`),
      (sent, _field, body: { readonly platform: string }) => readTokenOf(body.platform, sent),
    ),
  }),
  ROWS.map((row) => ({
    ...object({ platform: wordOf(platformsOf(row)), provider_token: tokenOf(row.token) }, []),
    title: row.title,
  })),
)

const ROUTE_DATA = object(
  {
    device_key: given('string', 'The device.'),
    channel_type: oneOf(CHANNEL_TYPES, 'The route to the device from now on.'),
    provider_token: given('string', 'The address of the device at its provider.'),
  },
  ['device_key', 'channel_type'],
)

// ---- deliveries

const DELIVERIES_MAX = 200

function readDeliveries(sent: readonly string[], field: string) {
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

const DELIVERY_IDS = read(
  {
    type: 'array',
    minItems: 1,
    maxItems: DELIVERIES_MAX,
    items: { type: 'string', pattern: trimmed(DELIVERY_ID_FORM) },
    description: `1 to ${DELIVERIES_MAX} different delivery_id values, in any order.`,
  },
  readDeliveries,
  'deliveries',
)

// ---- the routes

export const DEVICE = routes('Devices', 'Device', {
  register: post('/device/register', 'Register a device, or confirm its key', {
    request: object(
      {
        // A key of any other form than a key's counts as unknown.
        device_key: read(
          {
            type: ['string', 'null'],
            description:
              'The key from an earlier registration; a new one is issued for any other text.',
          },
          trimmedText,
        ),
        platform: PLATFORM,
        label: read(
          text(
            `Names the device to the owners of its channels: 1 to ${LABEL_MAX} characters. ` +
              'Without it a known device keeps its own.',
            atMost(LABEL_MAX),
          ),
          readLabel,
        ),
      },
      ['platform'],
    ),
    makesDevices: true,
    data: object(
      {
        device_key: given('string', 'The credential of the device: keep it secret.'),
        issued_new_key: computed(
          given('boolean', 'True when the key is a new one.'),
          ({ issueReason }: Registered) => issueReason !== undefined,
        ),
        issue_reason: oneOf(
          ['device_key_missing', 'device_key_not_found', 'platform_mismatch'],
          'Why a new key was issued.',
        ),
      },
      ['device_key', 'issued_new_key'],
    ),
  }),
  setRoute: post('/channel/device', 'Set the route to a device', {
    operation: 'setDeviceRoute',
    request: SET_ROUTE_REQUEST,
    data: ROUTE_DATA,
    codes: [
      'device_key_not_found',
      'provider_token_required',
      'provider_token_forbidden_for_private_channel',
      'invalid_provider_token',
      ...ROWS.flatMap(({ only }) => only?.otherwise ?? []),
    ],
  }),
  deleteRoute: post('/channel/device/delete', 'Set the route to a device back to private', {
    operation: 'deleteDeviceRoute',
    request: whole({ device_key: DEVICE_KEY, channel_type: CHANNEL_TYPE }),
    data: ROUTE_DATA,
    codes: ['device_key_not_found', 'channel_type_mismatch'],
  }),
  retireToken: post('/channel/device/provider-token/retire', 'Retire a provider token', {
    operation: 'retireProviderToken',
    request: RETIRE_TOKEN_REQUEST,
    data: whole({ retired: always('Always true, also for a token that nobody has.') }),
    codes: ['invalid_provider_token'],
  }),
})

/** What waits for a device. */
export const DELIVERY = routes('Reading', 'Deliveries', {
  pull: post('/messages/pull', 'Get the deliveries that a device has not acknowledged', {
    request: object({ device_key: DEVICE_KEY, limit: limit(LIMIT_MAX) }, ['device_key']),
    data: whole({
      items: list(FEED_ENTRY, 'Entries that are not acknowledged yet.'),
      has_more: given('boolean', 'True when there is more behind these.'),
    }),
    codes: ['device_key_not_found'],
  }),
  acknowledge: post('/messages/ack', 'Acknowledge deliveries', {
    request: whole({ device_key: DEVICE_KEY, delivery_ids: DELIVERY_IDS }),
    data: whole({
      requested_count: given(
        'integer',
        'The number of different deliveries that the request names.',
      ),
      removed_count: given('integer', 'The number of those that were not acknowledged before.'),
    }),
    codes: ['device_key_not_found', 'delivery_id_invalid'],
  }),
})
