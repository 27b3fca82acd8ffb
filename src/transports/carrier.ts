// What carries a session, and what listens for it: the one thing that differs between WSS, TCP and
// QUIC.

import type { CarrierName } from '#domain/carrier'

import type { Rank } from './rank.ts'

export interface Carrier {
  readonly kind: CarrierName
  /** Where the device connects from. */
  readonly address: string
  /** The Authorization header of the upgrade, '' without one. A secret. */
  readonly authorization: string
  /** Milliseconds that the connection took before its session; they count towards the hello. */
  readonly openingMs: number
  /**
   * Sends texts in this order, together; gives the bytes that it still holds, or that it is closed.
   */
  send(texts: readonly string[]): number | 'closed'
  /** Sends what it holds and closes. */
  close(code: number, reason: string): void
  /** Closes at once; what it holds is lost. */
  cut(): void
}

/** A rule about frames that a device broke before there was a text to read. */
export type BrokenRule = 'frame-too-big' | 'not-text'

/** What a carrier tells its session. After `closed` nothing more. */
export interface SessionHandle {
  receive(text: string): void
  /** The session says so to the device and ends. */
  broken(rule: BrokenRule): void
  /** The carrier has sent some of what it held; `bytes` are left. */
  drained(bytes: number): void
  closed(): void
}

/** What names a session and orders the sessions of one device. */
export interface Opened {
  readonly sessionId: string
  readonly rank: Rank
}

/** What listens for the devices of one carrier. */
export interface Listener {
  readonly carrier: CarrierName
  /** Binds and gives the port; rejects with a sentence for the operator. */
  listen(): Promise<number>
  /**
   * Reads the certificate anew, for connections to come; open ones stay. Rejects with a sentence
   * for the operator when it cannot be used; then the old one stays.
   */
  reload(): Promise<void>
  /** Takes no connection any more and cuts those that are left. */
  close(): Promise<void>
}

/** A certificate chain and its key as PEM texts. */
export interface Certificate {
  readonly cert: string
  /** A secret. */
  readonly key: string
}

/** Reads the certificate of the settings; throws a sentence for the operator. */
export type ReadCertificate = () => Certificate
