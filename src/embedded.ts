// One process with everything in it: log, actors and SQLite stand in the engine's thread.

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
import { startEngineThread } from './engine-thread.ts'
import type { EngineControl } from './engine.ts'
import { linkedBus } from './linked-bus.ts'
import { LocalBus } from './stream/embedded/bus.ts'

const DURABILITY = 'embedded: fsync before each answer'

/** Rejects with a sentence for the operator when something cannot start. */
export async function startEmbedded(config: Config, edge: BackingEdge): Promise<Backing> {
  const { link, control, stop } = await startEngineThread(config, edge)
  return {
    log: link.remote<LogWriter>('log'),
    bus: linkedBus(new LocalBus(), link),
    stores: {
      channels: link.remote<ChannelStore>('channels'),
      devices: link.remote<DeviceStore>('devices'),
      subscriptions: link.remote<SubscriptionStore>('subscriptions'),
      read: link.remote<ReadStore>('read'),
      operations: link.remote<OperationStore>('operations'),
    },
    probes: [link.remote<Probe>('probe'), lanesProbe(control, config.lanes)],
    durability: () => DURABILITY,
    metrics: async () => [await control.metrics()],
    // Nobody else could ask, and the link loses nothing.
    answerFor: () => undefined,
    onLoss: () => undefined,
    drain: () => control.drain(),
    close: stop,
  }
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
