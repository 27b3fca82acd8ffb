// The engine of a sole process: log, actors and store over one SQLite database.

import type { EngineControl, EngineEdge, EngineSettings } from './engine.ts'
import { keepHouse, makeSystem } from './house.ts'
import type { Link } from './link.ts'
import { serveBus } from './linked-bus.ts'
import { standingOf } from './log-standing.ts'
import { openStore } from './store/store.ts'
import type { Store } from './store/store.ts'
import { LocalBus } from './stream/embedded/bus.ts'
import { SoleOwner } from './stream/embedded/leases.ts'
import { EmbeddedLog } from './stream/embedded/log.ts'
import { createMetrics } from './telemetry/metrics.ts'

const TAIL_BYTES_MAX = 64 * 2 ** 20

export async function composeEmbeddedEngine(
  settings: EngineSettings,
  edge: EngineEdge,
): Promise<EngineControl> {
  const { link, log: logger, nowMs, wait, soon } = edge
  const metrics = createMetrics({ isMain: false })
  const { meter } = metrics
  const store = await openStore({ url: settings.databaseUrl, meter })
  const log = await EmbeddedLog.open(
    { table: store.logTable, meter, logger, nowMs, soon },
    { lanes: settings.lanes, bytesMax: settings.logBytesMax, tailBytesMax: TAIL_BYTES_MAX },
  )
  await store.turns.bindLog(await standingOf(log, settings.lanes))
  const bus = new LocalBus()
  const leases = new SoleOwner(store.turns, settings.lanes)
  const ports = { store: store.turns, log, leases, bus, meter, logger, nowMs, wait }
  const system = makeSystem(ports, settings)
  meter.gauge('lane_lag_submissions', {}, () => Math.max(0, log.appended - system.applied))
  serveStore(store, link)
  serveBus(bus, link)
  link.serve('log', log)
  await system.start()
  const stopKeeping = keepHouse({ retention: store.retention, system, meter, settings, edge })
  return {
    metrics: () => metrics.part(),
    ownedLanes: () => Promise.resolve(system.ownedLanes),
    drain: () => system.drain(),
    close: async () => {
      await stopKeeping()
      await system.halt()
      await store.close()
    },
  }
}

function serveStore(store: Store, link: Link): void {
  const { channels, devices, subscriptions, read, operations, probe } = store
  const services = { channels, devices, subscriptions, read, operations, probe }
  for (const [name, service] of Object.entries(services)) link.serve(name, service)
}
