// The one interface to executions of prepared statements on a connection. It has two
// implementations: our own packets, sent without waiting (pipelined.ts), and the driver's own
// executions (driver-executions.ts), for a driver that does not work as our packets need it.

import type { RowsStatement, Send } from '#src/store/jobs/executor'

export interface Executions {
  /** Makes a statement with its values; the given function sends it. Call that once. */
  make(statement: RowsStatement): Send
  /** Called before any other use of the connection. */
  interrupt(): void
}
