// The routes of channel keys, which stand in the place of a channel's password.

import { KEY_SCOPES } from '#domain/channel-keys'
import type { ChannelKey, KeyScope, ListedKey } from '#domain/channel-keys'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import { UNIT_MS } from '#domain/runtime'
import type { Page } from '#domain/store-ports'

import { ID, always } from './channel-routes.ts'
import { CREDENTIALS } from './credentials.ts'
import { given, list, object, oneOf, requiredText, text, time, whole } from './json-schema.ts'
import { computed, read } from './members.ts'
import { PAGE, nextCursor } from './paging.ts'
import { KEY_ID_FORM, PREFIX_FORM, atMost, exactly, trimmed, trimmedOrBlank } from './patterns.ts'
import { OPENING, post, routes } from './route.ts'
import { isSafeText, UNSAFE_RULE } from '#domain/record'
import { dayText, invalid, readHexId, readParsed, readTime } from './values.ts'
import type { SentText } from './values.ts'

const LABEL_CHARACTERS_MAX = 128

const PREFIX_TEXT = new RegExp(exactly(PREFIX_FORM))
/** The form of the beginning of a thing_id. */
export const PREFIX = {
  parse: (prefix: string) => (PREFIX_TEXT.test(prefix) ? prefix : undefined),
  rule: 'must be 1 to 128 letters, digits, _, : or -',
}

function readLabel(sent: SentText): Answer<string> {
  const label = sent?.trim() ?? ''
  if (!isSafeText(label)) return invalid('label', UNSAFE_RULE)
  if (Array.from(label).length <= LABEL_CHARACTERS_MAX) return label
  return invalid('label', `must be at most ${LABEL_CHARACTERS_MAX} characters`)
}

/** In the order of KEY_SCOPES, each once. */
function readScopes(sent: readonly string[] | null | undefined): Answer<readonly KeyScope[]> {
  if (sent === undefined || sent === null) return KEY_SCOPES
  const isKnown = sent.every((name) => KEY_SCOPES.some((scope) => scope === name))
  if (!isKnown || sent.length === 0) {
    return invalid('scopes', `must hold one or more of ${KEY_SCOPES.join(', ')}`)
  }
  return KEY_SCOPES.filter((scope) => sent.includes(scope))
}

/** A key that was just made. `key` is a secret. */
export interface MadeKey extends ChannelKey {
  readonly channelId: ChannelId
  readonly key: string
}

export interface ListedKeys extends Page<ListedKey> {
  readonly channelId: ChannelId
}

const MADE = {
  key_id: given('string', 'Names the key; it opens nothing.'),
  label: given('string', 'As it was given; empty when none was.'),
  scopes: list(oneOf(KEY_SCOPES, 'What the key allows.'), 'What the key allows.'),
  thing_prefix: computed(
    given('string', 'As it was given; left out when none was.'),
    ({ thingPrefix }: ChannelKey) => thingPrefix || undefined,
  ),
  expires_at: computed(
    given('integer', 'Unix milliseconds; left out for a key that never expires.'),
    ({ expiresAt }: ChannelKey) => (expiresAt > 0 ? expiresAt : undefined),
  ),
  created_at: given('integer', 'Unix milliseconds.'),
} as const
const ALWAYS = ['key_id', 'label', 'scopes', 'created_at'] as const

const LISTED = {
  ...MADE,
  last_used_on: computed(
    given('string', 'The UTC day of its last use, as 2026-01-31; left out before the first one.'),
    ({ lastUsedOn }: ListedKey) => (lastUsedOn > 0 ? dayText(lastUsedOn * UNIT_MS.d) : undefined),
  ),
} as const

export const KEY = routes('Channels', 'Key', {
  create: post('/channel/key', 'Make a key that stands in the place of the password', {
    request: object(
      {
        ...CREDENTIALS,
        label: read(
          text('The purpose of the key, up to 128 characters.', atMost(LABEL_CHARACTERS_MAX)),
          readLabel,
        ),
        scopes: read(
          {
            type: ['array', 'null'],
            minItems: 1,
            items: { type: 'string', pattern: exactly(KEY_SCOPES.join('|')) },
            description: 'What the key allows: send, read, or both, which it does without this.',
          },
          readScopes,
        ),
        thing_prefix: read(
          text(
            'Limits the key to Things whose thing_id begins with it, and to their Events: 1 to ' +
              '128 letters, digits, _, : or -.',
            trimmedOrBlank(PREFIX_FORM),
          ),
          (sent, field) => readParsed(field, sent, PREFIX) ?? '',
        ),
        expires_at: read(
          time('The time from which the key is refused; never without it.'),
          (sent, field) => {
            const at = readTime(field, sent)
            // A key without an end has 0.
            return typeof at === 'number' ? Math.max(1, at) : (at ?? 0)
          },
        ),
      },
      ['channel_id', 'password'],
    ),
    data: object(
      {
        ...ID,
        key: given('string', 'The key, 43 letters and digits: a secret that is shown once.'),
        ...MADE,
      },
      ['channel_id', 'key', ...ALWAYS],
    ),
    codes: [...OPENING, 'channel_keys_limit_exceeded'],
  }),
  list: post('/channel/key/list', 'List the keys of a Channel', {
    operation: 'listKeys',
    request: object({ ...CREDENTIALS, ...PAGE }, ['channel_id', 'password']),
    data: object(
      {
        ...ID,
        keys: computed(
          { type: 'array', items: object(LISTED, ALWAYS) },
          ({ items }: ListedKeys) => items,
        ),
        next_cursor: nextCursor('Where the next page begins; left out on the last one.'),
      },
      ['channel_id', 'keys'],
    ),
    codes: [...OPENING, 'invalid_cursor'],
  }),
  revoke: post('/channel/key/revoke', 'Revoke a key', {
    request: whole({
      ...CREDENTIALS,
      key_id: read(requiredText('The key_id of the key.', trimmed(KEY_ID_FORM)), readHexId),
    }),
    data: whole({
      channel_id: computed(ID.channel_id, (channelId: ChannelId) => channelId),
      revoked: always('Always true.'),
    }),
    codes: [...OPENING, 'channel_key_not_found'],
  }),
})
