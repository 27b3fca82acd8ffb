// Goal: what is measured grows with the product's own lists, not with its requests.

import test from 'ava'

import { SERIES_MAX, createMetrics } from '#src/telemetry/meter'
import { TEST_MS } from '#test/support/bounds'
import { startStyles } from '#test/support/compatibility-rig'
import { FakeMeter } from '#test/support/fake-telemetry'
import { CREDENTIALS } from '#test/support/making'
import { callOf, startMcp } from '#test/support/mcp-rig'
import type { Rig } from '#test/support/start-ingress'

const REQUESTS = 10_000
/** Routes whose answer ends with the subscriber. */
const STREAMS = /\/(?:json|sse|raw|ws)$/
const BODIES = ['', '{}', JSON.stringify({ ...CREDENTIALS, title: 'x' })]

/** Hands everything on to the product's own meter. */
class OwnMeter extends FakeMeter {
  readonly #metrics = createMetrics()
  override counter(name: string, labels: object): (by?: number) => void {
    return this.#metrics.meter.counter(name as 'refused_total', labels as { code: string })
  }

  override histogram(name: string, labels: object): (value: number) => void {
    return this.#metrics.meter.histogram(name as 'push_seconds', labels as { provider: string })
  }

  override gauge(name: string, labels: object, read: () => number): void {
    this.#metrics.meter.gauge(name as 'sessions', labels as { carrier: string }, read)
  }

  readonly series = (): number => this.#metrics.series()
}

/** Each route, those that read a body with one that is right, wrong or none. */
async function requestsOf(rig: Rig): Promise<readonly (readonly [path: string, RequestInit])[]> {
  const { paths } = (await rig.get('/openapi.json?styles=1')).json as {
    paths: Record<string, object>
  }
  return Object.entries(paths)
    .filter(([path]) => !STREAMS.test(path))
    .flatMap(([template, methods]) => {
      const path = template.replaceAll(/\{\w+\}/g, 'x')
      const posts = 'post' in methods ? BODIES : []
      const headers = { 'content-type': 'application/json' }
      return [
        [path, {}] as const,
        ...posts.map((body) => [path, { method: 'POST', headers, body }] as const),
      ]
    })
}

test('meter/1: 10,000 requests over all routes make no handle that the first of each did not', async (t) => {
  t.timeout(TEST_MS)
  const meter = new OwnMeter()
  const rig = await startStyles(t, { meter })
  const requests = await requestsOf(rig)
  t.true(requests.length > 80, `${requests.length} requests`)
  const round = () => Promise.all(requests.map(([path, init]) => rig.send(path, init)))
  await round()
  const series = meter.series()
  for (let sent = 0; sent < REQUESTS; sent += requests.length) await round()
  t.is(meter.series(), series)
})

test('meter/1: refused calls of tools make one handle for each code', async (t) => {
  t.timeout(TEST_MS)
  const meter = new OwnMeter()
  const rig = await startMcp(t, { meter })
  const call = () => rig.rpc(callOf('message_send', { channel_id: 'nonsense', title: 'x' }))
  await call()
  const series = meter.series()
  for (let count = 0; count < 100; count += 1) await call()
  t.is(meter.series(), series)
})

test('meter/2: labels beyond the bound count as others', async (t) => {
  const metrics = createMetrics()
  for (let reason = 0; reason < 10 * SERIES_MAX; reason += 1) {
    metrics.meter.counter('push_refusals_total', { provider: 'apns', reason: `r${reason}` })()
  }
  const refusals = (await metrics.part()).find(
    ({ name }) => name === 'heliograph_push_refusals_total',
  )
  t.is(refusals?.values.length, SERIES_MAX + 1)
  const others = refusals?.values.find(({ labels }) => labels['reason'] === 'other')
  t.deepEqual(others, { labels: { provider: 'other', reason: 'other' }, value: 9 * SERIES_MAX })
})
