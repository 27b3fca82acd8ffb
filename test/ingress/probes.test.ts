import test from 'ava'

import type { Probe, Readiness } from '#domain/ports'
import { startIngress } from '#test/support/start-ingress'
import { until } from '#test/support/until'

const probe = (name: string, ready: boolean): Probe => ({
  readiness: async () => ({ name, ready, detail: ready ? 'well' : 'not well' }),
})

test('a gateway whose dependencies are well is ready, and names its durability', async (t) => {
  const { get } = await startIngress(t, { probes: [probe('database', true), probe('log', true)] })
  const answer = await get('/readyz')
  t.is(answer.status, 200)
  t.deepEqual(answer.json, {
    success: true,
    data: {
      status: 'ok',
      durability: 'embedded: fsync',
      dependencies: [
        { name: 'database', ready: true, detail: 'well' },
        { name: 'log', ready: true, detail: 'well' },
      ],
    },
  })
})

test('one dependency that is not well makes the gateway unready, and the answer names it', async (t) => {
  const { get } = await startIngress(t, { probes: [probe('database', true), probe('log', false)] })
  const answer = await get('/readyz')
  t.is(answer.status, 503)
  t.is(answer.headers.get('retry-after'), '1')
  t.like(answer.json, {
    success: false,
    error_code: 'server_busy',
    data: {
      status: 'unready',
      dependencies: [{ ready: true }, { name: 'log', ready: false, detail: 'not well' }],
    },
  })
})

test('a probe that fails or stays silent is a dependency that is not ready, under its last name', async (t) => {
  const well = probe('database', true)
  let behaviour: Probe['readiness'] = () => well.readiness()
  const rig = await startIngress(t, { probes: [{ readiness: () => behaviour() }] })
  t.is((await rig.get('/readyz')).status, 200)

  behaviour = () => Promise.reject(new Error('secret'))
  rig.time.advance(1_000)
  const failed = await rig.get('/readyz')
  t.false(failed.text.includes('secret'))
  t.like(failed.json, { data: { dependencies: [{ name: 'database', ready: false }] } })

  let isAsked = (): void => {}
  const asked = new Promise<void>((resolve) => (isAsked = resolve))
  behaviour = () => {
    isAsked()
    return new Promise(() => {})
  }
  rig.time.advance(1_000)
  const silent = rig.get('/readyz')
  await asked
  rig.time.advance(2_000)
  t.like((await silent).json, {
    data: { dependencies: [{ name: 'database', detail: 'no answer in time' }] },
  })
})

test('probes/1: a dependency is asked at most once a second, whoever asks', async (t) => {
  let asked = 0
  const counted: Probe = {
    readiness: async () => {
      asked += 1
      return { name: 'database', ready: true, detail: `${asked}` }
    },
  }
  const rig = await startIngress(t, { probes: [counted] })
  await Promise.all(Array.from({ length: 20 }, () => rig.get('/readyz')))
  rig.time.advance(999)
  t.like((await rig.get('/readyz')).json, { data: { dependencies: [{ detail: '1' }] } })
  t.is(asked, 1)
  rig.time.advance(1)
  t.like((await rig.get('/readyz')).json, { data: { dependencies: [{ detail: '2' }] } })
})

test('probes/1: a dependency that does not answer is not asked again until it does', async (t) => {
  const waiting: PromiseWithResolvers<Readiness>[] = []
  const silent: Probe = {
    readiness: () => {
      const question = Promise.withResolvers<Readiness>()
      waiting.push(question)
      return question.promise
    },
  }
  const rig = await startIngress(t, { probes: [silent] })
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const asked = rig.get('/readyz')
    await until('it waits for an answer', () => rig.time.waiting > 0)
    rig.time.advance(2_000)
    t.is((await asked).status, 503)
  }
  t.is(waiting.length, 1)
  waiting[0]?.resolve({ name: 'database', ready: true, detail: 'well' })
  const asked = rig.get('/readyz')
  await until('it is asked anew', () => waiting.length === 2)
  waiting[1]?.resolve({ name: 'database', ready: true, detail: 'well' })
  t.is((await asked).status, 200)
})

test("pipeline/3: a starting process answers operators' requests and refuses the others", async (t) => {
  let isOpen = false
  const probes = [probe('lanes', false)]
  const { get, post } = await startIngress(t, { probes, isOpen: () => isOpen })
  const statuses = async () => [
    (await get('/healthz')).status,
    (await get('/metrics')).status,
    (await get('/gateway/profile')).status,
    (await get(`/send_status/${'0'.repeat(32)}`)).status,
    (await post('/device/register', { platform: 'linux' })).status,
  ]
  t.deepEqual(await statuses(), [200, 200, 200, 503, 503])
  t.like(await get('/readyz'), { status: 503 })
  const sentAway = await post('/device/register', { platform: 'linux' })
  t.is(sentAway.json['error_code'], 'server_busy')
  t.is(sentAway.headers.get('retry-after'), '1')
  isOpen = true
  t.deepEqual(await statuses(), [200, 200, 200, 404, 200])
})

const answers: readonly (readonly [path: string, expected: object])[] = [
  ['/healthz', { success: true, data: { status: 'ok' } }],
  ['/gateway/profile', { success: true, data: { private_channel_enabled: true } }],
  [
    '/',
    { success: true, data: { name: 'heliograph', version: '9.9.9', openapi: '/openapi.json' } },
  ],
]

for (const [path, expected] of answers) {
  test(`GET ${path} answers in the envelope`, async (t) => {
    const { get } = await startIngress(t)
    const answer = await get(path)
    t.is(answer.status, 200)
    t.deepEqual(answer.json, expected)
  })
}

test('GET /metrics is the text of the metrics', async (t) => {
  const { get } = await startIngress(t)
  const answer = await get('/metrics')
  t.is(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  t.is(answer.text, 'heliograph_up 1\n')
})

test('every cache, queue and buffer of ingress has a gauge', async (t) => {
  const { meter, post } = await startIngress(t)
  await post('/message', {
    channel_id: '0123456789ABCDEFGHJKMNPQR0',
    password: 'x'.repeat(8),
    title: 'x',
  })
  t.is(meter.gauges.get('credential_cache_entries')?.(), 1)
  t.is(meter.gauges.get('password_checks_waiting')?.(), 0)
  t.is(meter.gauges.get('requests_in_flight')?.(), 0)
  t.is(meter.gauges.get('http_connections')?.(), 1)
  t.is(meter.gauges.get('request_body_bytes')?.(), 0)
  t.is(meter.total('refused_total{channel_not_found}'), 1)
})

test("a process that only applies lanes serves only the operators' routes", async (t) => {
  const { get, post } = await startIngress(t, { isObservedOnly: true })
  for (const path of ['/healthz', '/readyz', '/metrics', '/gateway/profile']) {
    t.is((await get(path)).status, 200, path)
  }
  t.is((await post('/message', {})).status, 404)
  t.is((await get('/openapi.json')).status, 404)
})
