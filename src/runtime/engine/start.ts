// The engine: what applies the lanes, composed in a thread of its own. Neither turns nor SQLite
// ever run on the event loop that answers requests.

import { composeClusterEngine } from '#src/runtime/cluster/engine'
import { composeEmbeddedEngine } from '#src/runtime/standalone/engine'
import type { EngineControl, ThreadEdge, ThreadSettings } from './contract.ts'

/** Rejects with a sentence for the operator when something cannot start. */
export function composeEngine(settings: ThreadSettings, edge: ThreadEdge): Promise<EngineControl> {
  const { cluster } = settings
  return cluster === undefined
    ? composeEmbeddedEngine(settings, edge)
    : composeClusterEngine({ ...settings, cluster }, edge)
}
