import test from 'ava'

import { METRICS } from '#domain/telemetry'
import type { Meter } from '#domain/telemetry'
import { createMetrics } from '#src/telemetry/meter'
import type { Metrics } from '#src/telemetry/meter'
import { createProcessMetrics, metricsText } from '#src/telemetry/metrics'

/** The lines of a metric that hold values. */
async function linesOf(name: string, ...metrics: readonly Metrics[]) {
  const parts = await Promise.all(metrics.map((one) => one.part()))
  const text = await metricsText(structuredClone(parts))
  return text.split('\n').filter((line) => line.startsWith(`heliograph_${name}`))
}

test('a counter counts by one or by a given number, label by label', async (t) => {
  const metrics = createMetrics()
  const sent = metrics.meter.counter('operations_total', { status: 'sent' })
  const failed = metrics.meter.counter('operations_total', { status: 'failed' })
  metrics.meter.counter('operations_total', { status: 'processing' }) // never counts: no line
  sent()
  sent(4)
  failed()
  t.deepEqual(await linesOf('operations_total', metrics), [
    'heliograph_operations_total{status="sent"} 5',
    'heliograph_operations_total{status="failed"} 1',
  ])
})

test('a count is read once, however often the metrics are', async (t) => {
  const metrics = createMetrics()
  const retried = metrics.meter.counter('turns_retried_total', {})
  const again = metrics.meter.counter('turns_retried_total', {})
  for (const [counts, total] of [
    [0, 0],
    [3, 3],
    [0, 3],
    [2, 5],
  ] as const) {
    for (let count = 0; count < counts; count += 1) (count % 2 === 0 ? retried : again)()
    const reads = await Promise.all([metrics, metrics].map((one) => linesOf('turns_retried', one)))
    for (const lines of reads) t.deepEqual(lines, [`heliograph_turns_retried_total ${total}`])
  }
})

test('a histogram sorts into the buckets of its metric', async (t) => {
  const metrics = createMetrics()
  const observe = metrics.meter.histogram('batch_submissions', {})
  for (const value of [1, 3, 5000]) observe(value)
  const lines = await linesOf('batch_submissions', metrics)
  t.true(lines.includes('heliograph_batch_submissions_bucket{le="1"} 1'))
  t.true(lines.includes('heliograph_batch_submissions_bucket{le="4"} 2'))
  t.true(lines.includes('heliograph_batch_submissions_bucket{le="+Inf"} 3'))
  t.true(lines.includes('heliograph_batch_submissions_sum 5004'))
  t.is(lines.length, METRICS.batch_submissions.buckets.length + 3)
})

test('a gauge is read whenever the metrics are', async (t) => {
  const metrics = createMetrics()
  const open = { wss: 1, tcp: 7 }
  metrics.meter.gauge('sessions', { carrier: 'wss' }, () => open.wss)
  metrics.meter.gauge('sessions', { carrier: 'tcp' }, () => open.tcp)
  t.deepEqual(await linesOf('sessions', metrics), [
    'heliograph_sessions{carrier="wss"} 1',
    'heliograph_sessions{carrier="tcp"} 7',
  ])
  open.wss = 2
  t.true((await linesOf('sessions', metrics)).includes('heliograph_sessions{carrier="wss"} 2'))
})

test('the parts of two threads, sent as plain data, add up to one text', async (t) => {
  const [front, engine] = [createProcessMetrics(), createMetrics()]
  for (const { meter } of [front, engine]) {
    meter.counter('accepted_total', { model: 'thing' })(2)
    meter.gauge('store_queue', {}, () => 3)
    meter.histogram('turn_seconds', {})(0.002)
  }
  t.deepEqual(await linesOf('accepted_total', front, engine), [
    'heliograph_accepted_total{model="thing"} 4',
  ])
  t.deepEqual(await linesOf('store_queue', front, engine), ['heliograph_store_queue 6'])
  t.true((await linesOf('turn_seconds', front, engine)).includes('heliograph_turn_seconds_count 2'))
})

test('the figures of the process are given once, by the main thread', async (t) => {
  const parts = [createProcessMetrics(), createMetrics()].map((metrics) => metrics.part())
  const [main, other] = await Promise.all(parts)
  const text = await metricsText([main ?? [], other ?? []])
  t.is(text.match(/^process_resident_memory_bytes /gm)?.length, 1)
  t.deepEqual(text.match(/^# TYPE \w+_total gauge$/gm), null) // The name is that of a counter.
  t.is(other?.length, 0)
})

test('every metric can be made, and its text describes it', async (t) => {
  const metrics = createMetrics()
  const { meter }: { readonly meter: Meter } = metrics
  for (const [name, { kind, labels }] of Object.entries(METRICS)) {
    const values = Object.fromEntries(labels.map((label) => [label, 'x']))
    make(meter, { name, kind, values })
  }
  const text = await metricsText([await metrics.part()])
  for (const [name, { kind, help }] of Object.entries(METRICS)) {
    t.true(text.includes(`# HELP heliograph_${name} ${help}\n`), name)
    t.true(text.includes(`# TYPE heliograph_${name} ${kind}\n`), name)
  }
})

/** Makes a metric by a name that the types of the Meter cannot know. */
function make(
  meter: Meter,
  { name, kind, values }: { readonly name: string; readonly kind: string; readonly values: object },
): void {
  const makers = meter as unknown as Record<string, (...given: readonly unknown[]) => unknown>
  makers[kind]?.(name, values, () => 1)
}
