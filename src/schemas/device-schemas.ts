// The routes of devices. (decisions.md 7)

import { CHANNEL_TYPES } from '#domain/device'
import { PROVIDERS, platformsOf, providerRow, PLATFORMS } from '#domain/push/providers'
import type { PushProviderRow, TokenForm } from '#domain/push/providers'

import { DEVICE_KEY } from './credentials.ts'
import {
  ABSENT,
  given,
  inOneCase,
  object,
  whole,
  oneOf,
  requiredText,
  text,
} from './json-schema.ts'
import { anyCase, trimmed } from './patterns.ts'
import { routes } from './route.ts'

/** One of these words in any case; the first is the example. */
const wordOf = <Word extends string>(words: readonly Word[], also: readonly string[] = []) => ({
  ...requiredText(`In any case: ${words.join(', ')}.`, trimmed(anyCase([...words, ...also]))),
  examples: words.slice(0, 1),
})

/** The platforms of a provider, with the other spelling that one of them has. */
const platformOf = (row: Pick<PushProviderRow, 'only'>) => {
  const platforms = platformsOf(row)
  return wordOf(platforms, platforms.includes('windows') ? ['win'] : [])
}

const PLATFORM = wordOf(PLATFORMS, ['win'])
const CHANNEL_TYPE = wordOf(CHANNEL_TYPES)
const ROWS = PROVIDERS.map((name) => ({ name, ...providerRow(name) }))
const TOKEN_RULE = ROWS.map(({ name, token }) => `${name}: ${token.rule}`).join('; ')

const ROUTE_DATA = object(
  {
    device_key: given('string', 'The device.'),
    channel_type: oneOf(CHANNEL_TYPES, 'The route to the device from now on.'),
    provider_token: given('string', 'The address of the device at its provider.'),
  },
  ['device_key', 'channel_type'],
)

const tokenOf = ({ rule, pattern, example }: TokenForm) => ({
  ...requiredText(`${rule}.`, trimmed(pattern)),
  examples: [example],
})

const SET_ROUTE_REQUEST = inOneCase(
  object(
    {
      device_key: DEVICE_KEY,
      channel_type: CHANNEL_TYPE,
      provider_token: text(
        `Required for ${PROVIDERS.join(', ')}; forbidden for private. ${TOKEN_RULE}.`,
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
  whole({ platform: PLATFORM, provider_token: requiredText(`${TOKEN_RULE}.`) }),
  ROWS.map((row) => ({
    ...object({ platform: platformOf(row), provider_token: tokenOf(row.token) }, []),
    title: row.title,
  })),
)

export const DEVICE_ROUTES = routes('Devices', {
  '/device/register': {
    summary: 'Register a device, or confirm its key',
    request: object(
      {
        device_key: {
          type: ['string', 'null'],
          description:
            'The key from an earlier registration; a new one is issued for any other text.',
        },
        platform: PLATFORM,
      },
      ['platform'],
    ),
    data: object(
      {
        device_key: given('string', 'The credential of the device: keep it secret.'),
        issued_new_key: given('boolean', 'True when the key is a new one.'),
        issue_reason: oneOf(
          ['device_key_missing', 'device_key_not_found', 'platform_mismatch'],
          'Why a new key was issued.',
        ),
      },
      ['device_key', 'issued_new_key'],
    ),
  },
  '/channel/device': {
    summary: 'Set the route to a device',
    request: SET_ROUTE_REQUEST,
    data: ROUTE_DATA,
    codes: [
      'device_key_not_found',
      'provider_token_required',
      'provider_token_forbidden_for_private_channel',
      'invalid_provider_token',
      ...ROWS.flatMap(({ only }) => only?.otherwise ?? []),
    ],
  },
  '/channel/device/delete': {
    summary: 'Set the route to a device back to private',
    request: whole({ device_key: DEVICE_KEY, channel_type: CHANNEL_TYPE }),
    data: ROUTE_DATA,
    codes: ['device_key_not_found', 'channel_type_mismatch'],
  },
  '/channel/device/provider-token/retire': {
    summary: 'Retire a provider token',
    request: RETIRE_TOKEN_REQUEST,
    data: whole({ retired: given('boolean', 'Always true, also for a token that nobody has.') }),
    codes: ['invalid_provider_token'],
  },
})
