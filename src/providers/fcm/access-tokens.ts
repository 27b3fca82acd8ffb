// Access tokens of a service account, as firebase-admin asks for them. The library's own way to
// make them warns on the process's output, and gives the same code for a wrong key and a broken
// connection.

import { JWT } from 'google-auth-library'

export interface ServiceAccount {
  readonly projectId: string
  readonly clientEmail: string
  /** The key as PEM. A secret. */
  readonly privateKey: string
}

/** The credential type that firebase-admin takes. */
export interface AccessTokens {
  getAccessToken(): Promise<{ readonly access_token: string; readonly expires_in: number }>
}

/** The message of an error when the token endpoint did not answer: the key may be good. */
export const UNREACHABLE = 'token-endpoint-unreachable'

const SCOPES = ['https://www.googleapis.com/auth/firebase.messaging']
const REFUSALS_MIN = 400
const REFUSALS_BELOW = 500
const TOO_MANY = 429

/** Makes access tokens. Errors carry neither the key nor the request. */
export function accessTokensFor(account: ServiceAccount, nowMs: () => number): AccessTokens {
  const { clientEmail: email, privateKey: key } = account
  return {
    getAccessToken: async () => {
      const given = await new JWT({ email, key, scopes: SCOPES }).authorize().catch(statusOf)
      if (typeof given === 'number') {
        const isRefused = given >= REFUSALS_MIN && given < REFUSALS_BELOW && given !== TOO_MANY
        throw new Error(isRefused ? `refused with status ${given}` : UNREACHABLE)
      }
      const { access_token: token, expiry_date: expiry } = given
      const seconds = Math.floor(((expiry ?? 0) - nowMs()) / 1000)
      return { access_token: token ?? '', expires_in: Math.max(1, seconds) }
    },
  }
}

/** The HTTP status of an error; 0 when there was no answer. */
function statusOf(error: unknown): number {
  const response: unknown =
    typeof error === 'object' && error !== null ? Reflect.get(error, 'response') : undefined
  const status: unknown =
    typeof response === 'object' && response !== null ? Reflect.get(response, 'status') : undefined
  return typeof status === 'number' ? status : 0
}
