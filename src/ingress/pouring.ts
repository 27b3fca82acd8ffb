// A stream on its way to one reader, over whichever connection it goes.
//
// Invariants:
//   pouring/1. The stream goes on once its reader has taken what was written, and ends when its
//              reader is gone or the gateway drains. Nothing is written to a reader that is gone.
//   pouring/2. A stream that fails is cut off: it must not look whole.

import type { Stream } from './reply.ts'

/** The connection that the chunks go to. */
export interface Outlet {
  /** False when the connection is full: the next chunk waits for `flow`. */
  write(chunk: string | Uint8Array): boolean
  end(): void
  cut(): void
}

export class Pouring {
  readonly #controller = new AbortController()
  #isStopped = false
  #goOn = (): void => {}

  /** The reader has taken what was written. */
  flow(): void {
    this.#goOn()
  }

  /** The reader is gone. */
  stop(): void {
    this.#isStopped = true
    this.#controller.abort()
    this.#goOn()
  }

  /** Pours everything; `streams` holds those that a drain ends. Rejects when the stream fails. */
  async run(stream: Stream, outlet: Outlet, streams: Set<AbortController>): Promise<void> {
    const controller = this.#controller
    streams.add(controller)
    try {
      for await (const chunk of stream.open(controller.signal)) {
        if (this.#isGone()) return // pouring/1
        if (!outlet.write(chunk)) await new Promise<void>((resolve) => (this.#goOn = resolve))
        if (this.#isGone()) return // pouring/1
      }
      if (!this.#isGone()) outlet.end()
    } catch (error) {
      if (!this.#isGone()) outlet.cut() // pouring/2
      throw error
    } finally {
      streams.delete(controller)
    }
  }

  /** The stream of a gateway that drains ends at once. */
  end(): void {
    this.#controller.abort()
  }

  /** A method: the reader may go while something is awaited. */
  #isGone(): boolean {
    return this.#isStopped
  }
}
