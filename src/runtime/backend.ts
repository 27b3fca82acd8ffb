// The backend of a process: a log to write to, a bus, stores, and an engine that applies the lanes.
// A sole process runs them in its own threads; the nodes of a cluster share them.

import type { Bus, LogWriter, Probe, SubmissionSink } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import type { Logger, Meter } from '#domain/telemetry'
import type { FrontendStores } from '#src/store/store'
import type { MetricsPart } from '#src/telemetry/meter'
import type { Servers } from './threads/servers.ts'
import type { Threads } from './threads/threads.ts'

export interface Backend {
  readonly log: LogWriter
  /** Milliseconds of a round: one append carries the submissions that arrive during it. */
  readonly roundMs: number
  readonly bus: Bus
  readonly stores: FrontendStores
  readonly probes: readonly Probe[]
  /** The present durability of an accepted submission, as text for operators. */
  readonly durability: () => string
  /** The metrics of this process's other threads. */
  readonly metrics: () => Promise<readonly MetricsPart[]>
  /** Lets other processes ask this one for operations that it accepted. */
  readonly answerFor: (sink: Pick<SubmissionSink, 'find'>) => void
  /** Calls back when announcements may have been lost. */
  readonly onLoss: (listener: () => void) => void
  /**
   * Calls back when this process gets a task that one process of the cluster does, and when it
   * loses it. Resolves to a function that gives the task up.
   */
  readonly alone: (
    task: 'bridge',
    changed: (isOurs: boolean) => Promise<void>,
  ) => Promise<() => Promise<void>>
  /**
   * Takes the lanes that this process applies. Its port is already bound, at this address
   * (`host:port`). Rejects with a sentence for the operator.
   */
  readonly start: (address: string) => Promise<void>
  /**
   * Applies the rest of this process's lanes, or leaves it to other nodes. Stores, log and bus stay
   * open.
   */
  readonly drain: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Ports that the frontend's thread gives to its backend. */
export interface BackendEdge {
  readonly logger: Logger
  readonly meter: Meter
  readonly runtime: Runtime
  /** Starts the other threads of this process. */
  readonly threads: Threads
  /** Absent for files and the network. */
  readonly servers?: Servers | undefined
  /** Gets the reason when the process cannot go on. It ends; the log keeps what it accepted. */
  readonly onFailure: (reason: string) => void
}
