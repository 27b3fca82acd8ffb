// The socket of a connection to the database: agrees with MariaDB on bulk executions, one statement
// of one row with the values of many. The driver does not know them; whether both ends do is said
// once, in the greeting and its answer.
//
// Invariants:
//   K1. Only what the server offered is asked for. A greeting that is not there whole, one of MySQL
//       and one in front of TLS offer nothing; then nothing is changed.

import { Socket } from 'node:net'

import { HEADER_BYTES } from './execute-packet.ts'

/** Behind its header and the protocol's version, the greeting has the server's, up to a zero. */
const VERSION_AT = HEADER_BYTES + 1
/** Places behind that zero. */
const CAPABILITIES_BEHIND = 14
const EXTENSIONS_BEHIND = 28
/** In what the driver answers. */
const ANSWER_CAPABILITIES_AT = HEADER_BYTES
const ANSWER_EXTENSIONS_AT = HEADER_BYTES + 28
/** A request for TLS ends where the answer goes on with a name. */
const ANSWER_BYTES_MIN = HEADER_BYTES + 33
/** Set by MySQL; where it is not, MariaDB's own capabilities stand in bytes that MySQL leaves. */
const IS_MYSQL = 1
const BULK = 4

/** A connection that is being made; as quick and as lasting as the driver's own. */
export function connectBulkSocket({ port, host }: { port: number; host: string }): BulkSocket {
  const socket = new BulkSocket()
  socket.once('data', (greeting: Buffer) => socket.greeted(greeting))
  socket.once('connect', () => socket.setKeepAlive(true))
  socket.setNoDelay(true)
  return socket.connect(port, host)
}

export class BulkSocket extends Socket {
  #isOffered = false
  #isAgreed = false
  #isAnswered = false

  /** True once the server has been told that it may get bulk executions. */
  get isBulk(): boolean {
    return this.#isAgreed
  }

  /** Called with the first that the server says. */
  greeted(greeting: Buffer): void {
    this.#isOffered = offersBulk(greeting) // K1
  }

  override _write(
    chunk: unknown,
    encoding: BufferEncoding,
    written: (error?: Error | null) => void,
  ): void {
    if (!this.#isAnswered && Buffer.isBuffer(chunk)) this.#answer(chunk)
    super._write(chunk, encoding, written)
  }

  /** The first that the driver says. */
  #answer(answer: Buffer): void {
    this.#isAnswered = true
    if (!this.#isOffered || answer.length < ANSWER_BYTES_MIN) return // K1
    if (((answer[ANSWER_CAPABILITIES_AT] ?? IS_MYSQL) & IS_MYSQL) !== 0) return // K1
    answer[ANSWER_EXTENSIONS_AT] = (answer[ANSWER_EXTENSIONS_AT] ?? 0) | BULK
    this.#isAgreed = true
  }
}

function offersBulk(greeting: Buffer): boolean {
  const zero = greeting.indexOf(0, VERSION_AT)
  if (zero < 0) return false
  const capabilities = greeting[zero + CAPABILITIES_BEHIND] ?? IS_MYSQL
  const extensions = greeting[zero + EXTENSIONS_BEHIND] ?? 0
  return (capabilities & IS_MYSQL) === 0 && (extensions & BULK) !== 0
}
