import test from 'ava'

import type { Value } from '#src/store/dialect'
import { PreparedInserts } from '#src/store/prepared-insert'
import type { PreparingConnection } from '#src/store/prepared-insert'
import type { Insert } from '#src/store/session'
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

for (const withoutBulk of [false, true]) {
  const how = withoutBulk ? 'in one execution' : 'in a bulk execution'
  mariaDb.test(`what is inserted ${how} is read as it was`, async (t, server) => {
    const { database } = await openNotes(t, server, { withoutBulk })
    await database.read((session) =>
      session.run(
        `CREATE TABLE kinds (id bigint PRIMARY KEY, a bigint, b double, c mediumtext, d double,
          e varchar(99), f varchar(9)) CHARACTER SET utf8mb4`,
      ),
    )
    const rows = rowsOf(COLUMNS)
    await database.durable(async (session) => {
      t.is(session.insertSizes.arePowersOfTwo, withoutBulk)
      const { affected } = await session.insert(rowsFor('kinds', rows))()
      t.is(affected, rows.length)
    })
    const read = await database.read((session) =>
      session.all<Record<string, Value>>('SELECT * FROM kinds ORDER BY id'),
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
}

const ONE: Insert = { sqlFor: () => 'INSERT', rows: 1, values: [1] }

/** The driver's connection, which does each thing when the test says so. */
class FakeConnection implements PreparingConnection {
  readonly clientEncoding = 'utf8'
  readonly rooms: ArrayBufferLike[] = []
  readonly sent: Buffer[] = []
  #command: Parameters<PreparingConnection['addCommand']>[0] | undefined

  refusal: Error | null = null

  readonly prepare: PreparingConnection['prepare'] = (_, answer) => answer(this.refusal, { id: 7 })

  readonly writePacket: PreparingConnection['writePacket'] = (packet) => {
    this.rooms.push(packet.buffer.buffer)
    this.sent.push(Buffer.from(packet.buffer))
  }

  readonly addCommand: PreparingConnection['addCommand'] = (command) => {
    this.#command = command
    command.execute(undefined, this)
  }

  /** The server says that a row is written. */
  answer(): void {
    const numbers = [1, 0]
    const over = this.#command?.execute(
      {
        isError: () => false,
        asError: () => new Error('none'),
        readInt8: () => 0,
        readLengthCodedNumber: () => numbers.shift() ?? 0,
        readLengthCodedNumberSigned: () => numbers.shift() ?? 0,
      },
      this,
    )
    if (over !== true) throw new Error('the command goes on')
  }

  /** The connection is gone. */
  breakDown(): void {
    this.#command?.onResult(new Error('gone'))
  }
}

test('P1: room is used again once the server has answered, and not before', async (t) => {
  const connection = new FakeConnection()
  const inserts = new PreparedInserts()
  const send = (): Promise<unknown> => inserts.make(ONE, false)(connection)
  const first = send()
  const second = send()
  connection.answer()
  await second
  const third = send()
  connection.breakDown()
  await t.throwsAsync(third, { message: 'gone' })
  void send()
  const [one, two, three, four] = connection.rooms
  t.is(connection.rooms.length, 4)
  t.not(two, one, 'the first waits for its answer')
  t.is(three, two, 'the second is answered')
  t.not(four, three, 'a broken connection may hold what it was given')
  void first
})

test('room is made for values that are nothing', (t) => {
  const connection = new FakeConnection()
  const rows = 2 ** 17
  const nothing = { sqlFor: () => 'INSERT', rows, values: Array<null>(rows).fill(null) }
  void new PreparedInserts().make(nothing, true)(connection)
  const [sent = Buffer.alloc(0)] = connection.sent
  t.deepEqual([...new Set(sent.subarray(-rows))], [1])
})

test('a statement that cannot be prepared is not sent', async (t) => {
  const connection = new FakeConnection()
  connection.refusal = new Error('no such table')
  const sent = new PreparedInserts().make(ONE, false)(connection)
  t.is(await t.throwsAsync(sent), connection.refusal)
  t.is(connection.rooms.length, 0)
})
