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

const PART_BYTES = 65_536

/** Gathers what is written in parts: in one piece it would be there three times as it grows. */
class Parts extends ByteWriter {
  #parts: Uint8Array[] = []

  override ensure(size: number): void {
    if (this.index >= PART_BYTES) this.#end()
    super.ensure(size)
  }

  #end(): void {
    this.#parts.push(this.getBytes().slice())
    this.index = 0
  }

  /** What was written since the last time. */
  taken(): readonly Uint8Array[] {
    this.#end()
    return this.#parts.splice(0)
  }
}

export class Parquet implements Encoder {
  readonly #bytes = new Parts()
  readonly #file = new ParquetWriter({
    writer: this.#bytes,
    schema: schemaFromColumnData({ columnData: sourcesOf(emptyColumns()) }),
  })
  #columns = emptyColumns()
  #rows = 0
  /** What descriptions of groups have in common, by its content. */
  readonly #common = new Map<string, object>()

  #group(): Iterable<Uint8Array> {
    const columnData = sourcesOf(this.#columns)
    void this.#file.write({ columnData, rowGroupSize: this.#rows })
    this.#columns = emptyColumns()
    this.#rows = 0
    this.#shareDescription()
    return this.#bytes.taken()
  }

  /**
   * Makes one object of what the description of the last group has in common with others: they stay
   * until the end of the file, thousands of them.
   */
  #shareDescription(): void {
    for (const { meta_data: meta } of this.#file.row_groups.at(-1)?.columns ?? []) {
      if (meta === undefined) continue
      meta.encodings = this.#shared(meta.encodings)
      meta.path_in_schema = this.#shared(meta.path_in_schema)
      meta.encoding_stats &&= this.#shared(meta.encoding_stats)
      if (meta.statistics?.min_value === undefined)
        meta.statistics &&= this.#shared(meta.statistics)
    }
  }

  #shared<Part extends object>(part: Part): Part {
    const key = JSON.stringify(part, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    const common = this.#common.get(key)
    if (common === undefined) this.#common.set(key, part)
    return (common ?? part) as Part
  }

  *add(line: ExportLine): Iterable<Uint8Array> {
    for (const row of rowsOf(line)) {
      for (const name of COLUMN_NAMES) this.#columns[name].push(valueIn(row, name))
      this.#rows += 1
      if (this.#rows === GROUP_ROWS) yield* this.#group()
    }
  }

  *end(): Iterable<Uint8Array> {
    if (this.#rows > 0) yield* this.#group()
    void this.#file.finish() // Its writer is memory.
    yield* this.#bytes.taken()
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
