// Writes the table of an export as Parquet, a group of rows at a time.

import { ByteWriter, ParquetWriter, schemaFromColumnData } from 'hyparquet-writer'
import type { ColumnSource } from 'hyparquet-writer'

import type { ExportLine } from '#src/client/export'
import type { Encoder } from './encoder.ts'
import { COLUMNS, COLUMN_NAMES, rowsOf } from './rows.ts'
import type { ColumnName, ExportRow } from './rows.ts'

/**
 * Rows that are held until they are written. More take memory while they are encoded; with fewer
 * the description of all groups, which stands at the end of the file, takes as much.
 */
const GROUP_ROWS = 16_384

const TYPES = { text: 'STRING', integer: 'INT64', time: 'TIMESTAMP', number: 'DOUBLE' } as const

type Value = string | number | bigint | null
type Columns = Readonly<Record<ColumnName, Value[]>>

export class Parquet implements Encoder {
  readonly #bytes = new ByteWriter()
  readonly #file = new ParquetWriter({
    writer: this.#bytes,
    schema: schemaFromColumnData({ columnData: sourcesOf(emptyColumns()) }),
  })
  #columns = emptyColumns()
  #rows = 0

  #group(): Uint8Array {
    const columnData = sourcesOf(this.#columns)
    void this.#file.write({ columnData, rowGroupSize: this.#rows })
    this.#columns = emptyColumns()
    this.#rows = 0
    return this.#taken()
  }

  *add(line: ExportLine): Iterable<Uint8Array> {
    for (const row of rowsOf(line)) {
      for (const name of COLUMN_NAMES) this.#columns[name].push(valueIn(row, name))
      this.#rows += 1
      if (this.#rows === GROUP_ROWS) yield this.#group()
    }
  }

  *end(): Iterable<Uint8Array> {
    if (this.#rows > 0) yield this.#group()
    void this.#file.finish() // Its writer is memory.
    yield this.#taken()
  }

  /** What was written since the last time. */
  #taken(): Uint8Array {
    const bytes = this.#bytes.getBytes().slice()
    this.#bytes.index = 0
    return bytes
  }
}

const emptyColumns = (): Columns =>
  Object.fromEntries(COLUMN_NAMES.map((name) => [name, [] as Value[]])) as unknown as Columns

const sourcesOf = (columns: Columns): ColumnSource[] =>
  COLUMN_NAMES.map((name) => ({
    name,
    type: TYPES[COLUMNS[name]],
    nullable: true,
    data: columns[name],
    // A reader that looks for a time steps over groups; the bounds of texts would help nobody.
    statistics: COLUMNS[name] !== 'text',
    offsetIndex: false,
  }))

function valueIn(row: ExportRow, name: ColumnName): Value {
  const value = row[name]
  if (value === undefined) return null
  const kind = COLUMNS[name]
  return kind === 'integer' || kind === 'time' ? BigInt(value) : value
}
