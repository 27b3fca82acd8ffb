// What a system of actors is made with.

import type { Bus, LaneLeases, LogReader, NowMs } from '#domain/ports'
import type { TurnStore } from '#domain/store-ports'
import type { Log, Meter } from '#domain/telemetry'
import type { DirectoryLimits } from './channel.ts'

export interface SystemPorts {
  readonly store: TurnStore
  readonly log: LogReader
  readonly leases: LaneLeases
  readonly bus: Bus
  readonly meter: Meter
  readonly logger: Log
  readonly nowMs: NowMs
  /** The log cannot be followed any more: the process must end. (W5) */
  readonly onMismatch: (reason: string) => void
  /** Resolves after a delay in milliseconds. */
  readonly wait: (delayMs: number) => Promise<void>
  /** Runs a task after what already waits for this thread. */
  readonly soon: (task: () => void) => void
}

export interface SystemOptions extends DirectoryLimits {
  /** Submissions in one turn, at most. */
  readonly turnMax: number
  /** Applied batches are kept in the log for this long. (W4) */
  readonly logKeepMs: number
}
