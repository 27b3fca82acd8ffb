// The engine: what applies the lanes, composed in a thread of its own. Neither turns nor SQLite
// ever run on the event loop that answers requests.

import type { MessagePort } from 'node:worker_threads'

import type { NowMs } from '#domain/ports'
import type { Log } from '#domain/telemetry'
import { composeClusterEngine } from './cluster-engine.ts'
import type { Config } from './config.ts'
import { composeEmbeddedEngine } from './embedded-engine.ts'
import type { Link } from './link.ts'
import type { MetricsPart } from './telemetry/metrics.ts'

/** The settings that threads need; of the secrets only those of their own connections. */
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
>

export interface ThreadEdge {
  /** To the front's thread. */
  readonly link: Link
  /** To the other thread of a sole process: from the engine to the log, and back. */
  readonly peer?: MessagePort
  readonly log: Log
  /** Tells the front why this thread cannot go on. */
  readonly fail: (reason: string) => void
  readonly nowMs: NowMs
  /** Milliseconds that only ever grow. */
  readonly monotonicMs: () => number
  readonly wait: (delayMs: number) => Promise<void>
  /** Calls back once after a delay. Gives the way to cancel. */
  readonly after: (delayMs: number, callback: () => void) => () => void
  /** Runs a task after the messages that are at hand. */
  readonly soon: (task: () => void) => void
}

/** What the front asks of any thread. */
export interface ThreadControl {
  metrics(): Promise<MetricsPart>
  close(): Promise<void>
}

/** What the front asks of the engine. */
export interface EngineControl extends ThreadControl {
  ownedLanes(): Promise<number>
  /** Ends the turns; a sole process applies what the log holds, and sessions still get it. */
  drain(): Promise<void>
}

/** Rejects with a sentence for the operator when something cannot start. */
export function composeEngine(settings: ThreadSettings, edge: ThreadEdge): Promise<EngineControl> {
  const { cluster } = settings
  return cluster === undefined
    ? composeEmbeddedEngine(settings, edge)
    : composeClusterEngine({ ...settings, cluster }, edge)
}
