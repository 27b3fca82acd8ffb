// Many rows in few statements. The sizes are powers of two, so there are few statement texts and
// the driver keeps them prepared. What one statement carries is bounded: servers have a greatest
// packet.

import type { EntitySchemaColumnOptions } from 'typeorm'

import type { Numbered, Value } from './dialect.ts'
import type { Session } from './session.ts'

/** Values of one list. */
const VALUES_MAX = 128
/** Characters of text in one statement, beyond its first row. */
const TEXT_MAX = 2 ** 20

interface BulkOptions {
  /**
   * The statement's end for rows whose key exists (Dialect.onDuplicate); absent: they are refused.
   */
  readonly onDuplicate?: string
  /** Columns that get their default. */
  readonly leftOut?: readonly string[]
}

/** What of an item stands in each column of a row. */
export type Columns<Row, Item> = {
  readonly [Property in keyof Row]: (item: Item) => Row[Property]
}

/** What is read of an entity: the names of its table and columns. */
interface Described {
  readonly options: {
    readonly name: string
    readonly columns: { readonly [property: string]: EntitySchemaColumnOptions | undefined }
  }
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

  /** For rows that are objects already. */
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

  /** Inserts the rows in order. `inserted` is told each statement's driver answer and its rows. */
  async write(
    session: Session,
    items: readonly Item[],
    inserted?: (raw: unknown, rows: number) => void,
  ): Promise<void> {
    const { values, lengths } = this.#valuesOf(items)
    const width = this.#values.length
    const { rowsMax } = session.dialect
    for (const [start, size] of chunks(items.length, rowsMax, (row) => lengths[row] ?? 0)) {
      const parameters = values.slice(start * width, (start + size) * width)
      const { raw } = await session.insert(this.#statementFor(size, session), parameters)
      inserted?.(raw, size)
    }
  }

  /** The values of all rows one after the other, and the characters of text in each row. */
  #valuesOf(items: readonly Item[]): { readonly values: Value[]; readonly lengths: number[] } {
    const values: Value[] = []
    const lengths: number[] = []
    for (const item of items) {
      let length = 0
      for (const valueOf of this.#values) {
        const value = valueOf(item)
        if (typeof value === 'string') length += value.length
        values.push(value)
      }
      lengths.push(length)
    }
    return { values, lengths }
  }

  #statementFor(size: number, { dialect }: Session): string {
    const known = this.#statements.get(size)
    if (known !== undefined) return known
    const row = `(${this.#values.map(() => '?').join(', ')})`
    const statement = `${dialect.insertInto} ${this.#into}${repeated(row, size)}${this.#tail}`
    this.#statements.set(size, statement)
    return statement
  }
}

/**
 * Runs a statement over many values, as few at a time as keeps its texts few; `list` is `?, ?, …`.
 */
export async function inChunks(
  values: readonly Value[],
  statement: (list: string, part: readonly Value[]) => Promise<unknown>,
): Promise<void> {
  for (const [start, size] of chunks(values.length, VALUES_MAX)) {
    await statement(repeated('?', size), values.slice(start, start + size))
  }
}

/** Removes rows of a table with generated ids; gives how many there were. */
export async function removeById(
  session: Session,
  table: string,
  rows: readonly Numbered[],
): Promise<number> {
  let removed = 0
  await inChunks(
    rows.map(({ id }) => id),
    async (list, part) => {
      const { affected } = await session.run(`DELETE FROM ${table} WHERE id IN (${list})`, part)
      removed += affected
    },
  )
  return removed
}

/** `lengthOf` gives the characters of the item at an index. */
function* chunks(
  count: number,
  countMax: number,
  lengthOf: (index: number) => number = () => 0,
): Generator<readonly [start: number, size: number]> {
  let size: number
  for (let start = 0; start < count; start += size) {
    const most = Math.min(countMax, count - start)
    let fitting = 1
    let length = lengthOf(start)
    while (fitting < most) {
      length += lengthOf(start + fitting)
      if (length > TEXT_MAX) break
      fitting += 1
    }
    size = 2 ** Math.floor(Math.log2(fitting))
    yield [start, size]
  }
}

const repeated = (part: string, times: number): string => Array<string>(times).fill(part).join(', ')
