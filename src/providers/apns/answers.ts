// Maps Apple's answers to outcomes. The reasons are those of Apple's documentation, "Handling
// notification responses from APNs".

import { ApnsError } from 'apns2'

import type { Outcome } from '#domain/push'
import { outcomeFor } from '#src/providers/meaning'
import type { Meaning } from '#src/providers/meaning'
import { afterMsFrom } from '#src/providers/retry-after'

/** The meanings of known reasons. For any other reason the status decides. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  BadDeviceToken: 'gone',
  DeviceTokenNotForTopic: 'gone',
  ExpiredToken: 'gone',
  Unregistered: 'gone',
  TooManyRequests: 'busy',
  TooManyProviderTokenUpdates: 'unavailable',
  IdleTimeout: 'unavailable',
  InternalServerError: 'unavailable',
  ServiceUnavailable: 'unavailable',
  Shutdown: 'unavailable',
  BadCertificate: 'credentials',
  BadCertificateEnvironment: 'credentials',
  BadEnvironmentKeyIdInToken: 'credentials',
  BadTopic: 'credentials',
  ExpiredProviderToken: 'credentials',
  Forbidden: 'credentials',
  InvalidProviderToken: 'credentials',
  InvalidSigningKey: 'credentials',
  MissingProviderToken: 'credentials',
  MissingTopic: 'credentials',
  TopicDisallowed: 'credentials',
  UnrelatedKeyIdInToken: 'credentials',
}

/** Returns the outcome of an error of apns2. */
export function outcomeOf(error: unknown, nowMs: number): Outcome {
  if (!(error instanceof ApnsError)) {
    return { kind: 'deferred', trouble: 'provider', reason: connectionReason(error) }
  }
  const { statusCode, reason } = error
  const asked = afterMsFrom(Reflect.get(error.response, 'retryAfter'), nowMs)
  return outcomeFor(MEANINGS[reason] ?? meaningOf(statusCode), reason, asked)
}

function meaningOf(status: number): Meaning {
  if (status === 410) return 'gone'
  if (status === 429) return 'busy'
  if (status === 403) return 'credentials'
  return status >= 500 ? 'unavailable' : 'refused'
}

/**
 * Returns the code of the system or the HTTP library, never the message, which may have an address.
 */
function connectionReason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,40}$/.test(code) ? code : 'ConnectionFailed'
}
