// The key of a request of an imitated tool: `<channel_id>:<password>`, or a channel key alone.

import { isFault } from '#domain/fault'
import { isKeyForm, parseChannelId } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import { readCredentials } from '#src/schemas/values'

/** The meaning of a key. `unreadable`: it can open no channel. */
export type CompatibilityKey =
  | { readonly kind: 'password'; readonly channelId: ChannelId; readonly password: string }
  | { readonly kind: 'alias'; readonly alias: string }
  | { readonly kind: 'unreadable' }

/** Splits at the first colon: a password may hold others. (decisions.md 12) */
export function readKey(key: string): CompatibilityKey {
  const colon = key.indexOf(':')
  if (colon === -1) {
    const alias = key.trim()
    return isKeyForm(alias) ? { kind: 'alias', alias } : { kind: 'unreadable' }
  }
  const credentials = readCredentials({
    channel_id: key.slice(0, colon),
    password: key.slice(colon + 1),
  })
  return isFault(credentials) ? { kind: 'unreadable' } : { kind: 'password', ...credentials }
}

/**
 * The keys of a list with commas. A password may hold commas too: a part that begins no key belongs
 * to the key before it.
 */
export function keysIn(list: string): readonly string[] {
  const keys: string[] = []
  for (const part of list.split(',')) {
    const last = keys.at(-1)
    if (last === undefined || beginsKey(part)) keys.push(part)
    else keys[keys.length - 1] = `${last},${part}`
  }
  return keys
}

const beginsKey = (part: string): boolean => {
  const [id = '', password] = part.split(':', 2)
  return password === undefined ? isKeyForm(id) : parseChannelId(id) !== undefined
}

/** The key as answers name it: without the secret part. */
export function maskedKey(key: string): string {
  const read = readKey(key)
  return read.kind === 'password' ? `${read.channelId}:***` : '***'
}
