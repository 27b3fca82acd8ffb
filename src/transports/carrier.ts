// Carriers of sessions and their listeners: the only difference between WSS, TCP and QUIC.

import type { CarrierName } from '#domain/carrier'

export interface Carrier {
  readonly kind: CarrierName
  /** The address from which the device connects. */
  readonly address: string
  /** The Authorization header of the upgrade, '' without one. A secret. */
  readonly authorization: string
  /** Milliseconds that the connection took before its session; they count towards the hello. */
  readonly openingMs: number
  /** Sends texts in this order, together. Gives the bytes that it still holds, or `closed`. */
  send(texts: readonly string[]): number | 'closed'
  /** Sends what it holds and closes. */
  close(code: number, reason: string): void
  /** Closes at once; what it holds is lost. */
  cut(): void
}

/** A rule about frames that a device can break before there is a text to read. */
export type BrokenRule = 'frame-too-big' | 'not-text'

/** The signals of a carrier to its session. None follows `closed`. */
export interface SessionHandle {
  receive(text: string): void
  /** The device broke a rule: the session tells the device and ends. */
  broken(rule: BrokenRule): void
  /** The carrier has sent some of what it held; `bytes` are left. */
  drained(bytes: number): void
  closed(): void
}

/** The listener for the devices of one carrier. */
export interface Listener {
  readonly carrier: CarrierName
  /** Binds and gives the port; rejects with a sentence for the operator. */
  listen(): Promise<number>
  /**
   * Reads the certificate anew, for new connections; open ones stay. When it cannot be used,
   * rejects with a sentence for the operator and keeps the old one.
   */
  reload(): Promise<void>
  /** Refuses new connections and cuts the open ones. */
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
