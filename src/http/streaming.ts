// One stream on its way to its reader, over any kind of connection.
//
// Invariants:
//   streaming/1. The stream goes on once its reader has taken the last chunk, and ends when its
//              reader is gone or the gateway drains. Nothing is written to a reader that is gone.
//   streaming/2. A stream that fails is cut off: it must not look whole.
//   streaming/3. A connection over HTTP tells when it has sent something, and not how much. It gets
//              small parts until it has sent everything, so what it holds does not grow.
//   streaming/4. A part fits into what the library gathers before it writes. A longer one is lost
//              when its connection takes the length in front of it alone, so the stream breaks.

import type { Stream } from './reply.ts'
import { GATHERED_BYTES } from './unread.ts'

/** The connection that the chunks go to. */
export interface Outlet {
  /** The parts in which a chunk is written. */
  parts(chunk: string | Uint8Array): Iterable<string | Uint8Array>
  /** False when the connection holds some of this part, or of those before: the next one waits. */
  write(part: string | Uint8Array): boolean
  /** At most so many bytes wait for the reader; 0 when it has taken them. */
  holds(bytes: number): void
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
    let before = 0
    try {
      for await (const chunk of stream.open(controller.signal)) {
        for (const part of outlet.parts(chunk)) {
          if (this.#isGone()) return // streaming/1
          if (!outlet.write(part)) await this.#taken(before + part.length, outlet)
          before = part.length
        }
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

  /** Resolves once the reader has taken what the connection holds, or is gone. */
  async #taken(bytes: number, outlet: Outlet): Promise<void> {
    outlet.holds(bytes)
    await new Promise<void>((resolve) => (this.#goOn = resolve))
    outlet.holds(0)
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

/** Bytes of a part for a connection that has sent everything before. (streaming/4) */
const PART_BYTES = GATHERED_BYTES
/**
 * The same for one that has not: less than a connection has sent when it tells of it, which is a
 * third of the least that a system keeps for one.
 */
const SMALL_PART_BYTES = 2_048

/** The parts of a chunk for a connection over HTTP. (streaming/3) */
export function* httpParts(
  chunk: string | Uint8Array,
  isFull: () => boolean,
): Iterable<string | Uint8Array> {
  if (chunk.length <= SMALL_PART_BYTES) {
    yield chunk
    return
  }
  const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
  for (let at = 0; at < bytes.length;) {
    const end = at + (isFull() ? SMALL_PART_BYTES : PART_BYTES)
    yield bytes.subarray(at, end)
    at = end
  }
}
