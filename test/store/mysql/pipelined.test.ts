import test from 'ava'

import type { Value } from '#src/store/dialect'
import type { OpenConnection } from '#src/store/mysql/wire/driver'
import { PipelinedExecutions, Rooms } from '#src/store/mysql/wire/pipelined'
import { sharedMariaDb } from '#test/support/mariadb'
import { openNotes, rowsFor } from '#test/support/mysql-notes'

const mariaDb = sharedMariaDb()

/** Values of one column, a row each. */
type Column = readonly Value[]

const { MAX_SAFE_INTEGER, MIN_SAFE_INTEGER } = Number
const POWERS = [8, 16, 31, 32, 33, 52].flatMap((bits) => [2 ** bits - 1, 2 ** bits])
const INTEGERS: Column = [
  ...POWERS.flatMap((power) => [power, -power]),
  0,
  1,
  MAX_SAFE_INTEGER,
  MIN_SAFE_INTEGER,
  null,
]
const FRACTIONS: Column = [0.5, -1.25, 1e300, 2 ** 53, -(2 ** 60), null, 3]
/** Around every length at which the length itself takes more bytes. */
const LENGTHS = [0, 1, 82, 83, 84, 250, 251, 252, 21_844, 21_845, 21_846, 65_535, 65_536, 300_000]
const TEXTS: Column = [
  "it's \\ \u0000 \t\n",
  null,
  ...LENGTHS.flatMap((length) => ['x', 'ü', '水', '🔥'].map((one) => one.repeat(length))),
]

/** A column whose values need several types on the wire. */
const MIXED: Column = [1, null, 2.5, MAX_SAFE_INTEGER]
const SPELT: Column = ['x', 7, null, 2.5, -3]
const NOTHING: Column = [null]
const COLUMNS = [INTEGERS, FRACTIONS, TEXTS, MIXED, SPELT, NOTHING]
const asText = (value: Value): Value => (value === null ? null : String(value))

/** Rows that have every value of every column at least once, and a number in front. */
const rowsOf = (columns: readonly Column[]): readonly (readonly Value[])[] =>
  Array.from({ length: Math.max(...columns.map(({ length }) => length)) }, (_, row) => [
    row,
    ...columns.map((column) => column[row % column.length] ?? null),
  ])

mariaDb.test('inserted rows read back unchanged', async (t, server) => {
  const { database } = await openNotes(t, server)
  await database.read((executor) =>
    executor.run(
      `CREATE TABLE kinds (id bigint PRIMARY KEY, a bigint, b double, c mediumtext, d double,
          e varchar(99), f varchar(9)) CHARACTER SET utf8mb4`,
    ),
  )
  const rows = rowsOf(COLUMNS)
  await database.durable(async (executor) => {
    const { affected } = await executor.make(rowsFor('kinds', rows))()
    t.is(affected, rows.length)
  })
  const read = await database.read((executor) =>
    executor.all<Record<string, Value>>('SELECT * FROM kinds ORDER BY id'),
  )
  const written = rowsOf(COLUMNS.with(COLUMNS.indexOf(SPELT), SPELT.map(asText)))
  t.is(read.length, written.length)
  for (const [index, row] of read.entries()) {
    t.true(
      Object.values(row).every((value, column) => value === written[index]?.[column]),
      `${index}`,
    )
  }
})

type Command = Parameters<OpenConnection['addCommand']>[0]

/** Ends what the driver has to send in two packets. */
const LARGE = 'L'

/** The driver's connection: one command at a time; the test answers in the server's place. */
class FakeConnection implements OpenConnection {
  readonly clientEncoding = 'utf8'
  readonly rooms: ArrayBufferLike[] = []
  readonly sent: Buffer[] = []
  /** The number that each packet had. */
  readonly numbers: number[] = []
  sequenceId = 9
  execute(): void {}
  destroy(): void {}
  refusal: Error | null = null
  readonly #commands: Command[] = []
  /** The number that each answer will have. */
  readonly #answers: number[] = []

  /** Asked of the server, as every statement is that was not prepared before. */
  prepare(
    _sql: string,
    answer: (error: Error | null, statement: { readonly id: number }) => void,
  ): void {
    this.addCommand({
      execute: (packet) => {
        if (packet === undefined) {
          this.sequenceId = 1
          this.#answers.push(1)
          return false
        }
        answer(this.refusal, { id: 7 })
        return true
      },
      onResult: (error) => answer(error, { id: 0 }),
    })
  }

  writePacket(packet: Parameters<OpenConnection['writePacket']>[0]): void {
    this.rooms.push(packet.buffer.buffer)
    this.sent.push(Buffer.from(packet.buffer))
    this.numbers.push(this.sequenceId)
    this.sequenceId += packet.buffer.at(-1) === LARGE.charCodeAt(0) ? 2 : 1
    this.#answers.push(this.sequenceId)
  }

  addCommand(command: Command): void {
    this.#commands.push(command)
    if (this.#commands.length === 1) this.#begin()
  }

  #begin(): void {
    while (this.#commands[0]?.execute(undefined, this) === true) this.#commands.shift()
  }

  /** The server says of the oldest command that it is done, or why not. */
  answer(error?: Error): void {
    const number = this.#answers.shift()
    if (this.sequenceId !== number) throw new Error(`${number} is not ${this.sequenceId}`)
    const numbers = [1, 0]
    const isOver = this.#commands[0]?.execute(
      {
        isError: () => error !== undefined,
        asError: () => error ?? new Error('none'),
        readInt8: () => 0,
        readLengthCodedNumber: () => numbers.shift() ?? 0,
        readLengthCodedNumberSigned: () => numbers.shift() ?? 0,
      },
      this,
    )
    if (isOver !== true) throw new Error('the command goes on')
    this.#commands.shift()
    this.sequenceId = 0
    this.#begin()
  }

  /** The connection is gone. */
  breakDown(): void {
    for (const command of this.#commands.splice(0)) command.onResult(new Error('gone'))
    this.#answers.length = 0
  }
}

/** A line whose first statement is prepared and over. */
async function openLine() {
  const connection = new FakeConnection()
  const line = new PipelinedExecutions(connection, new Rooms())
  const send = (text = 'x', sql = 'INSERT'): Promise<unknown> =>
    line.make({ sql, rows: 1, values: [text] })()
  const first = send()
  connection.answer()
  connection.answer()
  await first
  connection.sent.length = 0
  connection.numbers.length = 0
  connection.rooms.length = 0
  const texts = (): string[] => connection.sent.map((sent) => sent.toString().slice(-1))
  return { connection, line, send, texts }
}

test('pipelined/3: a direct follower is sent before the one in front is answered', async (t) => {
  const { connection, send, texts } = await openLine()
  const all = [send('a'), send('b'), send(LARGE)]
  t.deepEqual(texts(), ['a', 'b', LARGE])
  t.deepEqual(connection.numbers, [0, 0, 0])
  for (const answer of all) {
    connection.answer()
    await t.notThrowsAsync(answer)
  }
  t.is(texts().length, 3)
})

test('pipelined/3: a follower is sent together with one that had to wait', async (t) => {
  const { connection, send, texts } = await openLine()
  connection.prepare('SELECT', () => {})
  const all = [send('a'), send('b'), send('c')]
  t.deepEqual(texts(), [])
  connection.answer()
  t.deepEqual(texts(), ['a', 'b', 'c'])
  for (const _ of all) connection.answer()
  await t.notThrowsAsync(Promise.all(all))
})

type Line = Awaited<ReturnType<typeof openLine>>

const IN_BETWEEN: Readonly<Record<string, (line: Line) => Promise<unknown>>> = {
  'a statement of the driver itself': ({ connection, line, send }) => {
    line.interrupt()
    connection.prepare('SELECT', () => {})
    return send('b')
  },
  'the preparation of a new statement': ({ send }) => send('b', 'UPDATE'),
}
for (const [what, ask] of Object.entries(IN_BETWEEN)) {
  test(`pipelined/3: ${what} in between is not overtaken`, async (t) => {
    const opened = await openLine()
    const { connection, send, texts } = opened
    const all = [send('a'), ask(opened), send('c')]
    t.deepEqual(texts(), ['a'])
    connection.answer()
    t.deepEqual(texts(), ['a'])
    connection.answer()
    t.deepEqual(texts(), ['a', 'b', 'c'])
    connection.answer()
    connection.answer()
    await t.notThrowsAsync(Promise.all(all))
  })
}

test('pipelined/2: an error is of the execution that it answers', async (t) => {
  const { connection, send } = await openLine()
  const [first, second] = [send('a'), send('b')]
  connection.answer()
  connection.answer(new Error('no room'))
  await t.notThrowsAsync(first)
  await t.throwsAsync(second, { message: 'no room' })
})

test('pipelined/1: room is used again once the server has answered, and not before', async (t) => {
  const { connection, send } = await openLine()
  const [first, second] = [send(), send()]
  connection.answer()
  await first
  const third = send()
  connection.breakDown()
  await t.throwsAsync(second, { message: 'gone' })
  await t.throwsAsync(third, { message: 'gone' })
  void send()
  const [one, two, three, four] = connection.rooms
  t.is(connection.rooms.length, 4)
  t.not(two, one, 'the first waits for its answer')
  t.is(three, one, 'the first is answered')
  t.false([one, two].includes(four), 'a broken connection may hold what it was given')
})

test('a statement that cannot be prepared is not sent, and later ones are', async (t) => {
  const { connection, send, texts } = await openLine()
  connection.refusal = new Error('no such table')
  const [refused, next] = [send('a', 'UPDATE'), send('b')]
  connection.answer()
  t.is(await t.throwsAsync(refused), connection.refusal)
  t.deepEqual(texts(), ['b'])
  connection.answer()
  await t.notThrowsAsync(next)
})

test('a statement prepared on a broken connection is not sent', async (t) => {
  const { connection, send, texts } = await openLine()
  const sent = send('a', 'UPDATE')
  connection.breakDown()
  await t.throwsAsync(sent, { message: 'gone' })
  t.deepEqual(texts(), [])
})
