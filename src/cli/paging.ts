// Lists: pages of the gateway as one table, or one JSON value a line.

import type { PageOf } from '#src/client/bodies'
import type { Context } from './word.ts'
import { flag, text } from './word.ts'
import type { Given } from './word.ts'
import { aligned, onOneLine, shortened } from './plain-text.ts'
import { whole } from './values.ts'

/** The gateway's limit of one page. */
const PAGE_MAX = 200
const FALLBACK = 50
const COUNT_MAX = 1_000_000

/** Options of a word that lists. */
export const PAGING = {
  limit: whole('<count>', 1, COUNT_MAX, `how many at most; ${FALLBACK} by default`),
  all: flag('everything, however much it is'),
  cursor: text('<cursor>', 'goes on where a list before ended'),
} as const

/** Columns that are cut so that the table fits the terminal. */
const CELL_WIDTH = 32

export interface Listing<Item> {
  readonly page: (wanted: {
    readonly limit: number
    readonly cursor?: string
  }) => Promise<PageOf<Item>>
  readonly headings: readonly string[]
  /** One cell for each heading. */
  readonly cells: (item: Item) => readonly string[]
}

/**
 * Prints the items page by page. On a terminal a table with headings, elsewhere one line an item
 * with tabs between the cells, so that `cut` and `awk` read it. A note tells how to go on.
 */
export async function list<Item extends object>(
  { page, headings, cells }: Listing<Item>,
  { limit = FALLBACK, all, cursor, json }: Given<typeof PAGING> & { readonly json?: unknown },
  { terminal }: Context,
): Promise<void> {
  const isTable = json !== true && terminal.screen() !== undefined
  let left = all === true ? Infinity : limit
  let next = cursor
  let isFirst = true
  do {
    const { items, next_cursor } = await page({
      limit: Math.min(left, PAGE_MAX),
      ...(next !== undefined && { cursor: next }),
    })
    if (json === true) for (const item of items) terminal.print(JSON.stringify(item))
    else {
      const rows = items.map((item) => cells(item).map(onOneLine))
      const lines = isTable
        ? tableLines(isFirst ? headings : undefined, rows, terminal.screen())
        : rows.map((row) => row.join('\t'))
      for (const line of lines) terminal.print(line)
    }
    if (isFirst && items.length === 0) terminal.complain('none')
    isFirst = false
    left -= items.length
    next = next_cursor
  } while (next !== undefined && left > 0)
  if (next !== undefined) terminal.complain(`there is more: --cursor ${next}, or --all`)
}

function tableLines(
  headings: readonly string[] | undefined,
  rows: readonly (readonly string[])[],
  screen: { readonly columns: number; readonly hasColor: boolean } | undefined,
): readonly string[] {
  if (rows.length === 0) return []
  const width = screen?.columns ?? 80
  const short = rows.map((row) =>
    row.map((cell, column) => (column === row.length - 1 ? cell : shortened(cell, CELL_WIDTH))),
  )
  const lines = aligned(headings === undefined ? short : [headings, ...short]).map((line) =>
    shortened(line, width),
  )
  if (headings === undefined || screen?.hasColor !== true) return lines
  return lines.map((line, index) => (index === 0 ? bold(line) : line))
}

const bold = (line: string): string => `\u001b[1m${line}\u001b[0m`
