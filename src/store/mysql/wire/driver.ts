// The members of mysql2's connection that this folder uses. The undocumented ones stand in one list
// and in the types below, and nowhere else; the version of the driver is pinned.

import { Duplex } from 'node:stream'

/** Used to send executions without waiting. The driver documents none of them. */
export const UNDOCUMENTED = {
  connection: {
    /** Begins a command at once when none is under way, otherwise behind earlier ones. */
    addCommand: 'function',
    writePacket: 'function',
    /** The number of the next packet, sent or received, of the command under way. */
    sequenceId: 'number',
    clientEncoding: 'string',
  },
  /** Called by the driver; see Command. */
  command: { execute: 'function', onResult: 'function' },
  /** Called by the driver; see OutgoingPacket. */
  outgoing: { buffer: 'object', length: 'function', writeHeader: 'function' },
  incoming: {
    isError: 'function',
    asError: 'function',
    readInt8: 'function',
    readLengthCodedNumber: 'function',
    readLengthCodedNumberSigned: 'function',
  },
  statement: { id: 'number' },
} as const

/** Used to end a connection whose server is silent; when it is missing, `destroy` has to do. */
const SOCKET = 'stream'

/** The driver's connection, with its documented members. */
export interface DriverConnection {
  execute(
    sql: string,
    values: readonly unknown[],
    answer: (error: Error | null, result: unknown) => void,
  ): void
  prepare(
    sql: string,
    answer: (error: Error | null, statement: { readonly id: number }) => void,
  ): void
  destroy(): void
}

/** The same connection with its undocumented members. */
export interface OpenConnection extends DriverConnection {
  addCommand(command: Command): void
  writePacket(packet: OutgoingPacket): void
  sequenceId: number
  readonly clientEncoding: string
}

/** A packet as the driver sends it. */
interface OutgoingPacket {
  readonly buffer: Buffer
  /** Bytes without the header. */
  length(): number
  writeHeader(sequenceId: number): void
}

/** A packet as the driver received it. */
export interface IncomingPacket {
  isError(): boolean
  asError(encoding: string): Error
  readInt8(): number
  readLengthCodedNumber(): number
  readLengthCodedNumberSigned(): number
}

/** A command as the driver calls it: without a packet at the beginning, then with each packet. */
export interface Command {
  /** True when the command is over. */
  execute(packet: IncomingPacket | undefined, connection: OpenConnection): boolean
  /** Called when the connection broke. */
  onResult(error: Error): void
}

/** True when a connection has every undocumented member of the list. */
export function isOpen(connection: DriverConnection): connection is OpenConnection {
  return Object.entries(UNDOCUMENTED.connection).every(
    ([name, type]) => typeof Reflect.get(connection, name) === type,
  )
}

export const isDriverConnection = (value: unknown): value is DriverConnection =>
  typeof value === 'object' && value !== null && 'prepare' in value && 'execute' in value

/** Destroys a connection: a silent server would not hear its proper end either. */
export function discardConnection(connection: DriverConnection): void {
  connection.destroy()
  const socket: unknown = Reflect.get(connection, SOCKET)
  if (socket instanceof Duplex) socket.destroy()
}
