// Composes the engine of a cluster's node: it holds leases, applies their lanes, and hands lanes
// over to other nodes.

import type { LogWriter } from '#domain/ports'
import type { EngineControl, ThreadEnds, ThreadSettings } from '#src/runtime/threads/contract'
import type { ThreadEdge } from '#src/runtime/threads/threads'
import { startMaintenance, makeSystem, repeat } from '#src/runtime/engine/maintenance'
import { pushRulesOf } from '#src/runtime/dispatch/push-rules'
import { databaseOf, natsOf } from '#src/runtime/threads/servers'
import { openStore } from '#src/store/store'
import { NatsBus } from '#src/stream/jetstream/bus'
import { Connection } from '#src/stream/jetstream/connection'
import { KvLeases } from '#src/stream/jetstream/leases'
import { JetStreamLog } from '#src/stream/jetstream/log'
import { createMetrics } from '#src/telemetry/meter'

const TAIL_BYTES_MAX = 64 * 2 ** 20
/** The engine appends ticks alone: one a lane. */
const PENDING_BYTES_MAX = 2 ** 20
const NOTIFY_PLACES_MS = 1_000

export async function composeClusterEngine(
  settings: ThreadSettings,
  edge: ThreadEdge<'cluster-engine'>,
): Promise<ThreadEnds['cluster-engine']['services']> {
  const { logger, runtime, servers, fail: onMismatch } = edge
  const { nowMs, monotonicMs, wait, soon, entropy } = runtime
  const { lanes, nodeId, cluster, logBytesMax: bytesMax } = settings
  if (cluster === undefined) throw new Error('there are no settings of a cluster')
  const { streamReplicas: replicas } = cluster
  const metrics = createMetrics()
  const { meter } = metrics
  const ports = { logger, timers: runtime, monotonicMs, entropy, meter }
  const name = `${nodeId} engine`
  const connection = await Connection.open(ports, { ...natsOf(cluster, servers), name })
  const log = await JetStreamLog.open(
    { ...ports, connection },
    { replicas, bytesMax, tailBytesMax: TAIL_BYTES_MAX, pendingBytesMax: PENDING_BYTES_MAX },
  )
  const store = await openStore({
    ...databaseOf(settings, servers),
    meter,
    logger,
    runtime,
    pushes: pushRulesOf(settings),
  })
  const bus = new NatsBus({ ...ports, connection })
  const leases = new KvLeases(
    { ...ports, connection, epochFloor: () => store.turns.lastEpoch() },
    { lanes, nodeName: nodeId, replicas },
  )
  const append: LogWriter['append'] = (batch) => log.append(batch)
  const ofSystem = { store: store.turns, log, append, leases, bus, meter, logger }
  const system = makeSystem({ ...ofSystem, nowMs, wait, soon, onMismatch }, settings)
  // Repeats the places, since the bus may lose a message: acceptors wait for the notice that their
  // submissions are applied.
  const notifyPlaces = async (): Promise<void> =>
    system.places().forEach((place) => bus.notify(place))
  const stops: (() => Promise<void>)[] = []
  const control: EngineControl = {
    metrics: () => metrics.part(),
    start: async () => {
      await system.start()
      stops.push(
        repeat(NOTIFY_PLACES_MS, notifyPlaces, { logger, runtime }),
        startMaintenance({
          retention: store.retention,
          gathering: store.gathering,
          pushes: store.pushes,
          system,
          bus,
          meter,
          settings,
          edge,
        }),
      )
    },
    ownedLanes: () => Promise.resolve(system.ownedLanes),
    // It applies no rest first: other nodes append all the time, and apply the rest.
    drain: () => system.halt(),
    close: async () => {
      for (const stop of stops) await stop()
      await system.halt()
      log.close()
      bus.close()
      await store.close()
      await connection.close()
    },
  }
  return { control }
}
