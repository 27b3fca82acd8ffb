// What carries a session: the one thing that differs between WSS, TCP and QUIC.

import type { Rank } from './rank.ts'

export interface Carrier {
  readonly kind: 'wss'
  /** Where the device connects from. */
  readonly address: string
  /** The Authorization header of the upgrade, '' without one. A secret. */
  readonly authorization: string
  /**
   * Sends texts in this order, together; gives the bytes that it still holds, or that it is closed.
   */
  send(texts: readonly string[]): number | 'closed'
  /** Sends what it holds and closes. */
  close(code: number, reason: string): void
  /** Closes at once; what it holds is lost. */
  cut(): void
}

/** What a carrier tells its session. After `closed` nothing more. */
export interface SessionHandle {
  receive(text: string): void
  /** The carrier has sent some of what it held; `bytes` are left. */
  drained(bytes: number): void
  closed(): void
}

/** What names a session and orders the sessions of one device. */
export interface Opened {
  readonly sessionId: string
  readonly rank: Rank
}
