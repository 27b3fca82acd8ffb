// Requests about channel keys, each of which stands for a channel and its password, and their
// answers.

import type { ChannelKey } from '#domain/channel-keys'
import { fault, isFault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { Wire } from './answers.ts'
import { CHANNEL_KEY_ROUTES, LABEL_CHARACTERS_MAX } from './channel-key-schemas.ts'
import { shape } from './shape.ts'
import { invalid, isSafeText, readCredentials } from './values.ts'
import type { Credentials } from './values.ts'

const keyShape = shape(CHANNEL_KEY_ROUTES['/channel/key'].request)
const revokeShape = shape(CHANNEL_KEY_ROUTES['/channel/key/revoke'].request)

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
