// The engine: what applies the lanes, composed in a thread of its own. Neither turns nor SQLite
// ever run on the event loop that answers requests.

import type { NowMs } from '#domain/ports'
import type { Log } from '#domain/telemetry'
import { composeClusterEngine } from './cluster-engine.ts'
import type { Config } from './config.ts'
import { composeEmbeddedEngine } from './embedded-engine.ts'
import type { Link } from './link.ts'
import type { MetricsPart } from './telemetry/metrics.ts'

/** The settings that the engine needs; of the secrets only those of its own connections. */
export type EngineSettings = Pick<
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

export interface EngineEdge {
  readonly link: Link
  readonly log: Log
  readonly nowMs: NowMs
  /** Milliseconds that only ever grow. */
  readonly monotonicMs: () => number
  readonly wait: (delayMs: number) => Promise<void>
  /** Calls back once after a delay. Gives the way to cancel. */
  readonly after: (delayMs: number, callback: () => void) => () => void
  /** Runs a task after the messages that are at hand. */
  readonly soon: (task: () => void) => void
}

/** What the front asks of the engine itself. */
export interface EngineControl {
  metrics(): Promise<MetricsPart>
  ownedLanes(): Promise<number>
  /** Ends the turns; a sole process applies what the log holds, and sessions still get it. */
  drain(): Promise<void>
  close(): Promise<void>
}

/** Starts everything and tells the front `ready`, or `failed` with a sentence for the operator. */
export async function startEngine(settings: EngineSettings, edge: EngineEdge): Promise<void> {
  const { link } = edge
  const { cluster } = settings
  try {
    const control = await (cluster === undefined
      ? composeEmbeddedEngine(settings, edge)
      : composeClusterEngine({ ...settings, cluster }, edge))
    link.serve('engine', control)
    link.tell('ready', undefined)
  } catch (error) {
    link.tell('failed', error instanceof Error ? error.message : String(error))
  }
}
