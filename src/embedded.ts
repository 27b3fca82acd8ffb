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
import type { Backing, BackingEdge } from './backing.ts'
import type { Config } from './config.ts'
import type { EngineControl, ThreadControl } from './engine.ts'
import { linkedBus } from './linked-bus.ts'
import { LocalBus } from './stream/embedded/bus.ts'
import { startThread, threadSettings } from './thread.ts'

const DURABILITY = 'embedded: fsync before each answer'

/** Rejects with a sentence for the operator when something cannot start. */
export async function startEmbedded(config: Config, edge: BackingEdge): Promise<Backing> {
  const { log, engine } = await startThreads(config, edge)
  const { link, control } = engine
  return {
    log: log.link.remote<LogWriter>('log'),
    // An append waits for the one before it, and that for an fsync.
    roundMs: 0,
    bus: linkedBus(new LocalBus(), link),
    stores: {
      channels: link.remote<ChannelStore>('channels'),
      devices: link.remote<DeviceStore>('devices'),
      subscriptions: link.remote<SubscriptionStore>('subscriptions'),
      read: link.remote<ReadStore>('read'),
      operations: link.remote<OperationStore>('operations'),
    },
    probes: [
      log.link.remote<Probe>('probe'),
      link.remote<Probe>('probe'),
      lanesProbe(control, config.lanes),
    ],
    durability: () => DURABILITY,
    metrics: () => Promise.all([log.control.metrics(), control.metrics()]),
    // Nobody else could ask, and the link loses nothing.
    answerFor: () => undefined,
    onLoss: () => undefined,
    drain: () => control.drain(),
    close: async () => {
      await engine.stop()
      await log.stop()
    },
  }
}

async function startThreads(config: Config, edge: BackingEdge) {
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
