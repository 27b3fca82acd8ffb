// What a thread of the gateway is given, and what the frontend asks of it.

import type { MessagePort } from 'node:worker_threads'

import type { NowMs } from '#domain/ports'
import type { Log } from '#domain/telemetry'
import type { Config } from '#src/config/config'
import type { MetricsPart } from '#src/telemetry/metrics'
import type { Rpc } from '#src/threads/rpc'

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
  /** To the frontend's thread. */
  readonly rpc: Rpc
  /** To the other thread of a sole process: from the engine to the log, and back. */
  readonly peer?: MessagePort
  readonly log: Log
  /** Tells the frontend why this thread cannot go on. */
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

/** What the frontend asks of any thread. */
export interface ThreadControl {
  metrics(): Promise<MetricsPart>
  close(): Promise<void>
}

/** What the frontend asks of the engine. */
export interface EngineControl extends ThreadControl {
  ownedLanes(): Promise<number>
  /** Ends the turns; a sole process applies what the log holds, and sessions still get it. */
  drain(): Promise<void>
}
