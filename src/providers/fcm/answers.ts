// Maps Firebase's answers to outcomes. The codes are those of Firebase's documentation, "FCM error
// codes", in the spelling of firebase-admin.

import type { Outcome } from '#domain/push'
import { outcomeFor } from '#src/providers/meaning'
import type { Meaning } from '#src/providers/meaning'
import { afterMsFrom } from '#src/providers/retry-after'
import { UNREACHABLE } from './access-tokens.ts'

/** The error of firebase-admin for a refused message. */
export interface FcmError {
  readonly code: string
  readonly message?: string
  readonly httpResponse?: {
    readonly status: number
    readonly headers: Readonly<Record<string, unknown>>
    readonly data?: unknown
  }
}

const MEANINGS: Readonly<Record<string, Meaning>> = {
  'messaging/registration-token-not-registered': 'gone',
  'messaging/installation-id-not-registered': 'gone',
  'messaging/invalid-registration-token': 'gone',
  'messaging/invalid-argument': 'refused',
  'messaging/invalid-payload': 'refused',
  'messaging/payload-size-limit-exceeded': 'refused',
  'messaging/device-message-rate-exceeded': 'busy',
  'messaging/message-rate-exceeded': 'unavailable',
  'messaging/server-unavailable': 'unavailable',
  'messaging/internal-error': 'unavailable',
  'messaging/unknown-error': 'unavailable',
  'messaging/third-party-auth-error': 'credentials',
  'messaging/authentication-error': 'credentials',
  'messaging/mismatched-credential': 'credentials',
  'app/invalid-credential': 'credentials',
  'app/network-error': 'unavailable',
  'app/network-timeout': 'unavailable',
}

/** The delay that Firebase's documentation asks for after an exceeded quota without Retry-After. */
const QUOTA_AFTER_MS = 60_000
/** Matches Firebase's message for a malformed token, whose code is that of any invalid argument. */
const BAD_TOKEN = /registration token/i

export function outcomeOf(error: FcmError, nowMs: number): Outcome {
  const reason = reasonOf(error)
  const asked = afterMsFrom(error.httpResponse?.headers['retry-after'], nowMs)
  const isQuota = error.code === 'messaging/message-rate-exceeded'
  const afterMs = asked ?? (isQuota ? QUOTA_AFTER_MS : undefined)
  return outcomeFor(meaningOf(error), reason, afterMs)
}

function meaningOf(error: FcmError): Meaning {
  const { code, message = '' } = error
  // The token belongs to another project; the credentials are valid.
  if (detailOf(error) === 'SENDER_ID_MISMATCH') return 'gone'
  if (code === 'messaging/invalid-argument' && BAD_TOKEN.test(message)) return 'gone'
  if (isUnreachable(error)) return 'unavailable'
  return MEANINGS[code] ?? 'unavailable'
}

/** Returns the code without its prefix, never the message, which may quote the token. */
const reasonOf = (error: FcmError): string =>
  isUnreachable(error) ? UNREACHABLE : error.code.replace(/^[a-z]+\//, '')

/** The library has one code for a refused key and for no answer about it. */
const isUnreachable = ({ code, message = '' }: FcmError): boolean =>
  code === 'app/invalid-credential' && message.includes(UNREACHABLE)

/** Returns Firebase's own code, which the library merges with others. */
function detailOf({ httpResponse }: FcmError): unknown {
  const data = httpResponse?.data as
    | { readonly error?: { readonly details?: readonly { readonly errorCode?: unknown }[] } }
    | undefined
  const details = data?.error?.details
  return Array.isArray(details)
    ? details.map(({ errorCode }) => errorCode as unknown).find(Boolean)
    : undefined
}
