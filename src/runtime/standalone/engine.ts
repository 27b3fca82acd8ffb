// The engine of a sole process: actors and store over one SQLite database. It reads the log that
// stands in the thread beside it.

import type {
  EngineControl,
  LogEnd,
  LogReaderEnd,
  ThreadEnds,
  ThreadSettings,
} from '#src/threads/contract'
import { startMaintenance, makeSystem } from '#src/runtime/engine/maintenance'
import { Rpc } from '#src/threads/rpc'
import { serveBus } from '#src/threads/bus-bridge'
import { logStateOf } from '#src/stream/log-state'
import { openStore } from '#src/store/store'
import { LocalBus } from '#src/stream/embedded/bus'
import { SoleOwner } from '#src/stream/embedded/leases'
import { EmbeddedReader } from '#src/stream/embedded/reader'
import { createMetrics } from '#src/telemetry/metrics'
import type { ThreadEdge } from '#src/threads/threads'
import type { PeerWire } from '#src/threads/wire'

const TAIL_BYTES_MAX = 64 * 2 ** 20

export async function composeEmbeddedEngine(
  settings: ThreadSettings,
  edge: ThreadEdge<'engine'>,
): Promise<ThreadEnds['engine']['services']> {
  const { rpc, peer, log: logger, runtime, fail: onMismatch } = edge
  if (peer === undefined) throw new Error('the engine of a sole process has no log')
  const metrics = createMetrics({ isMain: false })
  const { meter } = metrics
  const store = await openStore({ url: settings.databaseUrl, meter, runtime })
  const log = await openLog(peer, settings.lanes)
  await store.turns.bindLog(await logStateOf(log, settings.lanes))
  const bus = new LocalBus()
  const leases = new SoleOwner(store.turns, settings.lanes)
  const ports = {
    store: store.turns,
    log,
    leases,
    bus,
    meter,
    logger,
    nowMs: runtime.nowMs,
    wait: runtime.wait,
    // SQLite commits on this thread: what is put off until it has begun would wait for its end.
    soon: (task: () => void): void => task(),
    onMismatch,
  }
  const system = makeSystem(ports, settings)
  meter.gauge('lane_lag_submissions', {}, () => Math.max(0, log.appended - system.applied))
  serveBus(bus, rpc)
  await system.start()
  // Whoever was answered before the last stop finds its operation, however that stop came.
  await system.caughtUp
  const stopMaintenance = startMaintenance({
    retention: store.retention,
    system,
    meter,
    settings,
    edge,
  })
  const control: EngineControl = {
    metrics: () => metrics.part(),
    ownedLanes: () => Promise.resolve(system.ownedLanes),
    drain: async () => {
      // Answers come behind what was told before them: now everything that was accepted is here.
      await log.identity()
      await system.drain()
    },
    close: async () => {
      await stopMaintenance()
      await system.halt()
      await store.close()
    },
  }
  const { channels, devices, subscriptions, read, operations, probe } = store
  return { control, channels, devices, subscriptions, read, operations, probe }
}

async function openLog(wire: PeerWire, lanes: number): Promise<EmbeddedReader> {
  const peer = new Rpc<LogReaderEnd, LogEnd>(wire)
  wire.on('close', () => peer.break(new Error("the log's thread has ended")))
  let reader: EmbeddedReader | undefined
  peer.onTell('appended', (batches) => reader?.take(batches))
  reader = await EmbeddedReader.open(peer.remote('log'), {
    lanes,
    tailBytesMax: TAIL_BYTES_MAX,
  })
  return reader
}
