// The key pair of the gateway for push services, and the tokens that it signs. (RFC 8292)

import { createECDH, createPrivateKey, generateKeyPairSync, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

import type { SecretStore } from '#domain/push/secrets'

/** The name of the private key among the secrets of the gateway. */
const KEPT_NAME = 'webpush_private_key'
/** Push services refuse tokens of more than a day. */
const TOKEN_LIFE_MS = 12 * 3_600_000
/** Milliseconds for which a token is used. Signing one costs a tenth of a push, or more. */
export const TOKEN_USE_MS = TOKEN_LIFE_MS / 2
const POINT_BYTES = 65
const COORDINATE_BYTES = 32

interface VapidKeys {
  /** The uncompressed point in base64url, as browsers want it in `applicationServerKey`. */
  readonly publicKey: string
  readonly privateKey: KeyObject
}

/** Returns the key pair that the gateway keeps; the first call makes it. */
export async function vapidKeys(secrets: SecretStore): Promise<VapidKeys> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { d: fresh = '' } = privateKey.export({ format: 'jwk' })
  return keysOf(await secrets.kept(KEPT_NAME, fresh))
}

/** Returns what the profile of the gateway tells of Web Push. */
export const webPushProfile = async (secrets: SecretStore): Promise<object> => ({
  public_key: (await vapidKeys(secrets)).publicKey,
})

/** Returns the pair of a private key, which is in base64url. */
export function keysOf(d: string): VapidKeys {
  const pair = createECDH('prime256v1')
  pair.setPrivateKey(d, 'base64url')
  const point = pair.getPublicKey()
  const x = point.subarray(1, 1 + COORDINATE_BYTES).toString('base64url')
  const y = point.subarray(1 + COORDINATE_BYTES, POINT_BYTES).toString('base64url')
  const jwk = { kty: 'EC', crv: 'P-256', d, x, y }
  return {
    publicKey: point.toString('base64url'),
    privateKey: createPrivateKey({ format: 'jwk', key: jwk }),
  }
}

interface TokenParts {
  /** The origin of the endpoint. */
  readonly audience: string
  readonly subject: string
  readonly nowMs: number
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const HEADER = part({ typ: 'JWT', alg: 'ES256' })

/** Returns the value of the header Authorization for a push service. */
export function authorizationOf(
  { publicKey, privateKey }: VapidKeys,
  { audience, subject, nowMs }: TokenParts,
): string {
  const exp = Math.floor((nowMs + TOKEN_LIFE_MS) / 1000)
  const signed = `${HEADER}.${part({ aud: audience, exp, sub: subject })}`
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const
  const signature = sign('sha256', Buffer.from(signed), key).toString('base64url')
  return `vapid t=${signed}.${signature}, k=${publicKey}`
}
