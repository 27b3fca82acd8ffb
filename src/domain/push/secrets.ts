// The port of the store for secrets of the gateway itself.

/** Secrets that the gateway makes once and keeps with its state, the same for all its nodes. */
export interface SecretStore {
  /**
   * Returns the secret of a name, of at most 255 characters. The first one that is given for the
   * name becomes it.
   */
  kept(name: string, first: string): Promise<string>
}
