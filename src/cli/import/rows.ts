// Reads the rows of an import from a stream of JSON lines or CSV.
//
// Invariants:
//   import-rows/1. An unreadable row is one rejected row; the import goes on with the others.
//   import-rows/2. The reader holds at most one row of ROW_BYTES_MAX.

import { parse } from 'csv-parse'
import type { Readable } from 'node:stream'

import type { Fields, Json } from '#domain/submission'
import { bare, isRecord, jsonOf } from '#domain/record'
import { CommandError, UsageError } from '#src/cli/endings'
import { readValue } from '#src/cli/values'

export interface Row {
  /** Counted from 1; the heading of CSV does not count. */
  readonly number: number
  /** Bytes of the input up to its end, approximately. */
  readonly bytes: number
  readonly read: { readonly fields: Fields } | { readonly problem: string; readonly text: string }
}

export type RowFormat = 'json' | 'csv'

const ROW_BYTES_MAX = 1024 * 1024
const SHOWN_CHARACTERS = 200

/** A column that an option names, and the option. */
export type NamedColumn = readonly [option: string, column: string]

/**
 * Throws CommandError for a row beyond ROW_BYTES_MAX, or a CSV without a heading, and UsageError
 * for one whose heading lacks a named column.
 */
export const rowsOf = (
  input: Readable,
  format: RowFormat,
  delimiter: string,
  named: readonly NamedColumn[] = [],
): AsyncIterable<Row> => (format === 'json' ? jsonRows(input) : csvRows(input, delimiter, named))

async function* jsonRows(input: Readable): AsyncIterable<Row> {
  let number = 0
  let bytes = 0
  for await (const line of linesOf(input)) {
    bytes += Buffer.byteLength(line) + 1
    if (line.trim() === '') continue
    number += 1
    yield { number, bytes, read: readJson(line) }
  }
}

/** Returns the lines of the input. (import-rows/2) */
async function* linesOf(input: Readable): AsyncIterable<string> {
  let held = ''
  for await (const chunk of input.setEncoding('utf8')) {
    held += String(chunk)
    const lines = held.split('\n')
    held = lines.pop() ?? ''
    if (held.length > ROW_BYTES_MAX) throw new CommandError(tooLong)
    yield* lines
  }
  yield held
}

const tooLong = `a line is longer than ${ROW_BYTES_MAX} bytes: is --format right?`

function readJson(line: string): Row['read'] {
  const value = jsonOf(line)
  if (isRecord(value)) return { fields: value as Fields } // JSON.parse gives nothing else
  // import-rows/1
  return { problem: 'the line is no JSON object', text: line.slice(0, SHOWN_CHARACTERS) }
}

async function* csvRows(
  input: Readable,
  delimiter: string,
  named: readonly NamedColumn[],
): AsyncIterable<Row> {
  const parser = input.pipe(
    parse({
      bom: true,
      delimiter,
      skip_empty_lines: true,
      relax_column_count: true,
      relax_quotes: true,
      max_record_size: ROW_BYTES_MAX, // import-rows/2
    }),
  )
  input.once('error', (error) => parser.destroy(error))
  let columns: readonly string[] | undefined
  let number = 0
  try {
    for await (const cells of parser as AsyncIterable<readonly string[]>) {
      if (columns === undefined) columns = headingOf(cells, named)
      else {
        number += 1
        yield { number, bytes: parser.info.bytes, read: readCells(columns, cells) }
      }
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('CSV_')) {
      throw new CommandError(`the CSV cannot be read: ${error.message}`)
    }
    throw error
  }
}

function headingOf(cells: readonly string[], named: readonly NamedColumn[]): readonly string[] {
  const columns = cells.map((cell) => cell.trim())
  if (new Set(columns).size !== columns.length || columns.includes('')) {
    throw new CommandError('the first line of the CSV must name each column once')
  }
  // A dot leads into a cell with JSON.
  const isThere = (path: string): boolean =>
    columns.includes(path) || columns.includes(path.split('.', 1)[0] ?? '')
  const [missing] = named.find(([, column]) => !isThere(column)) ?? []
  if (missing === undefined) return columns
  const known = columns.join(', ').slice(0, SHOWN_CHARACTERS)
  throw new UsageError(`${missing}: the CSV has no such column; it has ${known}`)
}

/** A cell with a number, true or false becomes that value; an empty cell is absent. */
function readCells(columns: readonly string[], cells: readonly string[]): Row['read'] {
  if (cells.length !== columns.length) {
    const problem = `the row has ${cells.length} cells, and the heading ${columns.length}`
    return { problem, text: cells.join(',').slice(0, SHOWN_CHARACTERS) } // import-rows/1
  }
  const fields = bare<Json>()
  for (const [index, column] of columns.entries()) {
    const cell = cells[index]?.trim() ?? ''
    if (cell !== '') fields[column] = readValue(cell)
  }
  return { fields }
}
