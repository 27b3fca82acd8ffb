// Goal: one period of high load is one alarm. Method: fold values, compare the peaks.

import test from 'ava'

import { QUIET, nextAlarm } from '#src/dev/demo/load-event'
import type { Alarm } from '#src/dev/demo/load-event'

function peaksOf(values: readonly number[], threshold: number): readonly number[] {
  let alarm: Alarm = QUIET
  return values.map((value) => {
    alarm = nextAlarm(alarm, value, threshold)
    return alarm.kind === 'raised' ? alarm.peak : 0
  })
}

const rows: [values: number[], peaks: number[]][] = [
  [
    [10, 79.9, 80],
    [0, 0, 0],
  ],
  [
    [80.1, 90, 64, 63.9, 10],
    [80.1, 90, 90, 0, 0],
  ],
  [
    [90, 70, 81, 70, 60, 81],
    [90, 90, 90, 90, 0, 81],
  ],
]

test('an alarm begins above the threshold, keeps its peak, and ends below four fifths', (t) => {
  for (const [values, peaks] of rows) t.deepEqual(peaksOf(values, 80), peaks, values.join())
})
