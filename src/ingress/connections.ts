// The connections on which requests can come.

/** The part of the HTTP library that tells of connections: `change` is 1 or -1. */
interface Listener {
  filter(told: (response: unknown, change: number) => void): unknown
}

/** Counts them, with TLS or without; those whose handshake is under way count too. */
export class Connections {
  #open = 0

  /** `mount` hands in each application that takes connections. */
  constructor(mount: (apply: (app: Listener) => void) => void) {
    mount((app) => {
      app.filter((_, change) => {
        this.#open += Math.sign(change)
      })
    })
  }

  /** How many are open now: each has one request at a time. */
  get open(): number {
    return this.#open
  }

  /** One has become a WebSocket. The library tells of its beginning, and not of this. */
  upgraded(): void {
    this.#open -= 1
  }
}
