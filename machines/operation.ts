// The progress of one operation: forward only. (decisions.md 5)

import { createMachine } from 'xstate'

import type { FaultCode } from '#domain/fault'
import type { OperationStatus } from '#domain/operation'
import type { PushTally } from '#domain/push'
import { tableOf } from './table.ts'

/**
 * The signals of an operation. `take`: a turn has it. `queue`: provider jobs were made. `settle`:
 * every target is served, or there is none. `settlePartly`: some targets failed. `fail`: the
 * submission was refused, or every target failed. `schedule`: the Message waits for its time.
 * `cancel`: it was taken back before.
 */
export type OperationSignal =
  | 'take'
  | 'schedule'
  | 'cancel'
  | 'queue'
  | 'settle'
  | 'settlePartly'
  | 'fail'

const endings = { settle: 'sent', settlePartly: 'partially_failed', fail: 'failed' }

export const operationMachine = createMachine({
  id: 'operation',
  initial: 'accepted',
  states: {
    accepted: { on: { take: 'processing', fail: 'failed' } },
    processing: { on: { schedule: 'scheduled', queue: 'provider_queued', ...endings } },
    scheduled: { on: { cancel: 'cancelled', queue: 'provider_queued', ...endings } },
    provider_queued: { on: endings },
    sent: {},
    partially_failed: {},
    failed: {},
    cancelled: {},
  },
})

const table = tableOf(operationMachine)

/** The status after a signal; undefined when the machine refuses it. */
export function nextStatus(
  status: OperationStatus,
  signal: OperationSignal,
): OperationStatus | undefined {
  return table.get(status)?.get(signal) as OperationStatus | undefined
}

/** The status after these signals. Signals that the machine refuses are a defect. */
export function statusAfter(...signals: readonly OperationSignal[]): OperationStatus {
  return signals.reduce<OperationStatus>((status, signal) => {
    const next = nextStatus(status, signal)
    if (next === undefined) throw new Error(`an operation that is ${status} cannot ${signal}`)
    return next
  }, 'accepted')
}

/** The status of an operation that waits for push providers. */
export const QUEUED = statusAfter('take', 'queue')

const DONE = statusAfter('take', 'queue', 'settle')
const PARTLY = statusAfter('take', 'queue', 'settlePartly')
const FAILED = statusAfter('take', 'queue', 'fail')

/** The end of a queued operation, once each of its pushes has ended. */
export function endOfQueued({ served, failed }: PushTally): {
  readonly status: OperationStatus
  readonly errorCode?: FaultCode
} {
  if (failed === 0) return { status: DONE }
  return served === 0 ? { status: FAILED, errorCode: 'push_failed' } : { status: PARTLY }
}
