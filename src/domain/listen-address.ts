// The address at which a process listens.

export interface ListenAddress {
  readonly host: string
  /** 0: the system chooses one. */
  readonly port: number
  /** The setting that says so, for the sentence of a failure. */
  readonly setting: string
}

/** The failure to listen, in a sentence for the operator. */
export const cannotListen = ({ host, port, setting }: ListenAddress, reason: string): Error =>
  new Error(`cannot listen on ${host} port ${port} (${setting}): ${reason}`)
