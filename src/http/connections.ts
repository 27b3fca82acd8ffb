// Counts the connections on which requests can come.

/** The part of the HTTP library that tells of connections: `change` is 1 or -1. */
interface Listener {
  filter(told: (response: unknown, change: number) => void): unknown
}

/** Counts the connections of some listeners, with or without TLS, also during their handshake. */
export class Connections {
  #open = 0

  /** Each `mount` hands in the applications of one listener, also later ones. */
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

  /** Says that one has become a WebSocket: the library reports only its beginning. */
  upgraded(): void {
    this.#open -= 1
  }
}
