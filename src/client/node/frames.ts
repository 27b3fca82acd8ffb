// Writes and reads frames on a stream of bytes: 4 bytes of length, then JSON. (docs/session.md)

const LENGTH_BYTES = 4
/** No gateway sends a larger frame: a peer that announces more bytes is no gateway. */
const FRAME_BYTES_MAX = 16 * 1024 * 1024

/** The name of the protocol in TLS and QUIC. */
export const ALPN = 'heliograph'

/** The bytes of a frame. */
export function framed(text: string): Buffer {
  const bytes = Buffer.byteLength(text)
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + bytes)
  frame.writeUInt32BE(bytes)
  frame.write(text, LENGTH_BYTES)
  return frame
}

/** Reads the texts of frames, however their bytes are divided into chunks. */
export class FrameReader {
  readonly #received: (text: string) => void
  /** The bytes of an incomplete frame. */
  #held: Buffer[] = []
  #heldBytes = 0
  #neededBytes = LENGTH_BYTES

  constructor(received: (text: string) => void) {
    this.#received = received
  }

  /** Takes the next bytes. Gives false for a peer that is no gateway. */
  take(chunk: Buffer): boolean {
    this.#held.push(chunk)
    this.#heldBytes += chunk.length
    // Joins the chunks of one frame once, when it is complete.
    if (this.#heldBytes < this.#neededBytes) return true
    let rest = Buffer.concat(this.#held)
    for (;;) {
      this.#neededBytes = neededFor(rest)
      if (this.#neededBytes > LENGTH_BYTES + FRAME_BYTES_MAX) return false
      if (rest.length < this.#neededBytes) break
      this.#received(rest.toString('utf8', LENGTH_BYTES, this.#neededBytes))
      rest = rest.subarray(this.#neededBytes)
    }
    this.#held = [rest]
    this.#heldBytes = rest.length
    return true
  }
}

/** The bytes of the first frame with its length, as far as they are known. */
const neededFor = (bytes: Buffer): number =>
  bytes.length < LENGTH_BYTES ? LENGTH_BYTES : LENGTH_BYTES + bytes.readUInt32BE()
