// The one interface to executions of prepared statements on a connection. Two things stand behind
// it: packets of ours that are sent without waiting (pipelined.ts), and the driver's own executions
// (driver-executions.ts) for a driver that does not work as those packets need it.

import type { RowsStatement, Send } from '#src/store/session'

export interface Executions {
  /** A statement with its values; what is given sends it. Call that once. */
  make(statement: RowsStatement): Send
  /** To be called before anything else is asked of the connection. */
  interrupt(): void
}
