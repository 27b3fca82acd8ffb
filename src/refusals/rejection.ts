// Turns a rejected call into a refusal for its caller and a report for the operator.

import { reportDefect } from '#domain/defect'
import type { DefectReport } from '#domain/defect'
import { fault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { NowMs } from '#domain/ports'
import { STORE_BUSY, STORE_FAILURES, isOutage } from '#domain/store-ports'

/** The refusal of a gateway that has too much to do. */
export const BUSY = fault('server_busy', { retryAfterMs: 1_000 })

const OUTAGE_TOLD_EVERY_MS = 1_000

export type RefusalOf = (error: unknown, report: (defect: DefectReport) => void) => Fault

/**
 * Returns a function that gives the fault for a rejected call, which hides the reason. A busy store
 * is not reported: its metrics show it. One that is away is reported once a second at most, as
 * every request meets it; anything else each time.
 */
export function refusalsBy(nowMs: NowMs): RefusalOf {
  let toldMs = -Infinity
  return (error, report) => {
    if (error instanceof Error && error.name === STORE_BUSY) return BUSY
    const isTold = isOutage(error) && Math.abs(nowMs() - toldMs) < OUTAGE_TOLD_EVERY_MS
    if (isOutage(error) && !isTold) toldMs = nowMs()
    if (!isTold) report(reportDefect(error))
    const isStore = error instanceof Error && STORE_FAILURES.includes(error.name)
    return isStore ? BUSY : fault('internal_error')
  }
}
