// One process with everything in it: actors and SQLite stand in the engine's thread, the log in
// another.

import { MessageChannel } from 'node:worker_threads'

import type { LogWriter, Probe } from '#domain/ports'
import type {
  ChannelStore,
  DeviceStore,
  OperationStore,
  ReadStore,
  SubscriptionStore,
} from '#domain/store-ports'
import type { Backend, BackendEdge } from '#src/runtime/backend'
import type { Config } from '#src/config/config'
import type { EngineControl, ThreadControl } from '#src/runtime/engine/contract'
import { bridgedBus } from '#src/threads/bus-bridge'
import { LocalBus } from '#src/stream/embedded/bus'
import { startThread, threadSettings } from '#src/threads/worker-handle'

const DURABILITY = 'embedded: fsync before each answer'

/** Rejects with a sentence for the operator when something cannot start. */
export async function startEmbedded(config: Config, edge: BackendEdge): Promise<Backend> {
  const { log, engine } = await startThreads(config, edge)
  const { rpc, control } = engine
  return {
    log: log.rpc.remote<LogWriter>('log'),
    // An append waits for the one before it, and that for an fsync.
    roundMs: 0,
    bus: bridgedBus(new LocalBus(), rpc),
    stores: {
      channels: rpc.remote<ChannelStore>('channels'),
      devices: rpc.remote<DeviceStore>('devices'),
      subscriptions: rpc.remote<SubscriptionStore>('subscriptions'),
      read: rpc.remote<ReadStore>('read'),
      operations: rpc.remote<OperationStore>('operations'),
    },
    probes: [
      log.rpc.remote<Probe>('probe'),
      rpc.remote<Probe>('probe'),
      lanesProbe(control, config.lanes),
    ],
    durability: () => DURABILITY,
    metrics: () => Promise.all([log.control.metrics(), control.metrics()]),
    // Nobody else could ask, and the RPC loses nothing.
    answerFor: () => undefined,
    onLoss: () => undefined,
    drain: () => control.drain(),
    close: async () => {
      await engine.stop()
      await log.stop()
    },
  }
}

async function startThreads(config: Config, edge: BackendEdge) {
  const settings = threadSettings(config)
  const { port1, port2 } = new MessageChannel()
  const log = startThread<ThreadControl>({ name: 'log', settings, peer: port1 }, edge)
  const engine = startThread<EngineControl>({ name: 'engine', settings, peer: port2 }, edge)
  // Both start at once; whichever could not takes the other along.
  const [logEnd, engineEnd] = await Promise.allSettled([log, engine])
  if (logEnd.status === 'fulfilled' && engineEnd.status === 'fulfilled') {
    return { log: logEnd.value, engine: engineEnd.value }
  }
  for (const end of [engineEnd, logEnd]) if (end.status === 'fulfilled') await end.value.stop()
  const failed = [logEnd, engineEnd].find((end) => end.status === 'rejected')
  throw failed?.reason
}

/** Every lane is applied here, or readiness says how many are not. */
function lanesProbe(engine: EngineControl, lanes: number): Probe {
  return {
    readiness: async () => {
      const owned = await engine.ownedLanes()
      return { name: 'lanes', ready: owned === lanes, detail: `${owned} of ${lanes} owned` }
    },
  }
}
