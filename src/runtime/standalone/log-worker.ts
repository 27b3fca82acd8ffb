// The log of a sole process: a thread and a SQLite database of its own, so that the fsync before
// each answer waits for no turn, and no turn for it.

import type { Probe } from '#domain/ports'
import type { LogEnd, LogReaderEnd, ThreadEnds, ThreadSettings } from '#src/threads/contract'
import { Rpc } from '#src/threads/rpc'
import { openStore } from '#src/store/store'
import { EmbeddedWriter } from '#src/stream/embedded/writer'
import { createMetrics } from '#src/telemetry/metrics'
import type { ThreadEdge } from '#src/threads/threads'

const IN_MEMORY = 'sqlite::memory:'

/** The log's database stands beside the other one. */
export const logUrlFor = (databaseUrl: string): string =>
  databaseUrl === IN_MEMORY ? IN_MEMORY : `${databaseUrl}-log`

export async function composeEmbeddedLog(
  { databaseUrl, logBytesMax }: ThreadSettings,
  { peer, log: logger, runtime }: ThreadEdge<'log'>,
): Promise<ThreadEnds['log']['services']> {
  if (peer === undefined) throw new Error('the log has nobody who reads it')
  const metrics = createMetrics({ isMain: false })
  const { meter } = metrics
  const store = await openStore({ url: logUrlFor(databaseUrl), meter, runtime })
  const writer = await EmbeddedWriter.open(
    { table: store.logTable, meter, logger, nowMs: runtime.nowMs, soon: runtime.soon },
    logBytesMax,
  )
  // What the engine asks before this waits in the wire.
  const engine = new Rpc<LogEnd, LogReaderEnd>(peer)
  engine.serve({ log: writer })
  writer.tell((batches) => engine.tell('appended', batches))
  return {
    control: { metrics: () => metrics.part(), close: () => store.close() },
    log: writer,
    probe: probeOf(store.probe),
  }
}

const probeOf = (database: Probe): Probe => ({
  readiness: async () => ({ ...(await database.readiness()), name: 'log' }),
})
