// The services and topics that cross between the threads of a gateway. The compiler checks both
// ends of each wire against these types.
//
//   frontend ◀──▶ engine        frontend ◀──▶ log             engine ◀──▶ log
//   frontend ◀──▶ dispatch      engine ◀──▶ dispatch          frontend ◀──▶ QUIC
//   log, engine ◀──▶ migration
//
// A node of a cluster has no thread for the log. Its frontend and its dispatch have their own
// stores and bus.

import type { StoredBatch } from '#domain/lane'
import type { LogSource, LogWriter, Probe, Readiness } from '#domain/ports'
import type { PushStore } from '#domain/push'
import type { SecretStore } from '#domain/push/secrets'
import type { Config } from '#src/config/config'
import type { FrontendStores } from '#src/store/store'
import type { MetricsPart } from '#src/telemetry/meter'
import type { BusTopics, ListenerTopics } from '#src/threads/bus-bridge'
import type { CarrierOrders, CarrierTopics } from '#src/threads/carrier-bridge'
import type { None, Services } from '#src/threads/rpc'
import type { PeerWire } from '#src/threads/wire'

/** The settings that threads need; their only secrets are those of their own connections. */
const THREAD_SETTINGS = [
  'databaseUrl',
  'databaseCaFile',
  'cluster',
  'lanes',
  'nodeId',
  'logLevel',
  'logKeepMs',
  'logBytesMax',
  'statusRetentionMs',
  'recordsUpdates',
  'tierRetentionMs',
  'historyRetentionMs',
  'deviceRetentionMs',
  'privateTransports',
  'providers',
  'thingPushIntervalMs',
] as const

export type ThreadSettings = Pick<Config, (typeof THREAD_SETTINGS)[number]>

/** Returns these settings without the others. */
export const threadSettings = (config: Config): ThreadSettings =>
  Object.fromEntries(
    THREAD_SETTINGS.map((name) => [name, config[name]]),
  ) as unknown as ThreadSettings // Each name has its own value.

/** Calls of the frontend to any thread. */
interface ThreadControl {
  metrics(): Promise<MetricsPart>
  close(): Promise<void>
}

/** Calls of the frontend to the log of a sole process. */
interface LogControl extends ThreadControl {
  /**
   * Records the address of this process, `host:port`, for another process that finds the database
   * in use.
   */
  nameAddress(address: string): Promise<void>
}

/** Calls of the frontend to the engine. */
export interface EngineControl extends ThreadControl {
  /**
   * Takes the lanes. When this resolves, a sole process has applied what its log held. Rejects with
   * a sentence for the operator.
   */
  start(): Promise<void>
  ownedLanes(): Promise<number>
  /**
   * Ends the turns. A sole process first applies what the log holds and announces it to its
   * sessions.
   */
  drain(): Promise<void>
}

/** Calls of the frontend to a listener in another thread. */
interface RemoteListener {
  listen(): Promise<number>
  reload(): Promise<void>
}

/** Calls of the frontend to dispatch. */
export interface DispatchControl extends ThreadControl {
  /** Begins to claim jobs. */
  start(): Promise<void>
  /** One entry for each provider. */
  readiness(): Promise<readonly Readiness[]>
  /** Finishes the running pushes and releases the other claims. */
  drain(): Promise<void>
}

/** Calls of a thread with a SQLite database to one that migrates it. */
export interface Migration {
  /** Brings `sqlite:<path>` up to date; gives the number of migrations that ran. */
  run(url: string): Promise<number>
}

/** Topics by which a thread says that it has started, or why it could not start or go on. */
interface LifeTopics {
  /** The names of its services. */
  readonly ready: readonly string[]
  readonly failed: string
  readonly ended: string
}

/** Services and topics that the threads have for the frontend. */
export interface ThreadEnds {
  /** The log of a sole process. */
  readonly log: {
    readonly services: Services<{ control: LogControl; log: LogWriter; probe: Probe }>
    readonly topics: LifeTopics
  }
  /** The engine of a sole process: actors and store. */
  readonly engine: {
    readonly services: Services<
      FrontendStores & {
        control: EngineControl
        probe: Probe
      }
    >
    readonly topics: LifeTopics & BusTopics
  }
  /** The engine of a node in a cluster. */
  readonly 'cluster-engine': {
    readonly services: Services<{ control: EngineControl }>
    readonly topics: LifeTopics
  }
  /** The devices that connect over QUIC. */
  readonly quic: {
    readonly services: Services<{ control: ThreadControl; listener: RemoteListener }>
    readonly topics: LifeTopics & CarrierTopics
  }
  /** Migrations of SQLite files. */
  readonly migration: {
    readonly services: Services<{ control: ThreadControl; migration: Migration }>
    readonly topics: LifeTopics
  }
  /** Dispatch of a sole process, which has a wire to the engine. */
  readonly dispatch: DispatchEnd
  /** Dispatch of a node in a cluster, with a store and a bus of its own. */
  readonly 'cluster-dispatch': DispatchEnd
}

/** Services and topics of dispatch for the frontend. */
interface DispatchEnd {
  readonly services: Services<{ control: DispatchControl }>
  readonly topics: LifeTopics
}

export type ThreadName = keyof ThreadEnds

/** The name of each thread in log lines. */
export const THREAD_TITLE: Readonly<Record<ThreadName, string>> = {
  log: 'log',
  engine: 'engine',
  'cluster-engine': 'engine',
  quic: 'QUIC listener',
  migration: 'migration',
  dispatch: 'dispatch',
  'cluster-dispatch': 'dispatch',
}

/** Topics of the frontend for its threads. */
export interface FrontendEnd {
  readonly services: None
  readonly topics: ListenerTopics &
    CarrierOrders & {
      /** The engine's end of a wire to a thread of dispatch that starts. */
      readonly dispatch: PeerWire
    }
}

/** Services of the log of a sole process for the engine. */
export interface LogEnd {
  /** The engine appends the ticks of its lanes. */
  readonly services: Services<{ log: LogSource & LogWriter }>
  readonly topics: { readonly appended: readonly StoredBatch[] }
}

/** Services of the engine of a sole process for dispatch. */
export interface JobsEnd {
  readonly services: Services<{ pushes: PushStore; secrets: SecretStore }>
  /** Says that there may be new jobs. */
  readonly topics: { readonly queued: undefined }
}

/** An end that has nothing for the other: dispatch for the engine, the engine for the log. */
export interface ReaderEnd {
  readonly services: None
  readonly topics: None
}

/** Tells the operator why a sole process ends: it lost its database in spite of the lock. */
export const FENCED =
  'another process has taken the database over: this one no longer accepts or applies anything'
