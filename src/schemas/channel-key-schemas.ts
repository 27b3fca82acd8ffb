// The routes of channel keys, which stand in the place of a channel's password.

import { KEY_SCOPES } from '#domain/channel-keys'
import { CREDENTIALS } from './credentials.ts'
import { given, list, object, oneOf, requiredText, text, time } from './json-schema.ts'
import { KEY_ID_FORM, PREFIX_FORM, atMost, exactly, trimmed, trimmedOrBlank } from './patterns.ts'
import { PAGE } from './reading-schemas.ts'
import { OPENING, routes } from './route.ts'

export const LABEL_CHARACTERS_MAX = 128

const MADE = {
  key_id: given('string', 'Names the key; it opens nothing.'),
  label: given('string', 'As it was given; empty when none was.'),
  scopes: list(oneOf(KEY_SCOPES, 'What the key allows.'), 'What the key allows.'),
  thing_prefix: given('string', 'As it was given; left out when none was.'),
  expires_at: given('integer', 'Unix milliseconds; left out for a key that never expires.'),
  created_at: given('integer', 'Unix milliseconds.'),
} as const
const ALWAYS = ['key_id', 'label', 'scopes', 'created_at'] as const
const CHANNEL_ID = given('string', 'The Channel: 26 upper-case characters.')

const LISTED = {
  ...MADE,
  last_used_on: given(
    'string',
    'The UTC day of its last use, as 2026-01-31; left out before the first one.',
  ),
} as const

export const CHANNEL_KEY_ROUTES = routes('Channels', {
  '/channel/key': {
    summary: 'Make a key that stands in the place of the password',
    request: object(
      {
        ...CREDENTIALS,
        label: text('The purpose of the key, up to 128 characters.', atMost(LABEL_CHARACTERS_MAX)),
        scopes: {
          type: ['array', 'null'],
          minItems: 1,
          items: { type: 'string', pattern: exactly(KEY_SCOPES.join('|')) },
          description: 'What the key allows: send, read, or both, which it does without this.',
        },
        thing_prefix: text(
          'Limits the key to Things whose thing_id begins with it, and to their Events: 1 to 128 ' +
            'letters, digits, _, : or -.',
          trimmedOrBlank(PREFIX_FORM),
        ),
        expires_at: time('The time from which the key is refused; never without it.'),
      },
      ['channel_id', 'password'],
    ),
    data: object(
      {
        channel_id: CHANNEL_ID,
        key: given('string', 'The key, 43 letters and digits: a secret that is shown once.'),
        ...MADE,
      },
      ['channel_id', 'key', ...ALWAYS],
    ),
    codes: [...OPENING, 'channel_keys_limit_exceeded'],
  },
  '/channel/key/list': {
    summary: 'List the keys of a Channel',
    request: object({ ...CREDENTIALS, ...PAGE }, ['channel_id', 'password']),
    data: object(
      {
        channel_id: CHANNEL_ID,
        keys: { type: 'array', items: object(LISTED, ALWAYS) },
        next_cursor: given('string', 'Where the next page begins; left out on the last one.'),
      },
      ['channel_id', 'keys'],
    ),
    codes: [...OPENING, 'invalid_cursor'],
  },
  '/channel/key/revoke': {
    summary: 'Revoke a key',
    request: object(
      { ...CREDENTIALS, key_id: requiredText('The key_id of the key.', trimmed(KEY_ID_FORM)) },
      ['channel_id', 'password', 'key_id'],
    ),
    data: object({ channel_id: CHANNEL_ID, revoked: given('boolean', 'Always true.') }, [
      'channel_id',
      'revoked',
    ]),
    codes: [...OPENING, 'channel_key_not_found'],
  },
})
