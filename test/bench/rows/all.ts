// The table of benchmarks. A new one is a Row in this list; `npm run bench -- <name>` finds it.

import { EMBEDDED_ROWS } from './embedded.ts'
import type { Row } from './row.ts'
import { START_ROW } from './start.ts'

export const ROWS: readonly Row[] = [...EMBEDDED_ROWS, START_ROW]
