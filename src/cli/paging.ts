// Shows lists: the pages of the gateway as one table, or one JSON value a line.

import { defined } from '#domain/record'
import type { PageOf, EventRecord, ThingRecord } from '#src/client/bodies'
import type { Screen } from './process-context.ts'
import type { CommandContext } from './command.ts'
import { flag, text } from './command.ts'
import type { Given } from './command.ts'
import { aligned, dateText, onOneLine, shortened, widthOf } from './terminal-text.ts'
import { whole } from './values.ts'
import { pairsIn } from '#src/cli/deliveries/delivery-line'

/** The most that the gateway gives in one page. */
const PAGE_MAX = 200
const FALLBACK = 50
const COUNT_MAX = 1_000_000

/** Options of a command that lists. */
export const PAGING = {
  limit: whole('<count>', 1, COUNT_MAX, `how many at most; ${FALLBACK} by default`),
  all: flag('all items'),
  cursor: text('<cursor>', 'continues a list from this cursor'),
} as const

/** The option of a command that prints a table. */
export const HEADER = { header: flag('headings in a pipe, too') } as const

/** Options of a command whose list is a table. */
export const LISTED = { ...PAGING, ...HEADER } as const

/** Characters of a cell; longer ones are cut, so that the table fits the terminal. */
const CELL_WIDTH = 32
/** The last cells stand on a line of their own where another has no room for so many of them. */
const LAST_WIDTH_MIN = 40
const INDENT = '  '

export interface Table<Item> {
  readonly headings: readonly string[]
  /** One cell for each heading. */
  readonly cells: (item: Item) => readonly string[]
}

export interface Listing<Item> extends Table<Item> {
  readonly page: (wanted: {
    readonly limit: number
    readonly cursor?: string
  }) => Promise<PageOf<Item>>
}

type Wanted = Parameters<Listing<never>['page']>[0]

/**
 * Requests pages until they have as many items as the options want, and shows each page. A
 * diagnostic gives the cursor for the rest.
 */
export async function eachPage<Item>(
  page: Listing<Item>['page'],
  { limit = FALLBACK, all, cursor }: Given<typeof PAGING>,
  { terminal }: Pick<CommandContext, 'terminal'>,
  show: (items: readonly Item[], isFirst: boolean) => void | Promise<void>,
): Promise<void> {
  let left = all === true ? Infinity : limit
  let next = cursor
  let count = 0
  do {
    const wanted: Wanted = { limit: Math.min(left, PAGE_MAX), ...defined({ cursor: next }) }
    const { items, next_cursor: following } = await page(wanted)
    await show(items, count === 0)
    count += items.length
    left -= items.length
    next = following
  } while (next !== undefined && left > 0)
  if (count === 0) terminal.printDiagnostic('none')
  if (next !== undefined) terminal.printDiagnostic(`there is more: --cursor ${next}, or --all`)
}

interface Shown extends Given<typeof HEADER> {
  readonly json?: boolean | undefined
}

/**
 * Prints the items page by page: on a terminal as a table with headings, elsewhere one line for
 * each item with tabs between the cells, so that `cut` and `awk` read it. There --header puts the
 * headings in front.
 */
export async function list<Item extends object>(
  { page, headings, cells }: Listing<Item>,
  options: Given<typeof PAGING> & Shown,
  context: Pick<CommandContext, 'terminal'>,
): Promise<void> {
  const { terminal } = context
  await eachPage(page, options, context, (items, isFirst) => {
    for (const line of linesOf(items, isFirst)) terminal.print(line)
  })

  function linesOf(items: readonly Item[], isFirst: boolean): readonly string[] {
    if (options.json === true) return items.map((item) => JSON.stringify(item))
    const rows = items.map((item) => cells(item).map(onOneLine))
    const screen = terminal.screen()
    if (screen === undefined) {
      const isHeaded = isFirst && options.header === true
      return [...(isHeaded ? [headings] : []), ...rows].map((row) => row.join('\t'))
    }
    return tableLines(isFirst ? headings : undefined, rows, screen)
  }
}

/** Options for items that are at hand: all are shown. */
export const WHOLE = { all: true, limit: undefined, cursor: undefined } as const

/** Prints items that are at hand, as `list` prints pages. */
export const listWhole = <Item extends object>(
  { items, ...table }: Table<Item> & PageOf<Item>,
  { json, header }: Shown,
  context: Pick<CommandContext, 'terminal'>,
): Promise<void> =>
  list({ ...table, page: () => Promise.resolve({ items }) }, { json, header, ...WHOLE }, context)

function tableLines(
  headings: readonly string[] | undefined,
  rows: readonly (readonly string[])[],
  { columns, hasColor }: Screen,
): readonly string[] {
  if (rows.length === 0) return []
  const all = (headings === undefined ? rows : [headings, ...rows]).map((row) =>
    row.map((cell, column) => (column === row.length - 1 ? cell : shortened(cell, CELL_WIDTH))),
  )
  const blocks = spansOf(all, columns).map(([from, to]) =>
    aligned(all.map((row) => row.slice(from, to))).map((line) => (from > 0 ? INDENT : '') + line),
  )
  return all.flatMap((_, index) => {
    const isBold = headings !== undefined && hasColor && index === 0
    const lines = blocks.map((block) => block[index] ?? '').filter((line) => line.trim() !== '')
    const short = lines.map((line) => shortened(line, columns))
    return isBold ? short.map(bold) : short
  })
}

/** The columns that stand on one line each: those that have no room beside others go below them. */
function spansOf(rows: readonly (readonly string[])[], columns: number): readonly Span[] {
  const spans: Span[] = []
  let [from, used] = [0, -INDENT.length]
  rows[0]?.forEach((_, column, { length }) => {
    const width = longest(rows.map((row) => row[column] ?? ''))
    const needed = INDENT.length + (column < length - 1 ? width : Math.min(width, LAST_WIDTH_MIN))
    if (column > from && used + needed > columns) {
      spans.push([from, column])
      from = column
      used = 0
    }
    used += needed
  })
  return [...spans, [from, rows[0]?.length ?? 0]]
}

type Span = readonly [from: number, to: number]

const longest = (texts: readonly string[]): number => Math.max(...texts.map(widthOf))

const bold = (line: string): string => `\u001b[1m${line}\u001b[0m`

/** The headings after the heading of the id. */
export const ENTITY_HEADINGS = ['STATE', 'CHANGED', 'TITLE', 'ATTRS'] as const

/** The cells under those headings. */
export const entityCells = ({
  state,
  changed_at: changedAt,
  title,
  attrs,
}: EventRecord | ThingRecord): readonly string[] => [
  state,
  dateText(changedAt),
  typeof title === 'string' ? title : '',
  pairsIn(attrs).join('  '),
]
