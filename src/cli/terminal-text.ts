// Makes text from others safe for a terminal.

/** Characters that move the cursor or change the order of reading. */
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/**
 * The text on one line without control characters: titles and values come from others and must not
 * move the cursor or hide text beside them.
 */
export const onOneLine = (text: string): string =>
  text.replace(/\s+/g, ' ').replace(UNPRINTABLE, '?').trim()

/** The text in at most `length` characters; an ellipsis marks a cut. */
export const shortened = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, Math.max(0, length - 1)).trimEnd()}…`

/** Pads all cells but the last of each row, so that the columns line up two spaces apart. */
export function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const columns = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  )
  return rows.map((row) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
}
