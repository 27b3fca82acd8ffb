// The table of benchmarks. A new one is a Row in this list; `npm run bench -- <name>` finds it. The
// one that takes longest comes last.

import { ALLOCATION_ROW } from './allocation.ts'
import { CATCH_UP_ROW } from './catch-up.ts'
import { CLUSTER_ROWS } from './cluster.ts'
import { CONSOLE_ROW } from './console.ts'
import { EMBEDDED_ROWS } from './embedded.ts'
import { EXPORT_ROW } from './export.ts'
import { FAILOVER_ROW } from './failover.ts'
import { HISTORY_CLUSTER_ROW } from './history-cluster.ts'
import { HOLDERS_ROW } from './holders.ts'
import { IDLE_CONNECTIONS_ROW } from './idle-connections.ts'
import { FOOTPRINT_ROW } from './footprint.ts'
import { FAN_OUT_ROW } from './fan-out.ts'
import { GROWTH_ROWS } from './growth.ts'
import { KEY_START_ROW } from './key-start.ts'
import { IDLE_MEMORY_ROW } from './idle-memory.ts'
import { MEMORY_ROW } from './memory.ts'
import { MQTT_ACCEPT_ROW, MQTT_IDLE_ROW } from './mqtt.ts'
import { NOISY_NEIGHBOUR_ROW } from './noisy-neighbour.ts'
import { ONE_NODE_ROW } from './one-node.ts'
import { PEOPLE_ROW } from './people.ts'
import { PUSH_ROW, PUSH_WEB_ROW } from './push.ts'
import { QUERY_ROW } from './query.ts'
import { RETENTION_ROW } from './retention.ts'
import type { Row } from './row.ts'
import { RULES_ROW, SILENCE_ROW } from './rules.ts'
import { SOAK_ROW } from './soak.ts'
import { START_ROW } from './start.ts'
import { STRANGERS_ROWS } from './strangers.ts'
import { TIERS_ROW } from './tiers.ts'

export const ROWS: readonly Row[] = [
  ...EMBEDDED_ROWS,
  ALLOCATION_ROW,
  ...CLUSTER_ROWS,
  ONE_NODE_ROW,
  PUSH_ROW,
  PUSH_WEB_ROW,
  PEOPLE_ROW,
  START_ROW,
  KEY_START_ROW,
  FAILOVER_ROW,
  FOOTPRINT_ROW,
  ...GROWTH_ROWS,
  RETENTION_ROW,
  NOISY_NEIGHBOUR_ROW,
  CONSOLE_ROW,
  ...STRANGERS_ROWS,
  HOLDERS_ROW,
  RULES_ROW,
  SILENCE_ROW,
  QUERY_ROW,
  TIERS_ROW,
  CATCH_UP_ROW,
  IDLE_CONNECTIONS_ROW,
  FAN_OUT_ROW,
  MQTT_ACCEPT_ROW,
  MQTT_IDLE_ROW,
  IDLE_MEMORY_ROW,
  MEMORY_ROW,
]

/** Rows that are measured only when they are asked for by their names. */
export const ROWS_BY_NAME: readonly Row[] = [SOAK_ROW, EXPORT_ROW, HISTORY_CLUSTER_ROW]
