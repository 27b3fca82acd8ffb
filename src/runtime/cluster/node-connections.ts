// Opens what the engine and the dispatch of a cluster's node each have of their own: store, NATS
// and bus.

import { hasTiers } from '#domain/history/series'
import { pushRulesOf } from '#src/runtime/dispatch/push-rules'
import type { ThreadSettings } from '#src/runtime/threads/contract'
import { databaseOf, natsOf } from '#src/runtime/threads/servers'
import type { ThreadEdge } from '#src/runtime/threads/threads'
import { openStore } from '#src/store/store'
import { NatsBus } from '#src/stream/jetstream/bus'
import { Connection } from '#src/stream/jetstream/connection'
import { createMetrics } from '#src/telemetry/meter'

/** Rejects with a sentence for the operator when a server cannot be used. */
export async function openNodeConnections(
  settings: ThreadSettings,
  { logger, runtime, servers }: Pick<ThreadEdge, 'logger' | 'runtime' | 'servers'>,
  thread: 'engine' | 'dispatch',
) {
  const { cluster, nodeId } = settings
  if (cluster === undefined) throw new Error('there are no settings of a cluster')
  const { monotonicMs, entropy } = runtime
  const metrics = createMetrics()
  const { meter } = metrics
  const ports = { logger, timers: runtime, monotonicMs, entropy, meter }
  const name = `${nodeId} ${thread}`
  const connection = await Connection.open(ports, { ...natsOf(cluster, servers), name })
  const pushes = pushRulesOf(settings)
  const store = await openStore({
    ...databaseOf(settings, servers),
    meter,
    logger,
    runtime,
    pushes,
    hasTiers: hasTiers(settings.tierRetentionMs),
  })
  const bus = new NatsBus({ ...ports, connection })
  const close = async (): Promise<void> => {
    bus.close()
    await store.close()
    await connection.close()
  }
  return { cluster, metrics, ports: { ...ports, connection }, store, bus, close }
}
