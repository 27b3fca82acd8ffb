import test from 'ava'
import type { EntitySchemaColumnOptions } from 'typeorm'

import { Bulk, inChunks, runAll } from '#src/store/statements/bulk'
import type { Changes, RowsStatement, Executor, StatementLimits } from '#src/store/jobs/executor'
import type { Dialect, Value } from '#src/store/dialect'
import { turn, until } from '#test/support/until'

const POWERS: StatementLimits = { rowsMax: 128, underWayMax: 1 }

/** An executor that keeps what it is asked to run. */
function recording() {
  const statements: { sql: string; parameters: readonly Value[] }[] = []
  const run: Executor['run'] = async (sql, parameters = []) => {
    statements.push({ sql, parameters })
    return { affected: 0, raw: statements.length }
  }
  const make: Executor['make'] =
    ({ sql, values }) =>
    () =>
      run(sql, values)
  const dialect = { insertInto: 'INSERT INTO' } as Dialect
  return { statements, executor: { run, make, limits: POWERS, dialect } as Executor }
}

type Row = { readonly key: number; readonly text: string | null }

const ENTITY = {
  options: {
    name: 'notes',
    columns: {
      id: { type: 'integer', generated: 'increment' },
      key: { type: 'integer', name: 'note_key' },
      text: { type: 'text' },
      later: { type: 'integer', default: 0 },
    } satisfies Readonly<Record<string, EntitySchemaColumnOptions>>,
  },
}

const rowsOf = (count: number): Row[] =>
  Array.from({ length: count }, (_, key) => ({ key, text: key % 2 === 0 ? null : 'odd' }))

test('bulk/1: rows are written in order, in statements whose sizes are powers of two', async (t) => {
  const bulk = Bulk.of<Row>(ENTITY, { leftOut: ['later'], onDuplicate: 'OR NOT' })
  const cases: [rows: number, sizes: number[]][] = [
    [0, []],
    [1, [1]],
    [3, [1, 2]],
    [127, [1, 2, 4, 8, 16, 32, 64]],
    [128, [128]],
    [129, [1, 128]],
    [300, [4, 8, 32, 128, 128]],
  ]
  for (const [count, sizes] of cases) {
    const { executor, statements } = recording()
    const told: unknown[] = []
    await bulk.write(executor, rowsOf(count), (raw, size) => told.push([raw, size]))
    t.deepEqual(
      statements.map(({ parameters }) => parameters.length / 2),
      sizes,
    )
    t.deepEqual(
      told,
      sizes.map((size, index) => [index + 1, size]),
    )
    t.deepEqual(
      statements.flatMap(({ parameters }) => parameters),
      rowsOf(count).flatMap(({ key, text }) => [key, text]),
    )
  }
})

test('bulk/1: a statement carries about a mebibyte of text, but always a row', async (t) => {
  const KIB_256 = 'x'.repeat(2 ** 18)
  const cases: [lengths: number[], sizes: number[]][] = [
    [Array<number>(9).fill(1), [1, 4, 4]],
    [
      [1, 1, 1],
      [1, 2],
    ],
    [
      [9, 9, 0, 0, 0],
      [1, 1, 1, 2],
    ],
    [
      [0, 0, 9, 0],
      [2, 1, 1],
    ],
    [
      [2, 1, 1, 1],
      [2, 2],
    ],
  ]
  for (const [lengths, sizes] of cases) {
    const { executor, statements } = recording()
    const rows = lengths.map((length, key) => ({ key, text: KIB_256.repeat(length) }))
    await Bulk.of<Row>(ENTITY, { leftOut: ['later'] }).write(executor, rows)
    t.deepEqual(
      statements.map(({ parameters }) => parameters.length / 2),
      sizes,
      lengths.join(),
    )
  }
})

/** An executor whose statements are answered by the test. */
function waiting(underWayMax = 1) {
  const made: number[] = []
  const statements: { readonly rows: number; readonly answer: PromiseWithResolvers<Changes> }[] = []
  const make: Executor['make'] = ({ rows }) => {
    made.push(rows)
    return () => {
      const answer = Promise.withResolvers<Changes>()
      statements.push({ rows, answer })
      return answer.promise
    }
  }
  const dialect = { insertInto: 'INSERT INTO' } as Dialect
  return {
    made,
    statements,
    executor: { make, limits: { ...POWERS, underWayMax }, dialect } as Executor,
  }
}

const ANSWER: Changes = { affected: 0, raw: undefined }

/** Three rows, whose values are read one by one. */
function readOneByOne(throwsAt = Infinity) {
  let read = 0
  const bulk = new Bulk<Row>(
    ENTITY,
    {
      key: ({ key }) => {
        if (read === throwsAt) throw new Error('cannot be read')
        read += 1
        return key
      },
      text: ({ text }) => text,
    },
    { leftOut: ['later'] },
  )
  return { bulk, read: () => read }
}

test('bulk/2: a statement is made while the server works on the one before, and sent after it', async (t) => {
  const { made, statements, executor } = waiting()
  const { bulk, read } = readOneByOne()
  const written = bulk.write(executor, rowsOf(3))
  t.deepEqual([statements.map(({ rows }) => rows), read(), made], [[1], 3, [1, 2]])
  await turn()
  t.is(statements.length, 1)
  statements[0]?.answer.resolve(ANSWER)
  await until('the next is sent', () => statements.length === 2)
  statements[1]?.answer.resolve(ANSWER)
  await t.notThrowsAsync(written)
})

test("bulk/2: before the first answer the executor's number of statements is sent", async (t) => {
  const { statements, executor } = waiting(3)
  const written = Bulk.of<Row>(ENTITY, { leftOut: ['later'] }).write(executor, rowsOf(31))
  const sent = (): number[] => statements.map(({ rows }) => rows)
  t.deepEqual(sent(), [1, 2, 4])
  statements[0]?.answer.resolve(ANSWER)
  await until('the next is sent', () => statements.length === 4)
  await turn()
  t.deepEqual(sent(), [1, 2, 4, 8])
  for (let at = 1; at < 5; at += 1) {
    await until('it is sent', () => statements.length > at)
    statements[at]?.answer.resolve(ANSWER)
  }
  await t.notThrowsAsync(written)
  t.deepEqual(sent(), [1, 2, 4, 8, 16])
})

const MOVE: RowsStatement = { sql: 'MOVE', rows: 2, values: [], mustChange: 2 }
const BEHIND: RowsStatement = { sql: 'WRITE', rows: 1, values: [] }

test('nothing follows a statement that does not change the rows that it must', async (t) => {
  for (const [changed, isDone] of [
    [1, false],
    [2, true],
    [3, false],
  ] as const) {
    for (const underWayMax of [1, 2]) {
      const { statements, executor } = waiting(underWayMax)
      const done = runAll(executor, [MOVE, BEHIND, BEHIND])
      statements[0]?.answer.resolve({ affected: changed, raw: undefined })
      await turn()
      for (const at of isDone ? [1, 2] : []) {
        await until('it is sent', () => statements.length > at)
        statements[at]?.answer.resolve(ANSWER)
      }
      t.is(await done, isDone)
      if (!isDone) t.is(statements.length, underWayMax)
    }
  }
})

test('the first of several failures decides the outcome', async (t) => {
  const { statements, executor } = waiting(3)
  const done = runAll(executor, [MOVE, BEHIND, BEHIND])
  statements[2]?.answer.reject(new Error('last'))
  statements[1]?.answer.reject(new Error('later'))
  statements[0]?.answer.resolve({ affected: 0, raw: undefined })
  t.false(await done)
})

test('a statement that fails is the last one', async (t) => {
  const { statements, executor } = waiting()
  const written = readOneByOne().bulk.write(executor, rowsOf(3))
  statements[0]?.answer.reject(new Error('refused'))
  await t.throwsAsync(written, { message: 'refused' })
  t.is(statements.length, 1)
})

test('a statement that cannot be made fails alone, whatever the one before does', async (t) => {
  const { statements, executor } = waiting()
  const written = readOneByOne(1).bulk.write(executor, rowsOf(3))
  await t.throwsAsync(written, { message: 'cannot be read' })
  statements[0]?.answer.reject(new Error('refused'))
  await turn()
  t.is(statements.length, 1)
})

test('a statement names the columns that the entity declares, less those left out', async (t) => {
  const { executor, statements } = recording()
  await Bulk.of<Row>(ENTITY, { leftOut: ['later'] }).write(executor, rowsOf(2))
  t.is(statements[0]?.sql, 'INSERT INTO notes (note_key, text) VALUES (?, ?), (?, ?)')
  await Bulk.of(ENTITY, { onDuplicate: 'DO IT' }).write(executor, [{ key: 1, text: 'a', later: 3 }])
  t.is(statements[1]?.sql, 'INSERT INTO notes (note_key, text, later) VALUES (?, ?, ?) DO IT')
  t.deepEqual(statements[1]?.parameters, [1, 'a', 3])
})

test('lists of values are filled up to the same few sizes', async (t) => {
  const lists: string[] = []
  const values: Value[] = []
  await inChunks([1, 2, 3, 4, 5], async (list, part) => {
    lists.push(list)
    values.push(...part)
  })
  t.deepEqual(lists, ['?', '?, ?, ?, ?'])
  t.deepEqual(values, [1, 2, 3, 4, 5])
})
