// The gateway token: one shared secret in front of every way in. (Specification: Gateway token)

import { timingSafeEqual } from 'node:crypto'

export const TOKEN_CHARACTERS_MAX = 4096

/**
 * `open`: the gateway has no token. `absent`: the caller sent none. `wrong`: the caller sent
 * another; such attempts count in the password budget.
 */
export type TokenVerdict = 'open' | 'valid' | 'absent' | 'wrong'

/**
 * Judges an Authorization header and, if a protocol has another place for it, a bare token; ''
 * stands for an absent one.
 */
export type TokenCheck = (authorization: string, bareToken?: string) => TokenVerdict

const BEARER = /^bearer +(\S+)$/i

/** Makes the check for a token; an empty one turns the check off. */
export function tokenCheck(token: string): TokenCheck {
  if (token === '') return () => 'open'
  const matches = comparison(token)
  const isToken = (given: string | undefined): boolean =>
    given !== undefined && given.length <= TOKEN_CHARACTERS_MAX && matches(given)
  return (authorization, bareToken = '') => {
    if (authorization !== '' && isToken(BEARER.exec(authorization)?.[1])) return 'valid'
    if (bareToken !== '' && isToken(bareToken)) return 'valid'
    return authorization === '' && bareToken === '' ? 'absent' : 'wrong'
  }
}

/**
 * Compares with a secret in a time that shows neither the place of a difference nor the secret's
 * length: the comparison cuts or fills the given text to that length, and one more byte shows
 * whether the lengths are equal. A digest of both would cost each request five times as much.
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
