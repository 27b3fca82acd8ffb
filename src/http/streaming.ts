// One stream on its way to its reader, over any kind of connection.
//
// Invariants:
//   streaming/1. The stream goes on once its reader has taken the last chunk, and ends when its
//              reader is gone or the gateway drains. Nothing is written to a reader that is gone.
//   streaming/2. A stream that fails is cut off: it must not look whole.

import type { Stream } from './reply.ts'

/** The connection that the chunks go to. */
export interface Outlet {
  /** False when the connection is full: the next chunk waits for `flow`. */
  write(chunk: string | Uint8Array): boolean
  end(): void
  cut(): void
}

export class Streaming {
  readonly #controller = new AbortController()
  #isStopped = false
  #goOn = (): void => {}

  /** Called when the reader has taken the last chunk. */
  flow(): void {
    this.#goOn()
  }

  /** Called when the reader is gone. */
  stop(): void {
    this.#isStopped = true
    this.#controller.abort()
    this.#goOn()
  }

  /** Sends the whole stream; `streams` has those that a drain ends. Rejects when it fails. */
  async run(stream: Stream, outlet: Outlet, streams: Set<AbortController>): Promise<void> {
    const controller = this.#controller
    streams.add(controller)
    try {
      for await (const chunk of stream.open(controller.signal)) {
        if (this.#isGone()) return // streaming/1
        if (!outlet.write(chunk)) await new Promise<void>((resolve) => (this.#goOn = resolve))
        if (this.#isGone()) return // streaming/1
      }
      if (!this.#isGone()) outlet.end()
    } catch (error) {
      if (!this.#isGone()) outlet.cut() // streaming/2
      throw error
    } finally {
      streams.delete(controller)
    }
  }

  /** Ends the stream at once, because the gateway drains. */
  end(): void {
    this.#controller.abort()
  }

  /** A method: the reader may go while something is awaited. */
  #isGone(): boolean {
    return this.#isStopped
  }
}
