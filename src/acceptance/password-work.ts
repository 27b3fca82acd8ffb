// scrypt off the event loop: how passwords are hashed and compared, and how much of it may go on.
//
// Invariants:
//   password-work/1. At most RUNNING_MAX computations run and WAITING_MAX wait; beyond that the
//                    answer is server_busy at once, so guesses can take neither all memory nor all
//                    threads.

import { scrypt, timingSafeEqual } from 'node:crypto'
import { fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { Runtime } from '#domain/runtime'

export interface PasswordWork {
  /**
   * Parameters, salt and hash as one text: what a channel keeps. server_busy when too much waits.
   */
  hash(password: string): Promise<Answer<string>>
  /** True when the password is the one behind the text. Takes the same time either way. */
  matches(password: string, passwordHash: string): Promise<Answer<boolean>>
  /** Computations that have not begun. */
  waiting(): number
}

export interface ScryptParameters {
  readonly N: number
  readonly r: number
  readonly p: number
}

export type Derive = (
  password: string,
  salt: Uint8Array,
  parameters: ScryptParameters,
) => Promise<Uint8Array>

const PARAMETERS: ScryptParameters = { N: 16_384, r: 8, p: 1 }
const SALT_BYTES = 16
const KEY_BYTES = 32
const RUNNING_MAX = 4
const WAITING_MAX = 128
const RETRY_AFTER_MS = 2_000

const deriveByScrypt: Derive = (password, salt, parameters) =>
  new Promise((resolve, reject) => {
    scrypt(password, salt, KEY_BYTES, parameters, (error, key) => {
      if (error === null) resolve(key)
      else reject(error)
    })
  })

/** A text that no password is behind: comparing with it costs what a real comparison costs. */
export const decoyHash = (entropy: Runtime['entropy']): string =>
  hashText(PARAMETERS, entropy(SALT_BYTES), entropy(KEY_BYTES))

/** `entropy` gives the salts; `derive` is scrypt outside tests. */
export function createPasswordWork(
  entropy: Runtime['entropy'],
  derive: Derive = deriveByScrypt,
): PasswordWork {
  const queue: (() => void)[] = []
  let running = 0

  async function inTurn<Value>(work: () => Promise<Value>): Promise<Answer<Value>> {
    if (running >= RUNNING_MAX) {
      // password-work/1
      if (queue.length >= WAITING_MAX) return fault('server_busy', { retryAfterMs: RETRY_AFTER_MS })
      // Whoever finishes hands its place on, so nobody overtakes those who wait.
      await new Promise<void>((begin) => queue.push(begin))
    } else running += 1
    try {
      return await work()
    } finally {
      const next = queue.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }

  return {
    hash: (password) =>
      inTurn(async () => {
        const salt = entropy(SALT_BYTES)
        return hashText(PARAMETERS, salt, await derive(password, salt, PARAMETERS))
      }),
    matches: (password, passwordHash) =>
      inTurn(async () => {
        const { parameters, salt, key } = partsOf(passwordHash)
        return timingSafeEqual(await derive(password, salt, parameters), key)
      }),
    waiting: () => queue.length,
  }
}

function hashText({ N, r, p }: ScryptParameters, salt: Uint8Array, key: Uint8Array): string {
  const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')
  return `scrypt$${N}$${r}$${p}$${base64(salt)}$${base64(key)}`
}

const HASH_TEXT = /^scrypt\$(\d{1,8})\$(\d{1,3})\$(\d{1,3})\$([\w-]{22})\$([\w-]{43})$/

function partsOf(text: string): { parameters: ScryptParameters; salt: Buffer; key: Buffer } {
  const match = HASH_TEXT.exec(text)
  if (match === null) throw new Error('a stored password hash has an unknown form')
  const [, N, r, p, salt = '', key = ''] = match
  return {
    parameters: { N: Number(N), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    key: Buffer.from(key, 'base64url'),
  }
}
