// Composes dispatch of a cluster's node, which shares the jobs in the database with the dispatch of
// other nodes.

import { composeDispatch } from '#src/runtime/dispatch/dispatch'
import { pushRulesOf } from '#src/runtime/dispatch/push-rules'
import { databaseOf, natsOf } from '#src/runtime/threads/servers'
import { openStore } from '#src/store/store'
import { NatsBus } from '#src/stream/jetstream/bus'
import { Connection } from '#src/stream/jetstream/connection'
import { createMetrics } from '#src/telemetry/meter'
import type { ThreadEnds, ThreadSettings } from '#src/runtime/threads/contract'
import type { ThreadEdge } from '#src/runtime/threads/threads'

export async function composeClusterDispatch(
  settings: ThreadSettings,
  edge: ThreadEdge<'cluster-dispatch'>,
): Promise<ThreadEnds['cluster-dispatch']['services']> {
  const { logger, runtime, servers } = edge
  const { cluster, nodeId } = settings
  if (cluster === undefined) throw new Error('there are no settings of a cluster')
  const metrics = createMetrics()
  const { meter } = metrics
  const pushes = pushRulesOf(settings)
  const store = await openStore({
    ...databaseOf(settings, servers),
    meter,
    logger,
    runtime,
    pushes,
  })
  const { monotonicMs, entropy } = runtime
  const ports = { logger, timers: runtime, monotonicMs, entropy, meter }
  const name = `${nodeId} dispatch`
  const connection = await Connection.open(ports, { ...natsOf(cluster, servers), name })
  const bus = new NatsBus({ ...ports, connection })
  const dispatch = await composeDispatch({
    settings,
    edge,
    metrics,
    store: store.pushes,
    secrets: store.secrets,
  })
  bus.onNotice(({ kind }) => {
    if (kind === 'pushes-queued') dispatch.nudge()
  })
  return {
    control: {
      ...dispatch,
      start: async () => dispatch.start(),
      close: async () => {
        await dispatch.close()
        bus.close()
        await store.close()
        await connection.close()
      },
    },
  }
}
