// The type of a way in. Each kind of caller comes through a door of its own: requests over HTTP,
// sessions of devices over WSS, TCP and QUIC.

/** The part of a door that has a port. */
export interface Listener {
  /** Names it in metrics and in the ports of the process: 'http', 'wss', 'tcp', 'quic'. */
  readonly name: string
  /** Binds and returns the port; rejects with a sentence for the operator. */
  listen(): Promise<number>
  /**
   * Reads the certificate again, for new connections; open ones stay. Rejects with a sentence for
   * the operator when it cannot use the new certificate, and keeps the old one.
   */
  reload(): Promise<void>
  /** Refuses new connections and cuts the open ones. */
  close(): Promise<void>
}

export interface Door extends Listener {
  /**
   * Refuses what is new, in the words of its protocol, and resolves when everything that it took is
   * answered, or its sessions have ended. It still listens: callers get a refusal, not silence.
   */
  drain(): Promise<void>
}

/** A certificate chain and its key as PEM texts. */
export interface Certificate {
  readonly cert: string
  /** A secret. */
  readonly key: string
}

/** Reads the certificate of the settings; throws a sentence for the operator. */
export type ReadCertificate = () => Certificate
