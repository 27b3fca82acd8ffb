// Requests about channel keys, each of which stands for a channel and its password, and their
// answers.

import type { ChannelKey } from '#domain/channel-keys'
import { fault, isFault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { Wire } from './answers.ts'
import { CREDENTIALS } from './credentials.ts'
import { given, object, requiredText, text } from './json-schema.ts'
import { KEY_ID_FORM, atMost, trimmed } from './patterns.ts'
import { shape } from './shape.ts'
import { invalid, isSafeText, readCredentials } from './values.ts'
import type { Credentials } from './values.ts'

const LABEL_CHARACTERS_MAX = 128

export const KEY_REQUEST = object(
  {
    ...CREDENTIALS,
    label: text('The purpose of the key, up to 128 characters.', atMost(LABEL_CHARACTERS_MAX)),
  },
  ['channel_id', 'password'],
)

export const KEY_REVOKE_REQUEST = object(
  { ...CREDENTIALS, key_id: requiredText('The key_id of the key.', trimmed(KEY_ID_FORM)) },
  ['channel_id', 'password', 'key_id'],
)

const LISTED = {
  key_id: given('string', 'Names the key; it opens nothing.'),
  label: given('string', 'As it was given; empty when none was.'),
  created_at: given('integer', 'Unix milliseconds.'),
} as const
const CHANNEL_ID = given('string', 'The Channel: 26 upper-case characters.')

export const KEY_DATA = object(
  {
    channel_id: CHANNEL_ID,
    key: given('string', 'The key, 43 characters: a secret that is shown once.'),
    ...LISTED,
  },
  ['channel_id', 'key', 'key_id', 'label', 'created_at'],
)

export const KEY_LIST_DATA = object(
  {
    channel_id: CHANNEL_ID,
    keys: { type: 'array', items: object(LISTED, ['key_id', 'label', 'created_at']) },
  },
  ['channel_id', 'keys'],
)

export const KEY_REVOKE_DATA = object(
  { channel_id: CHANNEL_ID, revoked: given('boolean', 'Always true.') },
  ['channel_id', 'revoked'],
)

const keyShape = shape(KEY_REQUEST)
const revokeShape = shape(KEY_REVOKE_REQUEST)

export type KeyWish = Credentials & { readonly label: string }
export type KeyRevocation = Credentials & { readonly keyId: string }

/** POST /channel/key */
export function readKeyWish(sent: unknown): Answer<KeyWish> {
  const body = keyShape(sent)
  if (isFault(body)) return body
  const credentials = readCredentials(body)
  if (isFault(credentials)) return credentials
  const label = body.label?.trim() ?? ''
  if (Array.from(label).length > LABEL_CHARACTERS_MAX || !isSafeText(label)) {
    return invalid('label', `must be at most ${LABEL_CHARACTERS_MAX} characters`)
  }
  return { ...credentials, label }
}

/** POST /channel/key/revoke */
export function readKeyRevocation(sent: unknown): Answer<KeyRevocation> {
  const body = revokeShape(sent)
  if (isFault(body)) return body
  const credentials = readCredentials(body)
  if (isFault(credentials)) return credentials
  const keyId = body.key_id.trim()
  if (!/^[0-9a-f]{32}$/.test(keyId)) return fault('channel_key_not_found', { field: 'key_id' })
  return { ...credentials, keyId }
}

/** A key that was just made. `key` is a secret. */
export interface MadeKey extends ChannelKey {
  readonly channelId: ChannelId
  readonly key: string
}

export interface ListedKeys {
  readonly channelId: ChannelId
  readonly keys: readonly ChannelKey[]
}

const keyToWire = ({ keyId, label, createdAt }: ChannelKey): Wire => ({
  key_id: keyId,
  label,
  created_at: createdAt,
})

export const madeKeyToWire = ({ channelId, key, ...listed }: MadeKey): Wire => ({
  channel_id: channelId,
  key,
  ...keyToWire(listed),
})

export const listedKeysToWire = ({ channelId, keys }: ListedKeys): Wire => ({
  channel_id: channelId,
  keys: keys.map(keyToWire),
})
