// Many rows in few statements. The sizes are powers of two, so there are few statement texts and
// the driver keeps them prepared. What one statement carries is bounded: servers have a greatest
// packet.

import type { EntitySchemaColumnOptions } from 'typeorm'

import type { Value } from './dialect.ts'
import type { Session } from './session.ts'

const ROWS_MAX = 128
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

/** What is read of an entity: the names of its table and columns. */
interface Described {
  readonly options: {
    readonly name: string
    readonly columns: { readonly [property: string]: EntitySchemaColumnOptions | undefined }
  }
}

/** Writes rows of one table, with the columns that its entity declares. */
export class Bulk<Row extends Readonly<Record<string, Value>>> {
  readonly #head: string
  readonly #tail: string
  readonly #properties: readonly string[]
  readonly #statements = new Map<number, string>()

  constructor({ options }: Described, { onDuplicate = '', leftOut = [] }: BulkOptions = {}) {
    const written = Object.entries(options.columns).filter(
      ([property, column]) => column?.generated === undefined && !leftOut.includes(property),
    )
    const names = written.map(([property, column]) => column?.name ?? property)
    this.#properties = written.map(([property]) => property)
    this.#head = `INSERT INTO ${options.name} (${names.join(', ')}) VALUES `
    this.#tail = onDuplicate === '' ? '' : ` ${onDuplicate}`
  }

  /** Inserts the rows in order. `inserted` is told each statement's driver answer and its rows. */
  async write(
    session: Session,
    rows: readonly Row[],
    inserted?: (raw: unknown, rows: number) => void,
  ): Promise<void> {
    for (const [start, size] of chunks(rows.length, (index) => this.#lengthOf(rows[index]))) {
      const parameters: Value[] = []
      for (let index = start; index < start + size; index += 1) {
        const row = rows[index]
        if (row === undefined) continue
        for (const property of this.#properties) parameters.push(row[property] ?? null)
      }
      const { raw } = await session.insert(this.#statementFor(size), parameters)
      inserted?.(raw, size)
    }
  }

  #lengthOf(row: Row | undefined): number {
    let length = 0
    for (const property of this.#properties) {
      const value = row?.[property]
      if (typeof value === 'string') length += value.length
    }
    return length
  }

  #statementFor(size: number): string {
    const known = this.#statements.get(size)
    if (known !== undefined) return known
    const row = `(${this.#properties.map(() => '?').join(', ')})`
    const statement = this.#head + repeated(row, size) + this.#tail
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
  for (const [start, size] of chunks(values.length)) {
    await statement(repeated('?', size), values.slice(start, start + size))
  }
}

/** `lengthOf` gives the characters of the item at an index. */
function* chunks(
  count: number,
  lengthOf: (index: number) => number = () => 0,
): Generator<readonly [start: number, size: number]> {
  let size: number
  for (let start = 0; start < count; start += size) {
    const most = Math.min(ROWS_MAX, count - start)
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
