// The engine of a node in a cluster: holds leases, applies the lanes they are for, and lets go of
// those that others get.

import type { ClusterSettings } from '#src/config/config'
import type { EngineControl, ThreadEdge, ThreadSettings } from '#src/runtime/engine/contract'
import { startMaintenance, makeSystem, repeat } from '#src/runtime/engine/maintenance'
import { openStore } from '#src/store/store'
import { NatsBus } from '#src/stream/jetstream/bus'
import { Connection } from '#src/stream/jetstream/connection'
import { KvLeases } from '#src/stream/jetstream/leases'
import { JetStreamLog } from '#src/stream/jetstream/log'
import { createMetrics } from '#src/telemetry/metrics'

const TAIL_BYTES_MAX = 64 * 2 ** 20
/** The engine appends nothing. */
const PENDING_BYTES_MAX = 0
const TELL_PLACES_MS = 1_000

export async function composeClusterEngine(
  settings: ThreadSettings & { readonly cluster: ClusterSettings },
  edge: ThreadEdge,
): Promise<EngineControl> {
  const { log: logger, nowMs, monotonicMs, wait, soon, after, fail: onMismatch } = edge
  const { lanes, nodeId, logBytesMax: bytesMax } = settings
  const { natsUrl, streamReplicas: replicas } = settings.cluster
  const metrics = createMetrics({ isMain: false })
  const { meter } = metrics
  const ports = { logger, timers: { after }, monotonicMs, meter }
  const name = `${nodeId} engine`
  const connection = await Connection.open(ports, { url: natsUrl, name })
  const log = await JetStreamLog.open(
    { ...ports, connection },
    { replicas, bytesMax, tailBytesMax: TAIL_BYTES_MAX, pendingBytesMax: PENDING_BYTES_MAX },
  )
  const store = await openStore({ url: settings.databaseUrl, meter, log: logger })
  const bus = new NatsBus({ ...ports, connection })
  const leases = new KvLeases(
    { ...ports, connection, epochFloor: () => store.turns.lastEpoch() },
    { lanes, nodeName: nodeId, replicas },
  )
  const system = makeSystem(
    { store: store.turns, log, leases, bus, meter, logger, nowMs, wait, soon, onMismatch },
    settings,
  )
  await system.start()
  // The bus may lose a message, and an acceptor waits to hear that its submissions are applied.
  const tellPlaces = async (): Promise<void> =>
    system.places().forEach((place) => bus.notify(place))
  const stopTelling = repeat(TELL_PLACES_MS, tellPlaces, logger)
  const stopKeeping = startMaintenance({
    retention: store.retention,
    system,
    meter,
    settings,
    edge,
  })
  return {
    metrics: () => metrics.part(),
    ownedLanes: () => Promise.resolve(system.ownedLanes),
    // Others append all the time and go on with what is left, so nothing is waited for.
    drain: () => system.halt(),
    close: async () => {
      await stopTelling()
      await stopKeeping()
      await system.halt()
      log.close()
      bus.close()
      await store.close()
      await connection.close()
    },
  }
}
