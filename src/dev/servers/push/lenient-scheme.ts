// Corrects the scheme of incoming requests. firebase-admin sends `https:`, which Google's servers
// accept and Node's server refuses as a protocol error. Only one header block of a connection
// spells the scheme out; later ones refer to its entry in the header table.
//
// The server's entry in that table is a byte shorter than the client's. So the server's table can
// only hold more entries than the client's, and the indexes, which count from the newest entry,
// stay the same. (RFC 7541)

import { Duplex, Transform } from 'node:stream'

const PREFACE_BYTES = 24
const HEADER_BYTES = 9
const HEADERS = 1
/** `:scheme: https:` and `:scheme: https`, as literals with Huffman-coded values. */
const WITH_COLON = Buffer.from([0x46, 0x85, 0x9d, 0x29, 0xad, 0x17, 0x3f])
const WITHOUT_COLON = Buffer.from([0x46, 0x84, 0x9d, 0x29, 0xad, 0x1f])

/** Returns a connection that corrects the scheme in incoming requests. */
export function lenient(socket: Duplex): Duplex {
  let buffered = Buffer.alloc(0)
  let isBehindPreface = false
  const frames = new Transform({
    transform(chunk: Buffer, _, done) {
      buffered = Buffer.concat([buffered, chunk])
      if (!isBehindPreface) {
        if (buffered.length < PREFACE_BYTES) return done()
        this.push(buffered.subarray(0, PREFACE_BYTES))
        buffered = buffered.subarray(PREFACE_BYTES)
        isBehindPreface = true
      }
      while (buffered.length >= HEADER_BYTES) {
        const length = HEADER_BYTES + buffered.readUIntBE(0, 3)
        if (buffered.length < length) break
        this.push(corrected(buffered.subarray(0, length)))
        buffered = buffered.subarray(length)
      }
      return done()
    },
  })
  socket.on('error', () => frames.destroy())
  return Duplex.from({ readable: socket.pipe(frames), writable: socket })
}

function corrected(frame: Buffer): Buffer {
  const at = frame[3] === HEADERS ? frame.indexOf(WITH_COLON, HEADER_BYTES) : -1
  if (at < 0) return frame
  const rest = frame.subarray(at + WITH_COLON.length)
  const result = Buffer.concat([frame.subarray(0, at), WITHOUT_COLON, rest])
  result.writeUIntBE(result.length - HEADER_BYTES, 0, 3)
  return result
}
