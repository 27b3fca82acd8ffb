// The table of benchmarks. A new one is a Row in this list; `npm run bench -- <name>` finds it. The
// one that takes longest comes last.

import { CATCH_UP_ROW } from './catch-up.ts'
import { CLUSTER_ROWS } from './cluster.ts'
import { EMBEDDED_ROWS } from './embedded.ts'
import { FAILOVER_ROW } from './failover.ts'
import { IDLE_CONNECTIONS_ROW } from './idle-connections.ts'
import { FAN_OUT_ROW } from './fan-out.ts'
import { KEY_START_ROW } from './key-start.ts'
import { IDLE_MEMORY_ROW } from './idle-memory.ts'
import { MEMORY_ROW } from './memory.ts'
import { PUSH_ROW, PUSH_WEB_ROW } from './push.ts'
import type { Row } from './row.ts'
import { START_ROW } from './start.ts'
import { STRANGERS_ROW } from './strangers.ts'

export const ROWS: readonly Row[] = [
  ...EMBEDDED_ROWS,
  ...CLUSTER_ROWS,
  PUSH_ROW,
  PUSH_WEB_ROW,
  START_ROW,
  KEY_START_ROW,
  FAILOVER_ROW,
  STRANGERS_ROW,
  CATCH_UP_ROW,
  IDLE_CONNECTIONS_ROW,
  FAN_OUT_ROW,
  IDLE_MEMORY_ROW,
  MEMORY_ROW,
]
