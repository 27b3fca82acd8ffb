// The routes of channel keys, each of which stands for a channel and its password.

import { CREDENTIALS_REQUEST } from './channel-schemas.ts'
import { CREDENTIALS } from './credentials.ts'
import { given, object, whole, requiredText, text } from './json-schema.ts'
import { KEY_ID_FORM, atMost, trimmed } from './patterns.ts'
import { OPENING, routes } from './route.ts'

export const LABEL_CHARACTERS_MAX = 128

const LISTED = {
  key_id: given('string', 'Names the key; it opens nothing.'),
  label: given('string', 'As it was given; empty when none was.'),
  created_at: given('integer', 'Unix milliseconds.'),
} as const
const ALWAYS = ['key_id', 'label', 'created_at'] as const
const CHANNEL_ID = given('string', 'The Channel: 26 upper-case characters.')

export const CHANNEL_KEY_ROUTES = routes('Channels', {
  '/channel/key': {
    summary: 'Make a key that stands for channel_id and password on compatibility routes',
    request: object(
      {
        ...CREDENTIALS,
        label: text('The purpose of the key, up to 128 characters.', atMost(LABEL_CHARACTERS_MAX)),
      },
      ['channel_id', 'password'],
    ),
    data: object(
      {
        channel_id: CHANNEL_ID,
        key: given('string', 'The key, 43 characters: a secret that is shown once.'),
        ...LISTED,
      },
      ['channel_id', 'key', ...ALWAYS],
    ),
    codes: [...OPENING, 'channel_keys_limit_exceeded'],
  },
  '/channel/key/list': {
    summary: 'List the keys of a Channel',
    request: CREDENTIALS_REQUEST,
    data: whole({ channel_id: CHANNEL_ID, keys: { type: 'array', items: object(LISTED, ALWAYS) } }),
    codes: OPENING,
  },
  '/channel/key/revoke': {
    summary: 'Revoke a key',
    request: whole({
      ...CREDENTIALS,
      key_id: requiredText('The key_id of the key.', trimmed(KEY_ID_FORM)),
    }),
    data: whole({ channel_id: CHANNEL_ID, revoked: given('boolean', 'Always true.') }),
    codes: [...OPENING, 'channel_key_not_found'],
  },
})
