// What crosses between the threads of a gateway. Both ends of each wire are checked against these
// types: the services that an end serves, and the topics that it tells.
//
//   frontend ◀──▶ engine        frontend ◀──▶ log        engine ◀──▶ log        frontend ◀──▶ QUIC
//
// A node of a cluster has no thread for the log, and its frontend has stores and a bus of its own.

import type { StoredBatch } from '#domain/lane'
import type { LogSource, LogWriter, Probe } from '#domain/ports'
import type {
  ChannelKeyStore,
  ChannelStore,
  DeviceStore,
  OperationStore,
  ReadStore,
  SubscriptionStore,
} from '#domain/store-ports'
import type { Config } from '#src/config/config'
import type { MetricsPart } from '#src/telemetry/metrics'
import type { BusTopics, InterestTopics } from './bus-bridge.ts'
import type { CarrierOrders, CarrierTopics } from './carrier-bridge.ts'
import type { None, Services } from './rpc.ts'

/** The settings that threads need; their only secrets are those of their own connections. */
export type ThreadSettings = Pick<
  Config,
  | 'databaseUrl'
  | 'cluster'
  | 'lanes'
  | 'nodeId'
  | 'logLevel'
  | 'logKeepMs'
  | 'logBytesMax'
  | 'statusRetentionMs'
  | 'historyRetentionMs'
  | 'deviceRetentionMs'
  | 'privateTransports'
>

/** What the frontend asks of any thread. */
export interface ThreadControl {
  metrics(): Promise<MetricsPart>
  close(): Promise<void>
}

/** What the frontend asks of the log of a sole process. */
export interface LogControl extends ThreadControl {
  /** Where this process listens, for another one that finds the database in use: `host:port`. */
  nameAddress(address: string): Promise<void>
}

/** What the frontend asks of the engine. */
export interface EngineControl extends ThreadControl {
  /**
   * Takes the lanes. A sole process has applied what its log held when this resolves. Rejects with
   * a sentence for the operator.
   */
  start(): Promise<void>
  ownedLanes(): Promise<number>
  /** Ends the turns; a sole process first applies what the log holds, and sessions get it. */
  drain(): Promise<void>
}

/** What the frontend asks of a listener in another thread. */
export interface FarListener {
  listen(): Promise<number>
  reload(): Promise<void>
}

/** How every thread says that it has started, could not start, or cannot go on, and why. */
export interface LifeTopics {
  readonly ready: undefined
  readonly failed: string
  readonly ended: string
}

/** What the threads have for the frontend. */
export interface ThreadEnds {
  /** The log of a sole process. */
  readonly log: {
    readonly services: Services<{ control: LogControl; log: LogWriter; probe: Probe }>
    readonly topics: LifeTopics
  }
  /** The engine of a sole process: actors and store. */
  readonly engine: {
    readonly services: Services<{
      control: EngineControl
      channels: ChannelStore
      channelKeys: ChannelKeyStore
      devices: DeviceStore
      subscriptions: SubscriptionStore
      read: ReadStore
      operations: OperationStore
      probe: Probe
    }>
    readonly topics: LifeTopics & BusTopics
  }
  /** The engine of a node in a cluster. */
  readonly 'cluster-engine': {
    readonly services: Services<{ control: EngineControl }>
    readonly topics: LifeTopics
  }
  /** The devices that connect over QUIC. */
  readonly quic: {
    readonly services: Services<{ control: ThreadControl; listener: FarListener }>
    readonly topics: LifeTopics & CarrierTopics
  }
}

export type ThreadName = keyof ThreadEnds

/** What operators read of a thread in log lines. */
export const THREAD_TITLE: Readonly<Record<ThreadName, string>> = {
  log: 'log',
  engine: 'engine',
  'cluster-engine': 'engine',
  quic: 'QUIC listener',
}

/** What the frontend has for its threads. */
export interface FrontendEnd {
  readonly services: None
  readonly topics: InterestTopics & CarrierOrders
}

/** What the log of a sole process has for the engine. */
export interface LogEnd {
  readonly services: Services<{ log: LogSource }>
  readonly topics: { readonly appended: readonly StoredBatch[] }
}

/** The engine only asks the log. */
export interface LogReaderEnd {
  readonly services: None
  readonly topics: None
}
