// An execution of a prepared statement as a packet of MySQL's binary protocol.

import type { Value } from '#src/store/dialect'

/** Bytes in front of every packet: its length and its number. */
const HEADER_BYTES = 4
const COMMAND_EXECUTE = 0x17
const ID_AT = HEADER_BYTES + 1
/** The offset behind the id and the cursor's flags. */
const EXECUTIONS_AT = ID_AT + 4 + 1
const PARAMETERS_AT = EXECUTIONS_AT + 4
const TYPE = { double: 5, null: 6, integer: 8, bytes: 252, text: 253 } as const
const TYPE_BYTES = 2
const NUMBER_BYTES = 8
const UTF8_BYTES_MAX = 3
/**
 * Up to these numbers of characters, a text's length takes one or two bytes, whatever the
 * characters.
 */
const SHORT_MAX = Math.floor(250 / UTF8_BYTES_MAX)
const MEDIUM_MAX = Math.floor(0xffff / UTF8_BYTES_MAX)
const LENGTH_BYTES_MAX = 9
const TWO_TO_32 = 2 ** 32

type Type = (typeof TYPE)[keyof typeof TYPE]

/** Writes the packet into a buffer, which it may replace with a larger one. */
export class ExecutePacket {
  room: Buffer
  #at = PARAMETERS_AT

  constructor(room: Buffer) {
    this.room = room
  }

  get buffer(): Buffer {
    return this.room.subarray(0, this.#at)
  }

  /** Bytes without the header. */
  length(): number {
    return this.#at - HEADER_BYTES
  }

  writeHeader(sequenceId: number): void {
    this.room.writeUIntLE(this.length(), 0, 3)
    this.room[3] = sequenceId
  }

  address(statementId: number): void {
    this.room.writeUInt32LE(statementId, ID_AT)
  }

  /** Writes one execution with these parameters. */
  write(parameters: readonly Value[]): void {
    const nullBytes = Math.ceil(parameters.length / 8)
    const typesAt = PARAMETERS_AT + nullBytes + 1
    const hasTypes = parameters.length > 0
    this.#begin(hasTypes ? typesAt + TYPE_BYTES * parameters.length : PARAMETERS_AT)
    this.room[EXECUTIONS_AT] = 1
    if (hasTypes) this.room[typesAt - 1] = 1 // The types follow.
    parameters.forEach((value, index) => {
      const type = typeOf(value)
      if (value === null) this.#setNull(index)
      else this.#append(type, value) // It may replace the buffer.
      this.room[typesAt + TYPE_BYTES * index] = type
    })
  }

  #begin(end: number): void {
    this.#at = end
    this.#need(0)
    this.room.fill(0, HEADER_BYTES, end)
    this.room[HEADER_BYTES] = COMMAND_EXECUTE
  }

  #setNull(index: number): void {
    const at = PARAMETERS_AT + (index >> 3)
    this.room[at] = (this.room[at] ?? 0) | (1 << (index & 7))
  }

  #append(type: Type, value: NonNullable<Value>): void {
    if (typeof value === 'string') return this.#appendText(value)
    if (typeof value !== 'number') return this.#appendBytes(value)
    this.#need(NUMBER_BYTES)
    const at = this.#at
    this.#at += NUMBER_BYTES
    if (type === TYPE.double) {
      this.room.writeDoubleLE(value, at)
      return undefined
    }
    const high = Math.floor(value / TWO_TO_32)
    this.room.writeUInt32LE(value - high * TWO_TO_32, at)
    this.room.writeInt32LE(high, at + 4)
    return undefined
  }

  #appendText(text: string): void {
    this.#need(LENGTH_BYTES_MAX + text.length * UTF8_BYTES_MAX)
    const { room } = this
    const at = this.#at
    if (text.length <= SHORT_MAX) {
      const bytes = room.write(text, at + 1)
      room[at] = bytes
      this.#at = at + 1 + bytes
    } else if (text.length <= MEDIUM_MAX) {
      const bytes = room.write(text, at + 3)
      room[at] = 0xfc
      room.writeUInt16LE(bytes, at + 1)
      this.#at = at + 3 + bytes
    } else {
      const bytes = room.write(text, at + LENGTH_BYTES_MAX)
      room[at] = 0xfe
      room.writeUInt32LE(bytes, at + 1)
      room.writeUInt32LE(0, at + 5)
      this.#at = at + LENGTH_BYTES_MAX + bytes
    }
  }

  #appendBytes(bytes: Uint8Array): void {
    this.#need(LENGTH_BYTES_MAX + bytes.length)
    this.#appendLength(bytes.length)
    this.room.set(bytes, this.#at)
    this.#at += bytes.length
  }

  #appendLength(bytes: number): void {
    const { room } = this
    const at = this.#at
    if (bytes <= 250) {
      room[at] = bytes
      this.#at = at + 1
    } else if (bytes <= 0xffff) {
      room[at] = 0xfc
      room.writeUInt16LE(bytes, at + 1)
      this.#at = at + 3
    } else {
      room[at] = 0xfe
      room.writeUInt32LE(bytes, at + 1)
      room.writeUInt32LE(0, at + 5)
      this.#at = at + LENGTH_BYTES_MAX
    }
  }

  #need(bytes: number): void {
    const size = this.#at + bytes
    if (size <= this.room.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(size, 2 * this.room.length))
    this.room.copy(larger)
    this.room = larger
  }
}

function typeOf(value: Value): Type {
  if (value === null) return TYPE.null
  if (typeof value === 'string') return TYPE.text
  if (typeof value !== 'number') return TYPE.bytes
  return Number.isSafeInteger(value) ? TYPE.integer : TYPE.double
}
