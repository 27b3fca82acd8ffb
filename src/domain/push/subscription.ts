// Push subscriptions, as a browser's PushSubscription or a UnifiedPush app has them.
// (RFC 8030, 8291; decisions.md 11)

import { isRecord, jsonOf } from '#domain/record'

export interface PushSubscription {
  /** The address at the push service. A secret: whoever has it can send to the device. */
  readonly endpoint: string
  /** The device's P-256 point and its authentication secret, in base64url. */
  readonly keys: { readonly p256dh: string; readonly auth: string }
}

/** Characters of an endpoint. UnifiedPush allows 1,000; those of browsers have up to 800. */
const ENDPOINT_MAX = 2_000
/** 65 bytes, of which the first is 4: a point that is not compressed. */
const POINT = /^B[A-P][\w-]{84}[AEIMQUYcgkosw048]$/
/** 16 bytes. */
const SECRET = /^[\w-]{21}[AQgw]$/

/**
 * Reads the JSON of a subscription, whose further members do not count. Returns undefined for
 * anything else. Whether the point is on the curve shows when something is encrypted for it.
 */
export function readSubscription(text: string): PushSubscription | undefined {
  const sent = jsonOf(text)
  if (!isRecord(sent) || !isRecord(sent['keys'])) return undefined
  const endpoint = endpointOf(sent['endpoint'])
  const p256dh = base64url(sent['keys']['p256dh'])
  const auth = base64url(sent['keys']['auth'])
  if (endpoint === undefined || !POINT.test(p256dh) || !SECRET.test(auth)) return undefined
  return { endpoint, keys: { p256dh, auth } }
}

/**
 * Returns the JSON of a subscription as it is kept. The secret comes first: the database finds a
 * token by its beginning, and most endpoints begin alike.
 */
export const subscriptionText = ({ endpoint, keys: { p256dh, auth } }: PushSubscription): string =>
  JSON.stringify({ keys: { auth, p256dh }, endpoint })

function endpointOf(sent: unknown): string | undefined {
  const url = typeof sent === 'string' ? URL.parse(sent) : null
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined
  if (url.username !== '' || url.password !== '' || url.hash !== '') return undefined
  return url.href.length <= ENDPOINT_MAX ? url.href : undefined
}

/** Some libraries write base64 with its other alphabet, or with padding. */
const base64url = (sent: unknown): string =>
  typeof sent === 'string'
    ? sent
        .replaceAll('+', '-')
        .replaceAll('/', '_')
        .replace(/={1,2}$/, '')
    : ''
