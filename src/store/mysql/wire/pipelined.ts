// Executions of prepared statements in the binary protocol: made before the server can take them,
// and sent before it has answered earlier ones.
//
// The driver makes an execution when it may be sent, while the server waits, and an object for each
// value. Doing without saves a sixth of the engine thread's work for a submission. The driver also
// sends an execution only once the one before is answered; on busy cores both ends then mostly wait
// for each other. The driver still prepares statements, keeps the order of commands and reads
// packets.
//
// Invariants:
//   pipelined/1. A buffer is used again only once the server has answered: until then the socket
//     may hold it.
//   pipelined/2. An answer is read as the driver reads it: its errors are the driver's own.
//   pipelined/3. An execution that is sent ahead stands directly behind the ones already sent:
//     nothing overtakes another command of the connection.
//   pipelined/4. A driver that does not work as this file needs it fails the execution, not the
//     process: nobody catches an error thrown into the driver.

import type { Command, IncomingPacket, OpenConnection } from './driver.ts'
import { ExecutePacket } from './execute-packet.ts'
import type { Executions } from './executions.ts'
import type { Changes, RowsStatement, Send } from '#src/store/jobs/executor'

/** Buffers that are kept for later statements. */
const ROOMS_MAX = 8
const ROOM_BYTES_MIN = 2 ** 16
const ROOM_BYTES_MAX = 2 ** 21

/** Buffers of executions that are over. (pipelined/1) */
export class Rooms {
  readonly #free: Buffer[] = []

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(ROOM_BYTES_MIN)
  }

  giveBack(room: Buffer): void {
    if (this.#free.length < ROOMS_MAX && room.length <= ROOM_BYTES_MAX) this.#free.push(room)
  }
}

/** The executions of one connection, in order. */
export class PipelinedExecutions implements Executions {
  readonly #connection: OpenConnection
  readonly #rooms: Rooms
  /** Ids of statements by their texts, which are few. (bulk/1) */
  readonly #statementIds = new Map<string, number>()
  /** The newest execution, while it is not over and no other command followed it. (pipelined/3) */
  #newest: Execution | undefined

  constructor(connection: OpenConnection, rooms: Rooms) {
    this.#connection = connection
    this.#rooms = rooms
  }

  make({ sql, values }: RowsStatement): Send {
    const packet = new ExecutePacket(this.#rooms.take())
    packet.write(values)
    return () =>
      new Promise((resolve, reject) => {
        const execution = new Execution(packet, {
          answered: (outcome) => {
            this.#forget(execution)
            this.#rooms.giveBack(packet.room)
            if (outcome instanceof Error) reject(outcome)
            else resolve(outcome)
          },
          broken: (error) => {
            this.#forget(execution)
            reject(error)
          },
        })
        this.#send(sql, execution)
      })
  }

  /** pipelined/3 */
  interrupt(): void {
    this.#newest = undefined
  }

  #send(sql: string, execution: Execution): void {
    const statementId = this.#statementIds.get(sql)
    if (statementId === undefined) {
      this.interrupt()
      this.#prepare(sql, execution)
    } else execution.address(statementId)
    const before = this.#newest
    this.#newest = execution
    this.#connection.addCommand(execution)
    before?.isFollowedBy(execution, this.#connection)
  }

  #prepare(sql: string, execution: Execution): void {
    this.#connection.prepare(sql, (error, statement) => {
      if (error !== null) return execution.refuse(error)
      if (typeof statement.id !== 'number') return execution.refuse(changedDriver()) // pipelined/4
      this.#statementIds.set(sql, statement.id)
      return execution.address(statement.id)
    })
  }

  #forget(execution: Execution): void {
    if (this.#newest === execution) this.#newest = undefined
  }
}

interface Endings {
  readonly answered: (outcome: Changes | Error) => void
  readonly broken: (error: Error) => void
}

/** One execution of a statement: one of the driver's commands. */
class Execution implements Command {
  readonly #packet: ExecutePacket
  readonly #endings: Endings
  #refusal: Error | undefined
  #next: Execution | undefined
  /** The packet number of its answer, once it is sent. */
  #answerId: number | undefined

  constructor(packet: ExecutePacket, endings: Endings) {
    this.#packet = packet
    this.#endings = endings
  }

  /** Sets the id of the prepared statement. */
  address(statementId: number): void {
    this.#packet.address(statementId)
  }

  /** Refuses the execution, because there is no statement: nothing is sent. */
  refuse(error: Error): void {
    this.#refusal = error
  }

  /** Sets `next`, which has its statement, as the direct follower of this one. (pipelined/3) */
  isFollowedBy(next: Execution, connection: OpenConnection): void {
    if (this.#answerId === undefined) this.#next = next
    else next.sendAhead(connection)
  }

  execute(packet: IncomingPacket | undefined, connection: OpenConnection): boolean {
    try {
      if (packet === undefined) return this.#begin(connection)
      const isRefused = packet.isError()
      this.#endings.answered(
        isRefused ? packet.asError(connection.clientEncoding) : changesOf(packet), // pipelined/2
      )
    } catch (error) {
      this.#endings.broken(changedDriver(error)) // pipelined/4
    }
    return true
  }

  /**
   * The connection broke. The socket may hold the packet for longer, so its buffer is not reused.
   * (pipelined/1)
   */
  onResult(error: Error): void {
    this.#endings.broken(error)
  }

  /** Called when the driver begins this command. */
  #begin(connection: OpenConnection): boolean {
    if (this.#refusal !== undefined) {
      this.#endings.answered(this.#refusal)
      return true
    }
    if (this.#answerId === undefined) {
      this.#send(connection)
      this.#next?.sendAhead(connection)
    } else connection.sequenceId = this.#answerId
    return false
  }

  /**
   * Sends before the driver begins this command. The driver's packet count belongs to the command
   * under way.
   */
  sendAhead(connection: OpenConnection): void {
    const { sequenceId } = connection
    this.#send(connection)
    connection.sequenceId = sequenceId
    this.#next?.sendAhead(connection)
  }

  #send(connection: OpenConnection): void {
    connection.sequenceId = 0
    connection.writePacket(this.#packet)
    this.#answerId = connection.sequenceId
  }
}

const changedDriver = (error?: unknown): Error =>
  new Error('the driver of the database does not take packets of ours', { cause: error })

function changesOf(packet: IncomingPacket): Changes {
  packet.readInt8()
  const affected = packet.readLengthCodedNumber()
  return { affected, raw: { insertId: packet.readLengthCodedNumberSigned() } }
}
