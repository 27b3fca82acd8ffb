// Writes many rows in few statements.
//
// Invariants:
//   bulk/1. The rows of a statement are a power of two: so there are few texts, and the driver
//     keeps them prepared. The text of a statement is bounded: servers limit the size of a packet.
//   bulk/2. A statement is made while the server works on the one before it and, where the executor
//     allows it, sent before that one is answered. Smaller ones come first: making a row takes a
//     fraction of the time of writing it.

import type { EntitySchemaColumnOptions } from 'typeorm'

import type { Dialect, Numbered, Value } from '#src/store/dialect'
import type { RowsStatement, Executor, Reader } from '#src/store/jobs/executor'

/** Values of one list at most. */
export const LIST_MAX = 128
/** Characters of text and bytes in one statement, beyond its first row. */
const TEXT_MAX = 2 ** 20

interface BulkOptions {
  /**
   * The statement's end for rows whose key exists (Dialect.onDuplicate); absent: they are refused.
   */
  readonly onDuplicate?: string
  /** Columns that keep their default. */
  readonly leftOut?: readonly string[]
}

/** Functions that read each column of a row from an item. */
export type Columns<Row, Item> = {
  readonly [Property in keyof Row]: (item: Item) => Row[Property]
}

/** The parts of an entity that Bulk reads: the names of its table and columns. */
interface Described {
  readonly options: {
    readonly name: string
    readonly columns: { readonly [property: string]: EntitySchemaColumnOptions | undefined }
  }
}

/** Called with the driver's answer to a statement, and with the number of its rows. */
type Inserted = (raw: unknown, rows: number) => void

/**
 * Sends statements in order; while the server works on some, the next is made. (bulk/2) Gives false
 * when a statement did not change the rows that it must: later ones may or may not have been sent.
 * Rejects when a statement fails. In both cases the transaction must be rolled back.
 */
export async function runAll(
  executor: Executor,
  statements: Iterable<RowsStatement>,
  inserted?: Inserted,
): Promise<boolean> {
  const { underWayMax } = executor.limits
  const underWay: Promise<boolean>[] = []
  for (const { mustChange, ...statement } of statements) {
    const send = executor.make(statement)
    if (underWay.length === underWayMax && !(await underWay.shift())) return false
    const answer = send().then(({ affected, raw }) => {
      inserted?.(raw, statement.rows)
      return mustChange === undefined || mustChange === affected
    })
    answer.catch(() => undefined) // The loop awaits it below, unless an earlier one ends the loop.
    underWay.push(answer)
  }
  for (const answer of underWay) if (!(await answer)) return false
  return true
}

/** Writes rows of one table, with the columns that its entity declares. */
export class Bulk<Item> {
  readonly #into: string
  readonly #tail: string
  readonly #values: readonly ((item: Item) => Value)[]
  readonly #statements = new Map<number, string>()

  /** `columns` gives the values of an item's row. */
  constructor(
    { options }: Described,
    columns: Readonly<Record<string, (item: Item) => Value>>,
    { onDuplicate = '', leftOut = [] }: BulkOptions = {},
  ) {
    const written = Object.entries(options.columns).filter(
      ([property, column]) => column?.generated === undefined && !leftOut.includes(property),
    )
    const names = written.map(([property, column]) => column?.name ?? property)
    this.#values = written.map(([property]) => columns[property] ?? (() => null))
    this.#into = `${options.name} (${names.join(', ')}) VALUES `
    this.#tail = onDuplicate === '' ? '' : ` ${onDuplicate}`
  }

  /** Makes one for items that are rows already. */
  static of<Row extends Readonly<Record<string, Value>>>(
    entity: Described,
    options: BulkOptions = {},
  ): Bulk<Row> {
    const columns: Record<string, (row: Row) => Value> = {}
    for (const property of Object.keys(entity.options.columns)) {
      columns[property] = (row) => row[property] ?? null
    }
    return new Bulk(entity, columns, options)
  }

  /**
   * Inserts the rows in order. `inserted` gets the driver's answer to each statement, and the
   * number of its rows.
   */
  async write(executor: Executor, items: readonly Item[], inserted?: Inserted): Promise<void> {
    await runAll(executor, this.inserts(items, executor), inserted)
  }

  /** The statements that insert the rows in order; the values of each are read when it is taken. */
  *inserts(items: readonly Item[], { limits, dialect }: Executor): Generator<RowsStatement> {
    const width = this.#values.length
    // As long as they will be: an array that grows is copied over and over.
    const values = Array<Value>(items.length * width)
    const lengths = Array<number>(items.length)
    const lengthOf = (row: number): number =>
      (lengths[row] ??= this.#write(values, row * width, items[row] as Item))
    for (const [start, rows] of chunks(items.length, limits.rowsMax, lengthOf)) {
      const sql = this.#statementFor(rows, dialect)
      yield { sql, rows, values: values.slice(start * width, (start + rows) * width) }
    }
  }

  /** Writes the values of an item's row; gives the characters of text and the bytes in it. */
  #write(values: Value[], start: number, item: Item): number {
    let length = 0
    let at = start
    for (const valueOf of this.#values) {
      const value = valueOf(item)
      if (typeof value !== 'number' && value !== null) length += value.length
      values[at] = value
      at += 1
    }
    return length
  }

  #statementFor(size: number, dialect: Dialect): string {
    const known = this.#statements.get(size)
    if (known !== undefined) return known
    const row = `(${this.#values.map(() => '?').join(', ')})`
    const statement = `${dialect.insertInto} ${this.#into}${repeated(row, size)}${this.#tail}`
    this.#statements.set(size, statement)
    return statement
  }
}

/**
 * Runs a statement over many values in chunks of few sizes, so that its texts stay few; `list` is
 * `?, ?, …`.
 */
export async function inChunks(
  values: readonly Value[],
  statement: (list: string, part: readonly Value[]) => Promise<unknown>,
): Promise<void> {
  for (const [start, size] of chunks(values.length, LIST_MAX)) {
    await statement(repeated('?', size), values.slice(start, start + size))
  }
}

/** The parameters of a statement on both sides of its list. */
interface Beside {
  readonly before?: readonly Value[]
  readonly behind?: readonly Value[]
}

/** Returns the rows of a SELECT over many values, chunk by chunk. */
export async function allIn<Row>(
  reader: Reader,
  values: readonly Value[],
  select: (list: string) => string,
  { before = [], behind = [] }: Beside = {},
): Promise<readonly Row[]> {
  const found: Row[] = []
  await inChunks(values, async (list, part) => {
    found.push(...(await reader.all<Row>(select(list), [...before, ...part, ...behind])))
  })
  return found
}

/** Changes rows by a statement over many values; returns the number of changed rows. */
export async function changeIn(
  executor: Executor,
  values: readonly Value[],
  statement: (list: string) => string,
  { before = [], behind = [] }: Beside = {},
): Promise<number> {
  let changed = 0
  await inChunks(values, async (list, part) => {
    const { affected } = await executor.run(statement(list), [...before, ...part, ...behind])
    changed += affected
  })
  return changed
}

/** Changes rows of a table with generated ids; returns the number of changed rows. */
export const changeById = (
  executor: Executor,
  rows: readonly Numbered[],
  change: string,
  parameters: readonly Value[] = [],
): Promise<number> =>
  changeIn(
    executor,
    rows.map(({ id }) => id),
    (list) => `${change} WHERE id IN (${list})`,
    { before: parameters },
  )

/** Removes rows of a table with generated ids; returns the number of removed rows. */
export const removeById = (
  executor: Executor,
  table: string,
  rows: readonly Numbered[],
): Promise<number> => changeById(executor, rows, `DELETE FROM ${table}`)

/** `lengthOf` gives the characters of the item at an index; it is asked in order. */
function* chunks(
  count: number,
  rowsMax: number,
  lengthOf: (index: number) => number = () => 0,
): Generator<readonly [start: number, size: number]> {
  let size: number
  for (let start = 0; start < count; start += size) {
    const left = count - start
    // The lowest bit, or the rest beyond `rowsMax`: smaller ones first. (bulk/2)
    const wanted = Math.min(rowsMax, left & -left)
    let fitting = 1
    let length = lengthOf(start)
    while (fitting < wanted) {
      length += lengthOf(start + fitting)
      if (length > TEXT_MAX) break
      fitting += 1
    }
    size = 2 ** Math.floor(Math.log2(fitting)) // bulk/1
    yield [start, size]
  }
}

const repeated = (part: string, times: number): string => Array<string>(times).fill(part).join(', ')
