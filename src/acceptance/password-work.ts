// Hashes and compares passwords with scrypt, off the event loop and in bounded numbers.
//
// Invariants:
//   password-work/1. At most RUNNING_MAX computations run and WAITING_MAX wait; beyond that the
//                    answer is server_busy at once, so guesses can take neither all memory nor all
//                    threads.
//   password-work/2. One request computes a password once, however many channels it tries it on.
//                    The request's end drops its keys: kept longer, a quick answer would show a
//                    stranger that somebody uses the password.
//   password-work/3. A wrong password costs as much for a hash of lesser parameters as for any
//                    other: its age is not to be seen.

import { scrypt } from 'node:crypto'
import { fault, isFault } from '#domain/fault'
import { Limiter } from '#domain/bounds/limiter'
import type { Answer } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import { isProvedBy, parsePasswordHash, passwordHashOf } from './password-hash.ts'
import type { Derivation, ScryptParameters } from './password-hash.ts'

/** One request keeps the keys of its passwords here. Passwords and keys are both secrets. */
export type DerivedKeys = Map<string, Promise<Answer<Uint8Array>>>

export interface PasswordWork {
  /** Makes the text that a channel keeps for its password. server_busy when too many wait. */
  hash(password: string, derived?: DerivedKeys): Promise<Answer<string>>
  /**
   * True when the password is the one behind the text. Takes the same time either way, and for no
   * text at all. server_busy when too many wait.
   */
  matches(
    password: string,
    passwordHash: string | undefined,
    derived?: DerivedKeys,
  ): Promise<Answer<boolean>>
  /** True for a text of lesser parameters than `hash` makes. */
  isWeak(passwordHash: string): boolean
  /** Computations that have not begun. */
  waiting(): number
}

export type Derive = (
  password: string,
  salt: Uint8Array,
  parameters: ScryptParameters,
) => Promise<Uint8Array>

interface PasswordWorkPorts {
  readonly entropy: Runtime['entropy']
  /** The salt of the gateway, the same on all nodes; `first` becomes it when there is none. */
  readonly salt: (first: string) => Promise<string>
  /** scrypt outside tests. */
  readonly derive?: Derive
}

/** The OWASP Password Storage Cheat Sheet's scrypt with 16 MiB of memory. */
export const PASSWORD_PARAMETERS: ScryptParameters = { N: 16_384, r: 8, p: 5 }
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

export function createPasswordWork(ports: PasswordWorkPorts): PasswordWork {
  return new BoundedWork(ports)
}

class BoundedWork implements PasswordWork {
  readonly #ports: PasswordWorkPorts
  readonly #derive: Derive
  /** password-work/1 */
  readonly #computations = new Limiter({ places: RUNNING_MAX, waitingMax: WAITING_MAX })
  #own: Promise<Derivation> | undefined

  constructor(ports: PasswordWorkPorts) {
    this.#ports = ports
    this.#derive = ports.derive ?? deriveByScrypt
  }

  async hash(password: string, derived?: DerivedKeys): Promise<Answer<string>> {
    const own = await this.#ownDerivation()
    const key = await this.#keyOf(password, own, derived)
    return isFault(key) ? key : passwordHashOf(own, this.#ports.entropy(SALT_BYTES), key)
  }

  async matches(
    password: string,
    passwordHash: string | undefined,
    derived?: DerivedKeys,
  ): Promise<Answer<boolean>> {
    const own = await this.#ownDerivation()
    const stored = passwordHash === undefined ? undefined : parsePasswordHash(passwordHash)
    const key = await this.#keyOf(password, stored ?? own, derived)
    if (isFault(key)) return key
    const isProved = isProvedBy(key, stored ?? this.#decoy())
    if (isProved && stored !== undefined) return true
    const rest = own.parameters.p - (stored ?? own).parameters.p
    if (rest <= 0) return false
    // password-work/3
    const parameters = { ...own.parameters, p: rest }
    const made = await this.#keyOf(password, { parameters, salt: own.salt }, derived)
    return isFault(made) ? made : false
  }

  isWeak(passwordHash: string): boolean {
    const { N, r, p } = parsePasswordHash(passwordHash).parameters
    return N * r * p < PASSWORD_PARAMETERS.N * PASSWORD_PARAMETERS.r * PASSWORD_PARAMETERS.p
  }

  waiting(): number {
    return this.#computations.waiting
  }

  /** The derivation of new passwords. The next call asks a store again that did not answer. */
  #ownDerivation(): Promise<Derivation> {
    const { entropy, salt } = this.#ports
    this.#own ??= salt(entropy(SALT_BYTES).toString('base64url')).then(
      (text) => ({ parameters: PASSWORD_PARAMETERS, salt: Buffer.from(text, 'base64url') }),
      (error: unknown) => {
        this.#own = undefined
        throw error
      },
    )
    return this.#own
  }

  /** A hash without a password: comparing with it costs as much as a real comparison. */
  #decoy() {
    const { entropy } = this.#ports
    const salt = entropy(SALT_BYTES)
    return { parameters: PASSWORD_PARAMETERS, salt, channelSalt: salt, proof: entropy(KEY_BYTES) }
  }

  /** password-work/2 */
  #keyOf(
    password: string,
    { parameters, salt }: Derivation,
    derived: DerivedKeys = new Map(),
  ): Promise<Answer<Uint8Array>> {
    const { N, r, p } = parameters
    const name = `${N} ${r} ${p} ${salt.toString('base64url')} ${password}`
    const known = derived.get(name)
    if (known !== undefined) return known
    const key = this.#inTurn(() => this.#derive(password, salt, parameters))
    derived.set(name, key)
    const forget = (): boolean => derived.delete(name)
    key.then((answer) => isFault(answer) && forget(), forget)
    return key
  }

  #inTurn<Value>(work: () => Promise<Value>): Promise<Answer<Value>> {
    const busy = fault('server_busy', { retryAfterMs: RETRY_AFTER_MS })
    return this.#computations.run(work) ?? Promise.resolve(busy)
  }
}
