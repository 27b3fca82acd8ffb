// Writes the lines of an export in one of its formats.

import type { ExportLine } from '#src/client/export'
import type { Encoder } from './encoder.ts'
import { COLUMNS, COLUMN_NAMES, rowsOf } from './rows.ts'
import type { ExportRow } from './rows.ts'

export const FORMATS = ['ndjson', 'csv', 'parquet'] as const
export type Format = (typeof FORMATS)[number]

/** Characters that are written together. */
const PART_CHARACTERS = 65_536

/** Gathers texts into parts. */
class Parts {
  #text: string

  constructor(first = '') {
    this.#text = first
  }

  *add(text: string): Iterable<string> {
    this.#text += text
    if (this.#text.length >= PART_CHARACTERS) yield* this.end()
  }

  *end(): Iterable<string> {
    const text = this.#text
    this.#text = ''
    if (text !== '') yield text
  }
}

class Ndjson implements Encoder {
  readonly #parts = new Parts()

  add(line: ExportLine): Iterable<string> {
    return line.kind === 'end' ? [] : this.#parts.add(`${JSON.stringify(line)}\n`)
  }

  end(): Iterable<string> {
    return this.#parts.end()
  }
}

/** CSV as RFC 4180 has it, with a heading and times as ISO 8601. */
class Csv implements Encoder {
  readonly #parts = new Parts(`${COLUMN_NAMES.join(',')}\r\n`)

  end(): Iterable<string> {
    return this.#parts.end()
  }

  *add(line: ExportLine): Iterable<string> {
    for (const row of rowsOf(line)) {
      const cells = COLUMN_NAMES.map((name) => cellOf(row, name))
      yield* this.#parts.add(`${cells.join(',')}\r\n`)
    }
  }
}

function cellOf(row: ExportRow, name: keyof ExportRow): string {
  const value = row[name]
  if (value === undefined) return ''
  if (COLUMNS[name] === 'time') return new Date(Number(value)).toISOString()
  const text = String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Makes the encoder of a format; the library of Parquet is loaded only for that. */
export async function encoderOf(format: Format): Promise<Encoder> {
  if (format === 'ndjson') return new Ndjson()
  if (format === 'csv') return new Csv()
  const { Parquet } = await import('./parquet.ts')
  return new Parquet()
}
