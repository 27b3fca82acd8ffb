// The caller of the stage, as plain data, whatever the protocol.

import type { Fault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'

export interface Caller {
  /** The time at which the whole request had arrived, in Unix milliseconds. */
  readonly receivedAtMs: number
  /**
   * The address by which budgets count the caller. Undefined when none counts it, as after proof of
   * the gateway token. CallerCheck.admit gives it.
   */
  readonly address?: string | undefined
  /**
   * The refusal after every check has passed: the way in is starting, draining or full.
   * (decisions.md 2: 503 comes last)
   */
  readonly refusal?: Fault | undefined
  /** Channels that the caller may use without their password. */
  readonly grant?: ChannelGrant | undefined
}

/** A right that was proven elsewhere: by a key, or by a person's binding for an assistant. */
export interface ChannelGrant {
  readonly channels: ReadonlySet<ChannelId>
}

/** The same caller with a grant. */
export const withGrant = (caller: Caller, grant: ChannelGrant): Caller => ({
  receivedAtMs: caller.receivedAtMs,
  address: caller.address,
  refusal: caller.refusal,
  grant,
})
