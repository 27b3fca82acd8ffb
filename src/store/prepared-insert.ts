// An INSERT of many rows in the binary protocol, made before the server can take it.
//
// The driver makes one when its turn has come, while the server waits, and an object of each value.
// To do without saves a sixth of what the engine's thread does for a submission. The driver still
// prepares the statement, keeps the order of commands and reads packets.
//
// Invariants:
//   P1. Room is used again only once the server has answered: until then the socket may hold it.
//   P2. An answer is read as the driver reads it: its errors are the driver's own.

import { ExecutePacket } from './execute-packet.ts'
import type { Changes, Insert } from './session.ts'

/** What of mysql2's connection is used. `addCommand` is not documented; the version is pinned. */
export interface PreparingConnection {
  prepare(
    sql: string,
    answer: (error: Error | null, statement: { readonly id: number }) => void,
  ): void
  addCommand(command: Command): void
  writePacket(packet: OutgoingPacket): void
  readonly clientEncoding: string
}

/** What the driver sends. */
interface OutgoingPacket {
  readonly buffer: Buffer
  /** Bytes without the header. */
  length(): number
  writeHeader(sequenceId: number): void
}

/** What the driver received. */
interface IncomingPacket {
  isError(): boolean
  asError(encoding: string): Error
  readInt8(): number
  readLengthCodedNumber(): number
  readLengthCodedNumberSigned(): number
}

/** What the driver calls: without a packet when the command's turn has come, then with each one. */
interface Command {
  /** True: the command is over. */
  execute(packet: IncomingPacket | undefined, connection: PreparingConnection): boolean
  /** The connection broke. */
  onResult(error: Error): void
}

/** Room that is kept for the next statement: one is made while another is under way. */
const ROOMS_MAX = 2
const ROOM_BYTES_MIN = 2 ** 16
const ROOM_BYTES_MAX = 2 ** 21

/** Makes executions of prepared statements. */
export class PreparedInserts {
  /** Of executions that are over. (P1) */
  readonly #rooms: Buffer[] = []

  /**
   * A statement with its values; what is given sends it. Call that once. `isBulk`: the connection
   * takes bulk executions, for which the statement has one row.
   */
  make(
    { sqlFor, rows, values }: Insert,
    isBulk: boolean,
  ): (connection: PreparingConnection) => Promise<Changes> {
    const packet = new ExecutePacket(this.#rooms.pop() ?? Buffer.allocUnsafeSlow(ROOM_BYTES_MIN))
    const sql = sqlFor(isBulk ? 1 : rows)
    if (isBulk) packet.writeRows(values, values.length / rows)
    else packet.write(values)
    return (connection) =>
      new Promise((resolve, reject) => {
        connection.prepare(sql, (error, statement) => {
          if (error !== null) return reject(error)
          packet.address(statement.id)
          // The driver begins it once it is done with preparing, at the first sequence number.
          return connection.addCommand(
            new Execution(packet, {
              answered: (outcome) => {
                this.#giveBack(packet.room)
                if (outcome instanceof Error) reject(outcome)
                else resolve(outcome)
              },
              broken: reject,
            }),
          )
        })
      })
  }

  #giveBack(room: Buffer): void {
    if (this.#rooms.length < ROOMS_MAX && room.length <= ROOM_BYTES_MAX) this.#rooms.push(room)
  }
}

interface Endings {
  readonly answered: (outcome: Changes | Error) => void
  readonly broken: (error: Error) => void
}

/** One execution of a statement, as the driver has it among its commands. */
class Execution implements Command {
  readonly #packet: ExecutePacket
  readonly #endings: Endings

  constructor(packet: ExecutePacket, endings: Endings) {
    this.#packet = packet
    this.#endings = endings
  }

  execute(packet: IncomingPacket | undefined, connection: PreparingConnection): boolean {
    if (packet === undefined) {
      connection.writePacket(this.#packet)
      return false
    }
    const outcome = packet.isError() ? packet.asError(connection.clientEncoding) : changesOf(packet)
    this.#endings.answered(outcome) // P2
    return true
  }

  /** The socket may hold the packet for longer. (P1) */
  onResult(error: Error): void {
    this.#endings.broken(error)
  }
}

function changesOf(packet: IncomingPacket): Changes {
  packet.readInt8()
  const affected = packet.readLengthCodedNumber()
  return { affected, raw: { insertId: packet.readLengthCodedNumberSigned() } }
}
