// The log of a sole process: a thread and a SQLite database of its own, so that the fsync before
// each answer waits for no turn, and no turn for it.

import type { Probe } from '#domain/ports'
import type { ThreadControl, ThreadEdge, ThreadSettings } from '#src/runtime/engine/contract'
import { Rpc } from '#src/threads/rpc'
import { openStore } from '#src/store/store'
import { EmbeddedWriter } from '#src/stream/embedded/writer'
import { createMetrics } from '#src/telemetry/metrics'

const IN_MEMORY = 'sqlite::memory:'

/** The log's database stands beside the other one. */
export const logUrlFor = (databaseUrl: string): string =>
  databaseUrl === IN_MEMORY ? IN_MEMORY : `${databaseUrl}-log`

export async function composeEmbeddedLog(
  { databaseUrl, logBytesMax }: ThreadSettings,
  { rpc, peer, log: logger, nowMs, soon }: ThreadEdge,
): Promise<ThreadControl> {
  if (peer === undefined) throw new Error('the log has nobody who reads it')
  const metrics = createMetrics({ isMain: false })
  const { meter } = metrics
  const store = await openStore({ url: logUrlFor(databaseUrl), meter })
  const writer = await EmbeddedWriter.open(
    { table: store.logTable, meter, logger, nowMs, soon },
    logBytesMax,
  )
  rpc.serve('log', writer)
  rpc.serve('probe', probeOf(store.probe))
  // What the engine asks before this waits in the port.
  const engine = new Rpc(peer)
  engine.serve('log', writer)
  writer.tell((batches) => engine.tell('appended', batches))
  return { metrics: () => metrics.part(), close: () => store.close() }
}

const probeOf = (database: Probe): Probe => ({
  readiness: async () => ({ ...(await database.readiness()), name: 'log' }),
})
