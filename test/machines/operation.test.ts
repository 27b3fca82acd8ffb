import test from 'ava'

import { OPERATION_STATUSES } from '#domain/operation'
import type { OperationStatus } from '#domain/operation'
import { nextStatus, statusAfter } from '#machines/operation'
import type { OperationSignal } from '#machines/operation'

const ENDS = ['queue', 'settle', 'settlePartly', 'fail'] as const
const SIGNALS: readonly OperationSignal[] = ['take', 'schedule', 'cancel', ...ENDS]

// Method: every status with every signal; what stands in no row is refused. (decisions.md 5)
const moves: Readonly<Record<OperationStatus, Partial<Record<OperationSignal, OperationStatus>>>> =
  {
    accepted: { take: 'processing', fail: 'failed' },
    processing: {
      schedule: 'scheduled',
      queue: 'provider_queued',
      settle: 'sent',
      settlePartly: 'partially_failed',
      fail: 'failed',
    },
    scheduled: {
      cancel: 'cancelled',
      queue: 'provider_queued',
      settle: 'sent',
      settlePartly: 'partially_failed',
      fail: 'failed',
    },
    provider_queued: { settle: 'sent', settlePartly: 'partially_failed', fail: 'failed' },
    sent: {},
    partially_failed: {},
    failed: {},
    cancelled: {},
  }

for (const status of OPERATION_STATUSES) {
  test(`an operation that is ${status} goes where it may and nowhere else`, (t) => {
    for (const signal of SIGNALS) t.is(nextStatus(status, signal), moves[status][signal], signal)
  })
}

test('an operation moves forward only', (t) => {
  for (const status of OPERATION_STATUSES) {
    for (const signal of SIGNALS) {
      const next = nextStatus(status, signal)
      if (next === undefined) continue
      t.true(OPERATION_STATUSES.indexOf(next) > OPERATION_STATUSES.indexOf(status))
    }
  }
})

test('signals in a row lead to their last state, and a refused one is a defect', (t) => {
  t.is(statusAfter(), 'accepted')
  t.is(statusAfter('take', 'settle'), 'sent')
  t.is(statusAfter('take', 'queue', 'settlePartly'), 'partially_failed')
  t.is(statusAfter('take', 'fail'), 'failed')
  t.throws(() => statusAfter('take', 'settle', 'fail'), { message: /sent cannot fail/ })
  t.throws(() => statusAfter('settle'), { message: /accepted cannot settle/ })
})
