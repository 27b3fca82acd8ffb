import test from 'ava'

import { emptyTally } from './load/entry-counter.ts'
import type { LoadReport, SubscriberReport } from './load/messages.ts'
import { cpuSecondsFrom } from './rig/processes.ts'
import { cpuBetween, deviceDifference, reasonsAgainst, rowDifference } from './rig/rig.ts'
import { counterIn } from './rig/subject.ts'

const QUICK = { count: 10, p50Ms: 1, p99Ms: 349, p999Ms: 349, maxMs: 349 }
const SLOW = { ...QUICK, p99Ms: 350 }
const LOAD: LoadReport = {
  due: 10,
  answered: 10,
  accepted: 10,
  refused: {},
  lost: 0,
  elapsedMs: 1,
  acceptedPerSecond: 10,
  latency: QUICK,
}
const DEVICE: SubscriberReport = {
  ...emptyTally(),
  entries: 10,
  latency: QUICK,
}
const DRAINED = { drainMs: 1_000, device: DEVICE, skipped: 0 }

test('rig/2: a step within every limit is sustained', (t) => {
  t.deepEqual(reasonsAgainst(LOAD, DRAINED), [])
  t.deepEqual(reasonsAgainst(LOAD, { ...DRAINED, device: undefined }), [])
})

const TOO_MUCH: readonly [load: LoadReport, drained: typeof DRAINED, reason: RegExp][] = [
  [{ ...LOAD, accepted: 9 }, DRAINED, /accepted 9 of 10/],
  [{ ...LOAD, latency: SLOW }, DRAINED, /POST→200 p99/],
  [{ ...LOAD, latency: { ...QUICK, p99Ms: NaN } }, DRAINED, /POST→200 p99 NaN/],
  [LOAD, { ...DRAINED, drainMs: 1_001 }, /drained in 1001 ms/],
  [LOAD, { ...DRAINED, device: { ...DEVICE, latency: SLOW } }, /POST→device p99/],
  [LOAD, { ...DRAINED, skipped: 1 }, /fell behind: 1/],
]

for (const [load, drained, reason] of TOO_MUCH) {
  test(`rig/2: a step is too much because of ${reason.source}`, (t) => {
    const reasons = reasonsAgainst(load, drained)
    t.is(reasons.length, 1)
    t.regex(reasons[0] ?? '', reason)
  })
}

const BASE = { operations: 5, revisions: 7, feed: 6 }
const GROWN = { operations: 15, revisions: 17, feed: 16 }

test('rig/1: rows that grew by the accepted number are no difference', (t) => {
  t.is(rowDifference(10, { base: BASE, counts: GROWN }), undefined)
  t.is(deviceDifference(10, { received: 10, device: DEVICE }), undefined)
})

for (const name of ['operations', 'revisions', 'feed'] as const) {
  for (const off of [-1, 1, NaN]) {
    test(`rig/1: ${name} off by ${off} is a difference`, (t) => {
      const counts = { ...GROWN, [name]: GROWN[name] + off }
      t.regex(rowDifference(10, { base: BASE, counts }) ?? '', new RegExp(`"${name}"`))
    })
  }
}

for (const name of ['repeated', 'gaps', 'closed'] as const) {
  test(`rig/1: a device that saw ${name} is a difference`, (t) => {
    t.truthy(deviceDifference(10, { received: 10, device: { ...DEVICE, [name]: 1 } }))
  })
}

test('rig/1: a device that received less or more is a difference', (t) => {
  t.truthy(deviceDifference(10, { received: 9, device: DEVICE }))
  t.truthy(deviceDifference(10, { received: 11, device: DEVICE }))
})

test('CPU time is read also behind a process name with brackets', (t) => {
  const stat = `42 (node (x) y) S ${'0 '.repeat(10)}150 50 0 0 20`
  t.is(cpuSecondsFrom(stat), 2)
})

test('a counter is summed over its labels and not over names that begin alike', (t) => {
  const text =
    '# HELP a_total x\na_total{status="sent"} 2\na_total{status="failed"} 1\na_total_more 9\n'
  t.is(counterIn(text, 'a_total'), 3)
  t.is(counterIn(text, 'b_total'), 0)
})

test('CPU time between two readings is given process by process', (t) => {
  const before = { server: 1, generator: 2, subscriber: 0, backend: { nats: 5, database: 7 } }
  const after = { server: 4, generator: 3, subscriber: 0, backend: { nats: 6, database: 7 } }
  t.deepEqual(cpuBetween(before, after), {
    server: 3,
    generator: 1,
    subscriber: 0,
    backend: { nats: 1, database: 0 },
  })
})
