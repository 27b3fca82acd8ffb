// Composes the engine of a cluster's node: it holds leases, applies their lanes, and hands lanes
// over to other nodes.

import type { LogWriter } from '#domain/ports'
import type { EngineControl, ThreadEnds, ThreadSettings } from '#src/runtime/threads/contract'
import type { ThreadEdge } from '#src/runtime/threads/threads'
import { startMaintenance, makeSystem, repeat } from '#src/runtime/engine/maintenance'
import { SharedLeases } from '#src/stream/leases/leases'
import { JetStreamLog } from '#src/stream/jetstream/log'
import { openNodeConnections } from './node-connections.ts'
import { watchProviders } from './provider-agreement.ts'

const TAIL_BYTES_MAX = 64 * 2 ** 20
/** The engine appends ticks alone: one a lane. */
const PENDING_BYTES_MAX = 2 ** 20
const NOTIFY_PLACES_MS = 1_000

export async function composeClusterEngine(
  settings: ThreadSettings,
  edge: ThreadEdge<'cluster-engine'>,
): Promise<ThreadEnds['cluster-engine']['services']> {
  const { logger, runtime, fail: onMismatch } = edge
  const { nowMs, wait, soon } = runtime
  const { lanes, nodeId, logBytesMax: bytesMax } = settings
  const node = await openNodeConnections(settings, edge, 'engine')
  const { metrics, ports, store, bus } = node
  const { meter } = metrics
  const { streamReplicas: replicas } = node.cluster
  const log = await JetStreamLog.open(ports, {
    replicas,
    bytesMax,
    tailBytesMax: TAIL_BYTES_MAX,
    pendingBytesMax: PENDING_BYTES_MAX,
  })
  const table = store.leases({ first: 0, count: lanes })
  const reachLog = () => log.stream.end()
  const leases = new SharedLeases({ ...ports, table, bus, reachLog }, nodeId)
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
      const endWatch = watchProviders({ bus, runtime, logger, meter }, settings)
      stops.push(
        async () => endWatch(),
        repeat(NOTIFY_PLACES_MS, notifyPlaces, { logger, runtime }),
        startMaintenance({
          ...store,
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
      await node.close()
    },
  }
  return { control }
}
