// The ports and limits of a system of actors.

import type { Bus, LaneLeases, LogReader, NowMs } from '#domain/ports'
import type { TurnStore } from '#domain/store-ports'
import type { Logger, Meter } from '#domain/telemetry'
import type { DirectoryLimits } from './channel.ts'
import type { DeadlinePorts } from './deadlines.ts'

export interface SystemPorts {
  readonly store: TurnStore
  readonly log: LogReader
  readonly leases: LaneLeases
  readonly bus: Bus
  readonly meter: Meter
  readonly logger: Logger
  readonly nowMs: NowMs
  /** The log cannot be followed any more: the process must end. (W5) */
  readonly onMismatch: (reason: string) => void
  /** Appends a tick to the log of a lane. */
  readonly appendTick: DeadlinePorts['appendTick']
  /** Resolves after a delay in milliseconds. */
  readonly wait: (delayMs: number) => Promise<void>
  /** Runs a task after the tasks that already wait for this thread. */
  readonly soon: (task: () => void) => void
}

export interface SystemOptions extends DirectoryLimits {
  /** False: an update of a Thing that is sent as soon as it is applied leaves no record. */
  readonly recordsUpdates: boolean
  /** Submissions in one turn, at most. */
  readonly turnMax: number
  /** Milliseconds for which applied batches stay in the log. (W4) */
  readonly logKeepMs: number
}
