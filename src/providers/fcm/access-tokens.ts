// Makes access tokens of a service account for firebase-admin. The library's own implementation
// prints warnings to the process's output, and gives the same error code for a wrong key and for a
// broken connection.

import { JWT } from 'google-auth-library'

export interface ServiceAccount {
  readonly projectId: string
  readonly clientEmail: string
  /** The key as PEM. A secret. */
  readonly privateKey: string
}

/** The credential type that firebase-admin accepts. */
export interface AccessTokens {
  getAccessToken(): Promise<{ readonly access_token: string; readonly expires_in: number }>
}

/** The message of an error when the token endpoint did not answer: the key may be valid. */
export const UNREACHABLE = 'token-endpoint-unreachable'

const SCOPES = ['https://www.googleapis.com/auth/firebase.messaging']
/** The library asks up to three times, so this is a third of what a push waits for. */
const ANSWER_MS_MAX = 5_000
const REFUSALS_MIN = 400
const REFUSALS_BELOW = 500
const TOO_MANY = 429

/** Returns an object that makes access tokens. Its errors have neither the key nor the request. */
export function accessTokensFor(
  account: ServiceAccount,
  nowMs: () => number,
  timeout = ANSWER_MS_MAX,
): AccessTokens {
  const { clientEmail: email, privateKey: key } = account
  const options = { email, key, scopes: SCOPES, transporterOptions: { timeout } }
  return {
    getAccessToken: async () => {
      const result = await new JWT(options).authorize().catch(statusOf)
      if (typeof result === 'number') {
        const isRefused = result >= REFUSALS_MIN && result < REFUSALS_BELOW && result !== TOO_MANY
        throw new Error(isRefused ? `refused with status ${result}` : UNREACHABLE)
      }
      const { access_token: token, expiry_date: expiry } = result
      const seconds = Math.floor(((expiry ?? 0) - nowMs()) / 1000)
      return { access_token: token ?? '', expires_in: Math.max(1, seconds) }
    },
  }
}

/** Returns the HTTP status of an error; 0 without an answer. */
function statusOf(error: unknown): number {
  const response: unknown =
    typeof error === 'object' && error !== null ? Reflect.get(error, 'response') : undefined
  const status: unknown =
    typeof response === 'object' && response !== null ? Reflect.get(response, 'status') : undefined
  return typeof status === 'number' ? status : 0
}
