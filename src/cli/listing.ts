// A page of Things or Events, one line each.

import type { EventRecord, PageOf, ThingRecord } from '#src/client/bodies'
import { pairsIn } from './delivery-line.ts'
import { aligned, onOneLine, shortened } from './plain-text.ts'
import { dateText } from './talk.ts'

const TITLE_WIDTH = 32

/** Id, state, time of the last change, title and attrs; a last line tells how to read on. */
export function listLines<Kept extends ThingRecord | EventRecord>(
  { items, next_cursor: next }: PageOf<Kept>,
  idOf: (record: Kept) => string,
): readonly string[] {
  const rows = items.map((record) => {
    const { state, changed_at: changedAt, title, attrs } = record
    const name = typeof title === 'string' ? shortened(onOneLine(title), TITLE_WIDTH) : ''
    return [idOf(record), state, dateText(changedAt), name, pairsIn(attrs).join('  ')]
  })
  const lines = rows.length === 0 ? ['none'] : aligned(rows)
  return next === undefined ? lines : [...lines, `more: --cursor ${next}`]
}
