// The JSON schemas of requests about Channels and of their answers. (decisions.md 7)

import { DEVICE_KEY } from './device-schemas.ts'
import { EXAMPLES } from './examples.ts'
import { ABSENT, given, inOneCase, object, requiredText, text } from './json-schema.ts'
import type { JsonSchema } from './json-schema.ts'
import { CHANNEL_NAME_FORM, trimmed, trimmedOrBlank } from './patterns.ts'
import { CREDENTIALS } from './submission-schemas.ts'

export const CHANNELS_MAX = 2_000
/**
 * Bytes of a body with CHANNELS_MAX items: 512 for each, enough for the longest password with every
 * character as a JSON escape.
 */
export const SYNC_BODY_BYTES_MAX = CHANNELS_MAX * 512
const NAME_RULE = '1 to 128 characters without control characters; not unique.'
const CHANNEL_NAME = requiredText(NAME_RULE, trimmed(CHANNEL_NAME_FORM))

export const CREATE_REQUEST = object(
  { channel_name: CHANNEL_NAME, password: CREDENTIALS.password },
  ['channel_name', 'password'],
)

export const SUBSCRIBE_REQUEST = inOneCase(
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

export const UNSUBSCRIBE_REQUEST = object(
  { device_key: DEVICE_KEY, channel_id: CREDENTIALS.channel_id },
  ['device_key', 'channel_id'],
)

/** One item of `channels`; a bad one fails alone. */
export const SYNC_ITEM = object(CREDENTIALS, ['channel_id', 'password'])

const LISTED_CHANNELS: JsonSchema = {
  type: 'array',
  maxItems: CHANNELS_MAX,
  items: {
    description: 'An object with channel_id and password. An invalid item fails alone.',
    examples: [{ channel_id: EXAMPLES.channel_id, password: EXAMPLES.password }],
  },
  description: `The Channels to be subscribed to: up to ${CHANNELS_MAX}, each with password.`,
}

export const SYNC_REQUEST = object({ device_key: DEVICE_KEY, channels: LISTED_CHANNELS }, [
  'device_key',
  'channels',
])

export const RENAME_REQUEST = object({ ...CREDENTIALS, channel_name: CHANNEL_NAME }, [
  'channel_id',
  'password',
  'channel_name',
])

export const PASSWORD_REQUEST = object({ ...CREDENTIALS, new_password: CREDENTIALS.password }, [
  'channel_id',
  'password',
  'new_password',
])

export const CREDENTIALS_REQUEST = object(CREDENTIALS, ['channel_id', 'password'])

export const EXISTS_QUERY = object({ channel_id: CREDENTIALS.channel_id }, ['channel_id'])

const GIVEN_ID = given('string', 'The Channel: 26 upper-case characters.')
const GIVEN_NAME = given('string', 'The name of the Channel.')

/** The data that /channel/create and /channel/rename answer with. */
export const CHANNEL_DATA = object({ channel_id: GIVEN_ID, channel_name: GIVEN_NAME }, [
  'channel_id',
  'channel_name',
])

export const SUBSCRIBE_DATA = object(
  {
    channel_id: GIVEN_ID,
    channel_name: GIVEN_NAME,
    created: given('boolean', 'True when the request created the Channel.'),
    subscribed: given('boolean', 'Always true.'),
  },
  ['channel_id', 'channel_name', 'created', 'subscribed'],
)

export const UNSUBSCRIBE_DATA = object(
  { channel_id: GIVEN_ID, removed: given('boolean', 'True when there was a subscription.') },
  ['channel_id', 'removed'],
)

export const SYNC_DATA = object(
  {
    total: given('integer', 'The number of channels in the request.'),
    success: given('integer', 'The number of those to which the device is subscribed now.'),
    failed: given(
      'integer',
      'The number that failed; with 0, the device leaves channels that are not listed.',
    ),
    channels: {
      type: 'array',
      description: 'One result for each listed channel, in the same order.',
      items: object(
        {
          channel_id: given('string', 'As it was sent, or its canonical form.'),
          channel_name: GIVEN_NAME,
          subscribed: given('boolean', 'True when the device is subscribed now.'),
          created: given('boolean', 'Always false: sync creates no Channel.'),
          error: given('string', 'The error, for a reader.'),
          error_code: given('string', 'The error, for a program.'),
        },
        ['channel_id', 'subscribed'],
      ),
    },
  },
  ['total', 'success', 'failed', 'channels'],
)

export const PASSWORD_DATA = object({ channel_id: GIVEN_ID }, ['channel_id'])

export const DELETE_DATA = object({ deleted: given('boolean', 'Always true.') }, ['deleted'])

export const INFO_DATA = object(
  {
    channel_id: GIVEN_ID,
    channel_name: GIVEN_NAME,
    subscribers: given('integer', 'Devices that are subscribed.'),
    created_at: given('integer', 'Unix milliseconds.'),
    head_seq: given('integer', 'The last seq of the feed; 0 before the first entry.'),
    things: given('integer', 'Things that are active or archived.'),
    open_events: given('integer', 'Events that are open.'),
  },
  ['channel_id', 'channel_name', 'subscribers', 'created_at', 'head_seq', 'things', 'open_events'],
)

export const EXISTS_DATA = object(
  { channel_id: GIVEN_ID, exists: given('boolean', 'Whether there is such a Channel.') },
  ['channel_id', 'exists'],
)
