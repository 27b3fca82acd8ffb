// The figures as a table for people.

import { isLeast, verdictOf } from './rows/row.ts'
import type { Figure, Range } from './rows/row.ts'

const HEAD = [
  'row',
  'value (min–max)',
  'unit',
  '÷',
  'denominator (min–max)',
  'ratio (min–max)',
  'must',
  'aim',
  'meets',
]

/** One line per figure, in columns, and a line below for what failed. */
export function tableOf(figures: readonly Figure[]): string {
  const lines = [HEAD, ...figures.map(cellsOf)]
  const widths = HEAD.map((_, column) =>
    Math.max(...lines.map((cells) => (cells[column] ?? '').length)),
  )
  const rule = widths.map((width) => '-'.repeat(width))
  const failures = figures
    .filter(({ failure }) => failure !== undefined)
    .map(({ row, failure }) => `${row}: ${failure}`)
  const [head = [], ...body] = lines
  return [head, rule, ...body]
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .concat(failures)
    .join('\n')
}

function cellsOf(figure: Figure): string[] {
  const { row, unit, value, denominator, goal } = figure
  const ratio = denominator?.ratio
  const bound = isLeast(goal) ? '≥' : '≤'
  return [
    row,
    value === undefined ? 'FAILED' : rangeOf(value),
    unit,
    denominator?.id ?? '',
    denominator?.value === undefined ? '' : rangeOf(denominator.value),
    ratio === undefined ? '' : rangeOf(ratio, (each) => each.toFixed(2)),
    `${bound} ${goal.must}`,
    `${bound} ${goal.aim}`,
    verdictOf(figure),
  ]
}

const rangeOf = ({ median, min, max }: Range, written = numberOf): string =>
  `${written(median)} (${written(min)}–${written(max)})`

/** Three digits or whole numbers, whichever says more. */
export const numberOf = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)))
