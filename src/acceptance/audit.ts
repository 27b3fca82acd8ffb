// Log lines that an auditor asks for: refused credentials, and changes of channels, keys and
// devices. docs/operations.md lists them.
//
// Invariants:
//   audit/1. No line holds a secret: callers hand over ids and names of credentials, never what
//            was sent.
//   audit/2. A host that guesses gets two lines a minute for each kind of credential: the first
//            refusal at once, and the number of the others when the minute ends.
//   audit/3. At most HOSTS_MAX hosts have lines of their own in a minute; all others share one
//            number.

import { hostOf } from '#domain/host'
import type { Timers } from '#domain/ports'
import type { Logger } from '#domain/telemetry'

/** The origin of a request. */
export interface Origin {
  /** The address of the caller, also behind a trusted proxy; read when it is asked for. */
  readonly address: string
  /** Absent for a session, which has no request. */
  readonly requestId?: string
}

export type CredentialKind =
  | 'gateway token'
  | 'access token'
  | 'channel password'
  | 'channel key'
  | 'device key'

type AuditedChange =
  | 'a channel was deleted'
  | 'a channel password was changed'
  | 'a channel key was made'
  | 'a channel key was revoked'
  | 'a device was removed'
  | 'a subscriber was removed'

/** Returns the fields by which a line names an origin. */
export const factsOf = (origin: Origin | undefined): Partial<Origin> =>
  origin === undefined ? {} : { address: origin.address, requestId: origin.requestId ?? '' }

const MINUTE_MS = 60_000
const HOSTS_MAX = 1_000

interface Refusals {
  readonly address: string
  readonly credential: CredentialKind
  /** Those after the first. */
  count: number
}

export class Audit {
  readonly #logger: Logger
  readonly #timers: Timers
  readonly #refusals = new Map<string, Refusals>()
  #elsewhere = 0
  #cancel: (() => void) | undefined

  constructor({ logger, timers }: { readonly logger: Logger; readonly timers: Timers }) {
    this.#logger = logger
    this.#timers = timers
  }

  /** Notes that a credential was refused. */
  refused(credential: CredentialKind, { address, requestId = '' }: Origin): void {
    this.#cancel ??= this.#timers.after(MINUTE_MS, () => this.flush())
    const name = `${hostOf(address)} ${credential}`
    const known = this.#refusals.get(name)
    if (known !== undefined) {
      known.count += 1 // audit/2
      return
    }
    if (this.#refusals.size >= HOSTS_MAX) {
      this.#elsewhere += 1 // audit/3
      return
    }
    this.#refusals.set(name, { address, credential, count: 0 })
    this.#logger.warn('a credential was refused', { credential, address, requestId })
  }

  /** Notes a change; `ids` name what was changed. */
  changed(
    change: AuditedChange,
    origin: Origin | undefined,
    ids: Readonly<Record<string, string>>,
  ): void {
    this.#logger.info(change, { ...ids, ...factsOf(origin) })
  }

  /** Writes the numbers of this minute. */
  flush(): void {
    this.#cancel?.()
    this.#cancel = undefined
    for (const { address, credential, count } of this.#refusals.values()) {
      if (count > 0)
        this.#logger.warn('a credential was refused again', { credential, address, count })
    }
    const count = this.#elsewhere
    if (count > 0) this.#logger.warn('credentials were refused at further addresses', { count })
    this.#refusals.clear()
    this.#elsewhere = 0
  }
}
