// Code that the imitated tools share: their key opens a channel, their token may stand in places of
// their own, and all of them send a Message.

import { fault, isFault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { Acceptance } from '#src/acceptance/acceptance'
import type { Caller } from '#src/acceptance/caller'
import type { Accepted, Intent } from '#src/acceptance/intent'
import type { CompatibilityMessage } from './extras.ts'
import { readKey } from './key.ts'
import type { FaultCode } from '#domain/fault'
import type { Head } from '#src/http/router'
import { JSON_TYPE } from '#src/http/reply'
import type { Header } from '#src/http/reply'
import type { Imitated } from '#src/ingress/answerer'

/**
 * Headers that keep an address with a key from other sites, and answers out of browsers' caches.
 */
export const GUARDS: readonly Header[] = [['referrer-policy', 'no-referrer']]

/**
 * The codes with which sending through an imitated tool can be refused, beside the shared checks.
 */
export const COMPATIBILITY_CODES: readonly FaultCode[] = [
  'channel_not_found',
  'key_expired',
  'key_scope',
  'validation_failed',
  'submission_not_accepted',
]

/** An answer of the tools that answer in JSON. */
export const json = (data: object): Imitated => ({
  contentType: JSON_TYPE,
  headers: GUARDS,
  body: JSON.stringify(data),
})

const SEND: Intent = { model: 'message', action: 'send' }
const NOT_FOUND = fault('channel_not_found')

/** The credentials of a key, as fields of a native request, which checks them. */
export interface KeyFields {
  readonly channel_id?: string
  readonly password: string
}

/** The credentials in a key; channel_not_found for a text that can open no channel. */
export function fieldsOf(key: string): Answer<KeyFields> {
  const read = readKey(key)
  if (read.kind === 'unreadable') return NOT_FOUND
  if (read.kind === 'alias') return { password: read.alias }
  return { channel_id: read.channelId, password: read.password }
}

/** Sends a Message to the channel of a key. */
export async function send(
  acceptance: Acceptance,
  key: string,
  { message, caller }: { readonly message: CompatibilityMessage; readonly caller: Caller },
): Promise<Answer<Accepted>> {
  const credentials = fieldsOf(key)
  if (isFault(credentials)) return credentials
  return acceptance.submissions.submit(SEND, { ...message, ...credentials }, caller)
}

/**
 * Reads the gateway token from places where clients of these tools can put it: the password of
 * Basic, or `?auth=` with the base64 of a whole Authorization header. Every route reads Bearer.
 */
export function tokenFrom(head: Head): string {
  const fromHeader = secretIn(head.header('authorization'))
  if (fromHeader !== '') return fromHeader
  const query = head.query()
  if (!query.includes('auth')) return ''
  const parameters = new URLSearchParams(query)
  const encoded = parameters.get('auth') ?? parameters.get('authorization') ?? ''
  return secretIn(Buffer.from(encoded, 'base64url').toString())
}

function secretIn(authorization: string): string {
  const [, scheme = '', value = ''] = /^(\w+) +(\S+)$/.exec(authorization.trim()) ?? []
  if (scheme.toLowerCase() === 'bearer') return value
  if (scheme.toLowerCase() !== 'basic') return ''
  const pair = Buffer.from(value, 'base64').toString()
  return pair.slice(pair.indexOf(':') + 1)
}

/** The path of a row, with and without a slash at its end. */
export function spellings(path: string): { readonly path: string; readonly alsoAt: string[] } {
  if (path === '') return { path: '/', alsoAt: [] }
  return { path, alsoAt: [`${path}/`] }
}
