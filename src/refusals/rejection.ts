// Turns a rejected call into a refusal for its caller and a report for the operator.

import { reportDefect } from '#domain/defect'
import type { DefectReport } from '#domain/defect'
import { fault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import { STORE_BUSY, STORE_FAILURES } from '#domain/store-ports'

/** The refusal of a gateway that has too much to do. */
export const BUSY = fault('server_busy', { retryAfterMs: 1_000 })

/**
 * The fault that the caller gets, which hides the reason. A busy store is not reported: its metrics
 * show it.
 */
export function refusalOf(error: unknown, report: (defect: DefectReport) => void): Fault {
  if (error instanceof Error && error.name === STORE_BUSY) return BUSY
  report(reportDefect(error))
  const isStore = error instanceof Error && STORE_FAILURES.includes(error.name)
  return isStore ? BUSY : fault('internal_error')
}
