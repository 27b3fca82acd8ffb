// A connection within the process: each end reads what the other writes, with back-pressure.

import { Duplex } from 'node:stream'

/** One end. To a library it looks like the socket of a caller at `remoteAddress`. */
export class ConnectionEnd extends Duplex {
  readonly remoteAddress: string
  #other: ConnectionEnd | undefined
  /** Called once the other end has read the bytes. */
  #taken: (() => void) | undefined

  constructor(remoteAddress: string) {
    super()
    this.remoteAddress = remoteAddress
  }

  join(other: ConnectionEnd): void {
    this.#other = other
  }

  /** Takes what the other end wrote. */
  give(chunk: Buffer, taken: () => void): void {
    this.#taken = taken
    this.push(chunk)
  }

  override _read(): void {
    const taken = this.#taken
    this.#taken = undefined
    taken?.()
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    // A stream that got no bytes does not ask for more, so `done` would never be called. (mount/4)
    if (chunk.length === 0) done()
    else this.#other?.give(chunk, done)
  }

  /** Ends once the other has read everything: until then this end is not closed. */
  override _final(done: () => void): void {
    this.#other?.once('end', done)
    this.#other?.push(null)
  }

  /** Takes the other end with it, as a broken connection does, unless both are through. */
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const other = this.#other
    if (other !== undefined && !(other.readableEnded && other.writableEnded)) other.destroy()
    this.#taken = undefined
    done(error)
  }
}

/** Both ends of a new connection. */
export function memoryConnection(remoteAddress: string): readonly [ConnectionEnd, ConnectionEnd] {
  const ends = [new ConnectionEnd(remoteAddress), new ConnectionEnd(remoteAddress)] as const
  ends[0].join(ends[1])
  ends[1].join(ends[0])
  return ends
}
