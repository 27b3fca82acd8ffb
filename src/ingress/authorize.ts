// The gateway token: one shared secret in front of every route. (Specification: Gateway token)

import { hash, timingSafeEqual } from 'node:crypto'

export const TOKEN_CHARACTERS_MAX = 4096

/**
 * `open`: no token is set, so nothing is asked. `absent`: no Authorization header.
 * `wrong`: anything else than the token; such attempts count in the password budget.
 */
export type TokenVerdict = 'open' | 'valid' | 'absent' | 'wrong'

const BEARER = /^bearer +(\S+)$/i

/** Makes the check for a token; an empty one turns the check off. */
export function tokenCheck(token: string): (authorization: string) => TokenVerdict {
  if (token === '') return () => 'open'
  const expected = digest(token)
  return (authorization) => {
    if (authorization === '') return 'absent'
    const given = BEARER.exec(authorization)?.[1]
    if (given === undefined || given.length > TOKEN_CHARACTERS_MAX) return 'wrong'
    // Digests have one length, so the comparison tells neither length nor place of a difference.
    return timingSafeEqual(digest(given), expected) ? 'valid' : 'wrong'
  }
}

const digest = (text: string): Buffer => hash('sha256', text, 'buffer')
