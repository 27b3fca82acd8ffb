// Writes endings to the store in batches, which grow while the store works.
//
// Invariants:
//   ending-writer/1. An ending counts as written only after the store has confirmed it. Until then
//                    the writer repeats it.

import type { EndedOperations, PushEnding, PushStore } from '#domain/push'
import type { Logger } from '#domain/telemetry'

const BATCH_MAX = 500
const RETRY_MS = 500

interface EndingWriterPorts {
  readonly store: Pick<PushStore, 'settle'>
  readonly worker: string
  readonly nowMs: () => number
  readonly wait: (delayMs: number) => Promise<void>
  readonly logger: Logger
  readonly settled: (endings: readonly PushEnding[], ended: EndedOperations) => void
}

export class EndingWriter {
  readonly #ports: EndingWriterPorts
  readonly #waiting: PushEnding[] = []
  #running: Promise<void> | undefined

  constructor(ports: EndingWriterPorts) {
    this.#ports = ports
  }

  add(ending: PushEnding): void {
    this.#waiting.push(ending)
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
  }

  /** Resolves once the store has every ending. */
  async drained(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH_MAX)
      await this.#settle(batch)
    }
  }

  /** ending-writer/1 */
  async #settle(batch: readonly PushEnding[]): Promise<void> {
    const { store, worker, nowMs, wait, logger, settled } = this.#ports
    for (;;) {
      try {
        settled(batch, await store.settle(batch, { worker, nowMs: nowMs() }))
        return
      } catch (error) {
        logger.warn('could not write push endings; trying again', {
          error: String(error),
          pushes: batch.length,
        })
        await wait(RETRY_MS)
      }
    }
  }
}
