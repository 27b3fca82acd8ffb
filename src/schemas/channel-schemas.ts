// The routes of Channels and of the subscriptions to them. (decisions.md 7)

import { CHANNEL_TYPES } from '#domain/device'
import { PLATFORMS } from '#domain/push/providers'

import { CREDENTIALS, DEVICE_KEY } from './credentials.ts'
import { EXAMPLES } from './document/examples.ts'
import {
  ABSENT,
  given,
  eitherOf,
  list,
  object,
  oneOf,
  whole,
  requiredText,
  text,
} from './json-schema.ts'
import { CHANNEL_NAME_FORM, SUBSCRIBER_ID_FORM, trimmed, trimmedOrBlank } from './patterns.ts'
import { KEYED, OPENING, routes } from './route.ts'

export const CHANNELS_MAX = 2_000
/**
 * Bytes of a body with CHANNELS_MAX items: 512 for each, enough for the longest password with every
 * character as a JSON escape.
 */
export const SYNC_BODY_BYTES_MAX = CHANNELS_MAX * 512
const NAME_RULE = '1 to 128 characters without control characters; not unique.'
const CHANNEL_NAME = requiredText(NAME_RULE, trimmed(CHANNEL_NAME_FORM))

export const CREDENTIALS_REQUEST = object(CREDENTIALS, ['channel_id', 'password'])

const SUBSCRIBE_REQUEST = eitherOf(
  object(
    {
      device_key: DEVICE_KEY,
      password: CREDENTIALS.password,
      channel_id: text('The Channel to subscribe to. Exactly one of channel_id and channel_name.'),
      channel_name: text(
        `Creates a Channel of this name and subscribes to it. ${NAME_RULE}`,
        trimmedOrBlank(CHANNEL_NAME_FORM),
      ),
    },
    ['device_key', 'password'],
  ),
  [
    {
      ...object({ channel_id: CREDENTIALS.channel_id, channel_name: ABSENT }, ['channel_id']),
      title: 'Existing Channel',
    },
    {
      ...object({ channel_id: ABSENT, channel_name: CHANNEL_NAME }, ['channel_name']),
      title: 'New Channel',
    },
  ],
)

/** One item of `channels`; a bad one fails alone. */
export const SYNC_ITEM = object(CREDENTIALS, ['channel_id', 'password'])

const LISTED_CHANNELS = {
  type: 'array',
  maxItems: CHANNELS_MAX,
  items: {
    description: 'An object with channel_id and password. An invalid item fails alone.',
    examples: [{ channel_id: EXAMPLES.channel_id, password: EXAMPLES.password }],
  },
  description: `The Channels to be subscribed to: up to ${CHANNELS_MAX}, each with password.`,
} as const

const ID = { channel_id: given('string', 'The Channel: 26 upper-case characters.') } as const
const NAME = { channel_name: given('string', 'The name of the Channel.') } as const
const SUBSCRIBER_ID = given('string', 'Names the device in this Channel; it opens nothing.')
const CHANNEL_DATA = whole({ ...ID, ...NAME })

const SYNC_DATA = whole({
  total: given('integer', 'The number of channels in the request.'),
  success: given('integer', 'The number of those to which the device is subscribed now.'),
  failed: given(
    'integer',
    'The number that failed; with 0, the device leaves channels that are not listed.',
  ),
  channels: list(
    object(
      {
        channel_id: given('string', 'As it was sent, or its canonical form.'),
        ...NAME,
        subscribed: given('boolean', 'True when the device is subscribed now.'),
        created: given('boolean', 'Always false: sync creates no Channel.'),
        error: given('string', 'The error, for a reader.'),
        error_code: given('string', 'The error, for a program.'),
      },
      ['channel_id', 'subscribed'],
    ),
    'One result for each listed channel, in the same order.',
  ),
})

export const CHANNEL_ROUTES = routes('Channels', {
  '/channel/create': {
    summary: 'Create a Channel',
    request: whole({ channel_name: CHANNEL_NAME, password: CREDENTIALS.password }),
    data: CHANNEL_DATA,
    codes: ['invalid_channel_name', 'password_required', 'invalid_password'],
  },
  '/channel/subscribe': {
    summary: 'Subscribe a device to a Channel, or to a new one',
    request: SUBSCRIBE_REQUEST,
    data: whole({
      ...ID,
      ...NAME,
      created: given('boolean', 'True when the request created the Channel.'),
      subscribed: given('boolean', 'Always true.'),
      subscriber_id: SUBSCRIBER_ID,
    }),
    codes: [
      ...KEYED,
      'device_key_not_found',
      'channel_binding_invalid',
      'invalid_channel_name',
      'channel_subscriber_limit_exceeded',
    ],
  },
  '/channel/unsubscribe': {
    summary: 'Unsubscribe a device from a Channel',
    request: whole({ device_key: DEVICE_KEY, channel_id: CREDENTIALS.channel_id }),
    data: whole({ ...ID, removed: given('boolean', 'True when there was a subscription.') }),
    codes: ['device_key_not_found', 'invalid_channel_id'],
  },
  '/channel/subscriber/list': {
    summary: 'List the devices that are subscribed to a Channel',
    request: CREDENTIALS_REQUEST,
    data: whole({
      ...ID,
      subscribers: list(
        whole({
          subscriber_id: SUBSCRIBER_ID,
          platform: oneOf(PLATFORMS, 'As the device registered.'),
          channel_type: oneOf(CHANNEL_TYPES, 'The route to the device.'),
          subscribed_at: given('integer', 'Unix milliseconds.'),
          last_seen_on: given('string', 'The UTC day of its last session or pull, as 2026-01-31.'),
        }),
        'The one that subscribed first comes first.',
      ),
    }),
    codes: OPENING,
  },
  '/channel/subscriber/remove': {
    summary: 'Unsubscribe another device from a Channel',
    request: whole({
      ...CREDENTIALS,
      subscriber_id: requiredText('The subscriber_id of the device.', trimmed(SUBSCRIBER_ID_FORM)),
    }),
    data: whole({ ...ID, removed: given('boolean', 'True when there was a subscription.') }),
    codes: OPENING,
  },
  '/channel/sync': {
    summary: 'Make the subscriptions of a device equal to a list',
    request: whole({ device_key: DEVICE_KEY, channels: LISTED_CHANNELS }),
    data: SYNC_DATA,
    codes: ['device_key_not_found', 'channels_limit_exceeded'],
  },
  '/channel/rename': {
    summary: 'Rename a Channel',
    request: whole({ ...CREDENTIALS, channel_name: CHANNEL_NAME }),
    data: CHANNEL_DATA,
    codes: OPENING,
  },
  '/channel/password': {
    summary: 'Change the password of a Channel',
    request: object(
      {
        ...CREDENTIALS,
        new_password: CREDENTIALS.password,
        keep_keys: {
          type: ['boolean', 'null'],
          description: 'True to keep the keys of the Channel; otherwise they are void.',
        },
      },
      ['channel_id', 'password', 'new_password'],
    ),
    data: object(ID, ['channel_id']),
    codes: OPENING,
  },
  '/channel/delete': {
    summary: 'Delete a Channel',
    request: CREDENTIALS_REQUEST,
    data: whole({ deleted: given('boolean', 'Always true.') }),
    codes: OPENING,
  },
  '/channel/info': {
    summary: 'Get the name and the counts of a Channel',
    request: CREDENTIALS_REQUEST,
    data: whole({
      ...ID,
      ...NAME,
      subscribers: given('integer', 'Devices that are subscribed.'),
      created_at: given('integer', 'Unix milliseconds.'),
      head_seq: given('integer', 'The last seq of the feed; 0 before the first entry.'),
      things: given('integer', 'Things that are active or archived.'),
      open_events: given('integer', 'Events that are open.'),
      retention: {
        ...whole({
          messages_and_events_ms: given('integer', 'Messages, and Events with their updates.'),
          thing_updates_ms: given('integer', 'Updates of Things; their last state stays.'),
          unused_ms: given('integer', 'The Channel itself, while nobody uses it.'),
        }),
        description: 'For how long the gateway keeps what the Channel holds, in milliseconds.',
      },
    }),
    codes: KEYED,
  },
  'GET /channel/exists': {
    summary: 'Check whether a Channel exists',
    query: whole({ channel_id: CREDENTIALS.channel_id }),
    data: whole({ ...ID, exists: given('boolean', 'Whether there is such a Channel.') }),
    codes: ['channel_id_required', 'invalid_channel_id'],
  },
})
