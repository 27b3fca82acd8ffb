// Requests about channel keys, which stand in the place of a channel's password, and their answers.

import { KEY_SCOPES } from '#domain/channel-keys'
import type { ChannelKey, KeyScope, ListedKey } from '#domain/channel-keys'
import { fault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { Page } from '#domain/store-ports'
import { dayText } from './answers.ts'
import type { Wire } from './answers.ts'
import { CHANNEL_KEY_ROUTES, LABEL_CHARACTERS_MAX } from './channel-key-schemas.ts'
import { PREFIX_FORM, exactly } from './patterns.ts'
import { LISTING_READ, encodeCursor } from './reading-requests.ts'
import { CREDENTIALS_READ, request } from './shape.ts'
import { invalid, isSafeText, readParsed, readTime } from './values.ts'

const DAY_MS = 86_400_000
const KEY_ID = /^[0-9a-f]{32}$/

/** POST /channel/key */
export const readKeyWish = request(CHANNEL_KEY_ROUTES['/channel/key'].request, {
  ...CREDENTIALS_READ,
  label: ({ label: sent }) => {
    const label = sent?.trim() ?? ''
    if (Array.from(label).length <= LABEL_CHARACTERS_MAX && isSafeText(label)) return label
    return invalid('label', `must be at most ${LABEL_CHARACTERS_MAX} characters`)
  },
  scopes: (body) => readScopes(body.scopes),
  thingPrefix: (body) => readParsed('thing_prefix', body.thing_prefix, PREFIX) ?? '',
  expiresAt: (body) => readTime('expires_at', body.expires_at) ?? 0,
})

const PREFIX_TEXT = new RegExp(exactly(PREFIX_FORM))
const PREFIX = {
  parse: (prefix: string) => (PREFIX_TEXT.test(prefix) ? prefix : undefined),
  rule: 'must be 1 to 128 letters, digits, _, : or -',
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

/** POST /channel/key/list */
export const readKeyListing = request(CHANNEL_KEY_ROUTES['/channel/key/list'].request, LISTING_READ)

/** POST /channel/key/revoke */
export const readKeyRevocation = request(CHANNEL_KEY_ROUTES['/channel/key/revoke'].request, {
  ...CREDENTIALS_READ,
  keyId: ({ key_id: sent }) => {
    const keyId = sent.trim()
    return KEY_ID.test(keyId) ? keyId : fault('channel_key_not_found', { field: 'key_id' })
  },
})

/** A key that was just made. `key` is a secret. */
export interface MadeKey extends ChannelKey {
  readonly channelId: ChannelId
  readonly key: string
}

export interface ListedKeys extends Page<ListedKey> {
  readonly channelId: ChannelId
}

const keyToWire = ({ keyId, label, createdAt, scopes, thingPrefix, expiresAt }: ChannelKey) => ({
  key_id: keyId,
  label,
  scopes,
  ...(thingPrefix !== '' && { thing_prefix: thingPrefix }),
  ...(expiresAt > 0 && { expires_at: expiresAt }),
  created_at: createdAt,
})

export const madeKeyToWire = ({ channelId, key, ...made }: MadeKey): Wire => ({
  channel_id: channelId,
  key,
  ...keyToWire(made),
})

export const listedKeysToWire = ({ channelId, items, next }: ListedKeys): Wire => ({
  channel_id: channelId,
  keys: items.map(({ lastUsedOn, ...key }) => ({
    ...keyToWire(key),
    ...(lastUsedOn > 0 && { last_used_on: dayText(lastUsedOn * DAY_MS) }),
  })),
  ...(next !== undefined && { next_cursor: encodeCursor(next) }),
})
