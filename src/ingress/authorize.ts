// The gateway token: one shared secret in front of every route. (Specification: Gateway token)

import { timingSafeEqual } from 'node:crypto'

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
  const matches = comparison(token)
  return (authorization) => {
    if (authorization === '') return 'absent'
    const given = BEARER.exec(authorization)?.[1]
    if (given === undefined || given.length > TOKEN_CHARACTERS_MAX) return 'wrong'
    return matches(given) ? 'valid' : 'wrong'
  }
}

/**
 * Compares with a secret in a time that tells neither the place of a difference nor the secret's
 * length: what is given is cut or filled to that length, and one more byte says whether it had it.
 * A digest of both would cost each request five times as much.
 */
function comparison(secret: string): (given: string) => boolean {
  const { length } = Buffer.from(secret)
  const expected = Buffer.concat([Buffer.from(secret), Buffer.of(1)])
  const room = Buffer.alloc(length + 1)
  return (given) => {
    const hasLength = Buffer.byteLength(given) === length
    room.fill(0)
    room.write(given, 0, length)
    room[length] = hasLength ? 1 : 0
    return timingSafeEqual(room, expected)
  }
}
