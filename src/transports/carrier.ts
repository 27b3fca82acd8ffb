// The ports of carriers, which hide the differences between WSS, TCP and QUIC.

import type { CarrierName } from '#domain/carrier'

export interface Carrier {
  readonly kind: CarrierName
  /** The address from which the device connects. */
  readonly address: string
  /** The Authorization header of the upgrade, '' without one. A secret. */
  readonly authorization: string
  /** Milliseconds from the connection to its session; they count towards the hello's deadline. */
  readonly openingMs: number
  /** Sends texts together, in this order. Gives the bytes that it still holds, or `closed`. */
  send(texts: readonly string[]): number | 'closed'
  /** Sends the texts that it holds and closes. */
  close(code: number, reason: string): void
  /** Closes at once; the texts that it holds are lost. */
  cut(): void
}

/**
 * A rule about frames that a device can break before there is a text to read; `no-room`: too much
 * of unfinished frames is held.
 */
export type BrokenRule = 'frame-too-big' | 'not-text' | 'no-room'

/** The signals of a carrier to its session. None follows `closed`. */
export interface SessionHandle {
  receive(text: string): void
  /** The device broke a rule: the session tells the device and ends. */
  broken(rule: BrokenRule): void
  /** The carrier has sent a part of its texts and still holds `bytes`. */
  drained(bytes: number): void
  closed(): void
}
