// The ports of a connection, which all connections of a door share.

import type { Runtime } from '#domain/runtime'
import type { Logger } from '#domain/telemetry'
import type { Held } from '#src/transports/held'
import type { Ticked, Ticks } from '#src/transports/ticks'
import type { Client, EntrancePorts } from './entrance.ts'
import type { FollowingPorts } from './following.ts'
import type { InFlight } from './in-flight.ts'
import type { Lasting } from './lasting.ts'
import type { Testament } from './wills.ts'

export interface ConnectionPorts<Connection extends Ticked<Connection>> extends EntrancePorts {
  readonly runtime: Pick<Runtime, 'nowMs' | 'wait' | 'after' | 'monotonicMs' | 'soon'>
  readonly logger: Pick<Logger, 'debug' | 'warn' | 'error'>
  /** For clients whose credentials are not good yet, and for the others. */
  readonly strangers: InFlight
  readonly inFlight: InFlight
  readonly lasting: Lasting
  readonly held: Held
  readonly following: FollowingPorts
  readonly ticks: Ticks<Connection>
  /** Called once the credentials are good: an older connection of the same client ends. */
  entered(connection: Connection): void
  /** Called once, when the connection is over; with its will, when that is to be published. */
  left(connection: Connection, testament: Testament | undefined): void
  /** Called once for a kept session, which ends after so many milliseconds without a connection. */
  gone(client: Client, keptMs: number): void
  /** Counts a connection that ends. */
  ended(reason: string): void
}
