// Signatures of payloads by a secret, over the bytes as they came.

import { createHmac, hash, timingSafeEqual } from 'node:crypto'

/** How a tool shows that it knows a secret. */
export interface Signature {
  /** The header with the proof, in lower case. */
  readonly header: string
  /** The header as it must be. */
  readonly expected: (secret: string, payload: Uint8Array) => string
}

/** The HMAC of the payload in hex, behind a prefix. */
export const hmacSignature = (header: string, prefix = ''): Signature => ({
  header,
  expected: (secret, payload) =>
    prefix + createHmac('sha256', secret).update(payload).digest('hex'),
})

/** The secret itself. */
export const bareSecret = (header: string): Signature => ({ header, expected: (secret) => secret })

/** Compares in a time that shows nothing of the secret, not its length either. */
export const isSigned = (
  { expected }: Signature,
  secret: string,
  { payload, sent }: { readonly payload: Uint8Array; readonly sent: string },
): boolean => timingSafeEqual(digestOf(expected(secret, payload)), digestOf(sent))

const digestOf = (text: string): Buffer => hash('sha256', text, 'buffer')
