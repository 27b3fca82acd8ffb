// Writes answers of the gateway as lines for people, and makes text of others safe for terminals.
//
// Invariants:
//   terminal-text/1. No character of others that a terminal acts upon, or that changes the order of
//     reading, reaches a terminal: lines for people lose it, JSON has it as an escape. A pipe gets
//     JSON as it is.

import { isRecord } from '#domain/record'

/** Characters that move the cursor or change the order of reading. */
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/**
 * The text on one line without control characters: titles and values come from others and must not
 * move the cursor or hide text beside them.
 */
export const onOneLine = (text: string): string =>
  text.replace(/\s+/g, ' ').replace(UNPRINTABLE, '?').trim()

/**
 * A line with C1 controls, DEL and bidirectional controls as escapes of JSON: JSON.stringify leaves
 * them. Lines for people have none, and keep the colours that we gave them.
 */
export const escaped = (line: string): string =>
  line.replace(UNPRINTABLE, (character) =>
    character < '\u0020'
      ? character
      : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

const ONE_COLUMN_EACH = /^[\u0020-\u02ff…]*$/
const NO_COLUMN = /^[\p{Mark}\u200d]$/u
const TWO_COLUMNS =
  /^[\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}\p{EPres}\u3001-\u303d\uff01-\uff60]$/u

/** The columns that a text on one line takes on a terminal. */
export function widthOf(text: string): number {
  if (ONE_COLUMN_EACH.test(text)) return text.length
  let width = 0
  for (const character of text) {
    if (!NO_COLUMN.test(character)) width += TWO_COLUMNS.test(character) ? 2 : 1
  }
  return width
}

/** The text in at most so many columns; an ellipsis marks a cut. */
export function shortened(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  let [kept, width] = ['', 0]
  for (const character of text) {
    width += widthOf(character)
    if (width >= columns) break
    kept += character
  }
  return `${kept.trimEnd()}…`
}

/** Pads all cells but the last of each row, so that the columns line up two spaces apart. */
export function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const columns = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => widthOf(row[column] ?? ''))),
  )
  return rows.map((row) =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell)))
      .join('  ')
      .trimEnd(),
  )
}

/**
 * One line for each member: its name and its value, times as dates. The members of an object, for
 * instance attrs, follow on indented lines.
 */
export function factLines(facts: object): readonly string[] {
  return aligned(
    Object.entries(facts).flatMap(([name, value]: [string, unknown]) => {
      if (!isRecord(value)) return [[onOneLine(name), factText(name, value)]]
      return [[onOneLine(name)], ...Object.entries(value).map(indented)]
    }),
  )
}

const indented = ([name, value]: [string, unknown]): readonly string[] => [
  `  ${onOneLine(name)}`,
  factText('', value),
]

const TIME = /(_at|_time|^since)$/

function factText(name: string, value: unknown): string {
  if (typeof value === 'number' && TIME.test(name)) return dateText(value)
  return onOneLine(typeof value === 'string' ? value : JSON.stringify(value))
}

/** An ISO 8601 date in UTC. */
export const dateText = (unixMs: number): string => new Date(unixMs).toISOString()
