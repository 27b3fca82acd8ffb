// The caller of the stage, whatever the protocol.

import type { Fault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import type { Attempt } from './attempt.ts'
import type { Origin } from './audit.ts'

/** The result of CallerCheck.admit: each part is absent where no row of that kind needs it. */
export interface Admitted {
  /** The origin of the request, by which budgets count it and log lines name it. */
  readonly origin?: Origin | undefined
  /** True when budgets count the caller; false after proof of the gateway token. */
  readonly isCounted?: boolean
  /** Counts the credentials of this request. */
  readonly attempt?: Attempt | undefined
}

export interface Caller extends Admitted {
  /** The time at which the whole request had arrived, in Unix milliseconds. */
  readonly receivedAtMs: number
  /**
   * The refusal after every check has passed: the way in is starting, draining or full.
   * (decisions.md 2: 503 comes last)
   */
  readonly refusal?: Fault | undefined
  /** Channels that the caller may use without their password. */
  readonly grant?: ChannelGrant | undefined
}

/** A right that was proven elsewhere: by a person's binding for an assistant. */
interface ChannelGrant {
  readonly channels: ReadonlySet<ChannelId>
}

/** A copy of the caller. */
const copyOf = (caller: Caller): Caller => ({
  receivedAtMs: caller.receivedAtMs,
  origin: caller.origin,
  isCounted: caller.isCounted === true,
  attempt: caller.attempt,
  refusal: caller.refusal,
  grant: caller.grant,
})

/** The same caller with a grant. */
export const withGrant = (caller: Caller, grant: ChannelGrant): Caller => ({
  ...copyOf(caller),
  grant,
})

/** The same caller with another attempt. */
export const withAttempt = (caller: Caller, attempt: Attempt): Caller => ({
  ...copyOf(caller),
  attempt,
})
