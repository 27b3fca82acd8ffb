// Spreads the sessions that compare their channels with the store over some time: after a loss all
// of them would read at once.

import type { Timers } from '#domain/ports'
import type { Runtime } from '#domain/runtime'

const RECHECK_MS = 2_000

interface RecheckPorts extends Pick<Runtime, 'random'> {
  readonly timers: Timers
}

export class Rechecks {
  readonly #ports: RecheckPorts
  readonly #due = new Set<{ recheck(): void }>()

  constructor(ports: RecheckPorts) {
    this.#ports = ports
  }

  /**
   * Rechecks a connection at a random moment within RECHECK_MS: once, however often this is called.
   */
  soon(connection: { recheck(): void }): void {
    if (this.#due.has(connection)) return
    const { timers, random } = this.#ports
    this.#due.add(connection)
    timers.after(random(RECHECK_MS), () => {
      this.#due.delete(connection)
      connection.recheck()
    })
  }
}
