// firebase-admin sends the scheme `https:`, which Google's servers take and Node's refuse as a
// protocol error. So it is set right on the way in: in the one header block of a connection that
// spells it out, later ones point to that.
//
// The entry that the server remembers is a byte shorter than the client's: its table holds a little
// more, and what is counted from its newest end stays the same. (RFC 7541)

import { Duplex, Transform } from 'node:stream'

const PREFACE_BYTES = 24
const HEADER_BYTES = 9
const HEADERS = 1
/** `:scheme: https:` and `:scheme: https`, as literals whose values are Huffman coded. */
const WRONG = Buffer.from([0x46, 0x85, 0x9d, 0x29, 0xad, 0x17, 0x3f])
const RIGHT = Buffer.from([0x46, 0x84, 0x9d, 0x29, 0xad, 0x1f])

/** A connection whose reading side is set right. */
export function lenient(socket: Duplex): Duplex {
  let held = Buffer.alloc(0)
  let isBehindPreface = false
  const frames = new Transform({
    transform(chunk: Buffer, _, done) {
      held = Buffer.concat([held, chunk])
      if (!isBehindPreface) {
        if (held.length < PREFACE_BYTES) return done()
        this.push(held.subarray(0, PREFACE_BYTES))
        held = held.subarray(PREFACE_BYTES)
        isBehindPreface = true
      }
      while (held.length >= HEADER_BYTES) {
        const length = HEADER_BYTES + held.readUIntBE(0, 3)
        if (held.length < length) break
        this.push(corrected(held.subarray(0, length)))
        held = held.subarray(length)
      }
      return done()
    },
  })
  socket.on('error', () => frames.destroy())
  return Duplex.from({ readable: socket.pipe(frames), writable: socket })
}

function corrected(frame: Buffer): Buffer {
  const at = frame[3] === HEADERS ? frame.indexOf(WRONG, HEADER_BYTES) : -1
  if (at < 0) return frame
  const right = Buffer.concat([frame.subarray(0, at), RIGHT, frame.subarray(at + WRONG.length)])
  right.writeUIntBE(right.length - HEADER_BYTES, 0, 3)
  return right
}
