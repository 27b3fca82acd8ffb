// The connections on which requests can come.

/** The part of the HTTP library that tells of connections: `change` is 1 or -1. */
interface Listener {
  filter(told: (response: unknown, change: number) => void): unknown
}

/** Counts those of some listeners, with TLS or without; also while their handshake is under way. */
export class Connections {
  #open = 0

  /** Each `mount` hands in the applications of one listener, also those to come. */
  constructor(...mounts: readonly ((apply: (app: Listener) => void) => void)[]) {
    for (const mount of mounts) {
      mount((app) => {
        app.filter((_, change) => {
          this.#open += Math.sign(change)
        })
      })
    }
  }

  /** The number of open connections: each has one request at a time. */
  get open(): number {
    return this.#open
  }

  /** One has become a WebSocket. The library tells of its beginning, and not of this. */
  upgraded(): void {
    this.#open -= 1
  }
}
