// What stands behind the frontend of a process: a log to write to, a bus, stores, and somebody who
// applies the lanes. One process has it all in its engine's thread, a node of a cluster shares it.

import type { Bus, LogWriter, NowMs, Probe, SubmissionSink, Timers } from '#domain/ports'
import type {
  ChannelStore,
  DeviceStore,
  OperationStore,
  ReadStore,
  SubscriptionStore,
} from '#domain/store-ports'
import type { Log, Meter } from '#domain/telemetry'
import type { MetricsPart } from '#src/telemetry/metrics'

/** The stores that ingress and sessions use. */
export interface FrontendStores {
  readonly channels: ChannelStore
  readonly devices: DeviceStore
  readonly subscriptions: SubscriptionStore
  readonly read: ReadStore
  readonly operations: OperationStore
}

export interface Backend {
  readonly log: LogWriter
  /** Milliseconds of a round: what of an append costs the same whatever it holds is paid once. */
  readonly roundMs: number
  readonly bus: Bus
  readonly stores: FrontendStores
  readonly probes: readonly Probe[]
  /** How safe an accepted submission is right now, in words. */
  readonly durability: () => string
  /** The figures of the other threads of this process. */
  readonly metrics: () => Promise<readonly MetricsPart[]>
  /** Tells where this process's accepted operations can be found, for whoever asks it. */
  readonly answerFor: (sink: Pick<SubmissionSink, 'find'>) => void
  /** Calls back when announcements may have been lost. */
  readonly onLoss: (listener: () => void) => void
  /** What was taken to be applied is applied, or left to others. Stores, log and bus stay. */
  readonly drain: () => Promise<void>
  readonly close: () => Promise<void>
}

/** What the frontend's thread gives to what stands behind it. */
export interface BackendEdge {
  readonly log: Log
  readonly meter: Meter
  readonly nowMs: NowMs
  /** Milliseconds that only ever grow. */
  readonly monotonicMs: () => number
  readonly timers: Timers
  /** The process cannot go on, and what it accepted is safe in the log. */
  readonly onFailure: (reason: string) => void
}
