// Goal: the progress of an import is one line that fits.

import test from 'ava'

import { progressLine } from '#src/cli/commands/import'
import type { Progress } from '#src/cli/commands/import'

const HALF: Progress = { rows: 12_000, rejected: 0, bytes: 50, totalBytes: 100, elapsedMs: 6_000 }

const rows: [change: Partial<Progress>, line: string][] = [
  [{}, '████████████░░░░░░░░░░░░  50 %  12,000 rows  2,000/s  6 s left'],
  [
    { rejected: 3, elapsedMs: 90_000 },
    '████████████░░░░░░░░░░░░  50 %  12,000 rows  133/s  3 rejected  1 min 30 s left',
  ],
  [{ bytes: 101 }, '████████████████████████ 100 %  12,000 rows  2,000/s  0 s left'],
  [{ rows: 0, bytes: 0, elapsedMs: 0 }, '░░░░░░░░░░░░░░░░░░░░░░░░   0 %  0 rows  0/s'],
  [{ totalBytes: undefined }, '12,000 rows  2,000/s'],
]

test('a line shows the progress, the rate and the remaining time', (t) => {
  for (const [change, line] of rows) t.is(progressLine({ ...HALF, ...change }, 100), line)
  t.is(progressLine(HALF, 10).length, 10)
})
