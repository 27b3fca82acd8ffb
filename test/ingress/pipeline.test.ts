// Goal: what every answer carries, and what is refused before a handler runs.

import test from 'ava'

import { FAULTS } from '#domain/fault'
import { CHANNEL, CREDENTIALS, NOW_MS, PASSWORD } from '#test/support/making'
import { startIngress } from '#test/support/start-ingress'
import { TOKEN, THING, JSON_HEADERS } from '#test/support/pipeline-requests'

test('every failure carries the envelope, the request id and no-store', async (t) => {
  const { send } = await startIngress(t)
  const answer = await send('/nowhere', {
    headers: { 'x-request-id': 'my.id-1', 'accept-language': 'zh-CN' },
  })
  t.deepEqual(answer.json, {
    success: false,
    error: FAULTS.route_not_found,
    error_code: 'route_not_found',
    problem: {
      code: 'route_not_found',
      category: 'not_found',
      status: 404,
      title: FAULTS.route_not_found,
      localized_message: '没有这个接口',
      locale: 'zh-CN',
      retryable: false,
      request_id: 'my.id-1',
    },
  })
  t.is(answer.headers.get('x-request-id'), 'my.id-1')
  t.is(answer.headers.get('content-language'), 'zh-CN')
  t.is(answer.headers.get('content-type'), 'application/json; charset=utf-8')
  t.is(answer.headers.get('cache-control'), 'no-store')
})

test('an error states the fault once, and names the field', async (t) => {
  const { post } = await startIngress(t)
  const { observed_at: _, ...untimed } = THING
  const missing = await post('/thing/update', untimed)
  t.like(missing.json, { error: 'observed_at is required', error_code: 'observed_at_required' })
  const wrong = await post('/thing/update', { ...THING, observed_at: 'never' })
  t.regex(String(wrong.json['error']), /^a time must be .+: observed_at$/)
})

test('a success carries a request id of its own when the caller sends none of the form', async (t) => {
  const { post } = await startIngress(t)
  const answer = await post('/thing/update', THING, { 'x-request-id': 'not a form' })
  t.is(answer.status, 200)
  t.regex(answer.headers.get('x-request-id') ?? '', /^[0-9a-f]{32}$/)
  t.is(answer.headers.get('content-type'), 'application/json; charset=utf-8')
  t.deepEqual(Object.keys(answer.json), ['success', 'data'])
})

const contentTypes: readonly (readonly [type: string | undefined, status: number])[] = [
  ['application/json', 200],
  ['Application/JSON; charset=utf-8', 200],
  ['application/json;charset=UTF-8', 200],
  ['application/json ; x=y', 200],
  [undefined, 400],
  ['text/json', 400],
  ['application/jsonp', 400],
  ['application/json5', 400],
  ['text/plain, application/json', 400],
  ['application/x-www-form-urlencoded', 400],
]

for (const [type, status] of contentTypes) {
  test(`a body of type ${type ?? 'unknown'} is answered ${status}`, async (t) => {
    const { send } = await startIngress(t)
    const body = Buffer.from(JSON.stringify(THING))
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type }
    const answer = await send('/thing/update', { method: 'POST', headers, body })
    t.is(answer.status, status, answer.text)
    if (status === 400) t.is(answer.json['error_code'], 'missing_json_content_type')
  })
}

const bodies: readonly (readonly [name: string, body: Uint8Array, code: string])[] = [
  ['no bytes', Buffer.from(''), 'invalid_json_syntax'],
  ['half an object', Buffer.from('{"a":'), 'invalid_json_syntax'],
  ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'invalid_json_syntax'],
  ['an array', Buffer.from('[]'), 'invalid_json_data'],
  ['null', Buffer.from('null'), 'invalid_json_data'],
]

for (const [name, body, code] of bodies) {
  test(`a body of ${name} is refused with ${code}`, async (t) => {
    const { send } = await startIngress(t)
    const answer = await send('/message', { method: 'POST', headers: JSON_HEADERS, body })
    t.is(answer.status, 400)
    t.is(answer.json['error_code'], code)
  })
}

test('with a token set every route but the WebSocket asks for it, the probes too', async (t) => {
  const { get } = await startIngress(t, { token: TOKEN })
  const paths = ['/', '/healthz', '/readyz', '/metrics', '/gateway/profile', '/openapi.json']
  for (const path of paths) {
    const refused = await get(path)
    t.is(refused.status, 401, path)
    t.is(refused.headers.get('www-authenticate'), 'Bearer realm="heliograph"')
    t.is((await get(path, { authorization: `bearer ${TOKEN}` })).status, 200, path)
  }
  t.is((await get('/private/ws')).status, 426)
})

test('wrong tokens count in the budget, missing ones do not, the right one is never limited', async (t) => {
  const rig = await startIngress(t, { token: TOKEN, passwordBudget: { perAddress: 3, total: 10 } })
  const statusWith = async (authorization?: string): Promise<number> =>
    (await rig.get('/healthz', authorization === undefined ? {} : { authorization })).status
  for (let count = 0; count < 5; count += 1) t.is(await statusWith(), 401)
  for (let count = 0; count < 3; count += 1) t.is(await statusWith('Bearer wrong'), 401)
  t.is(await statusWith('Bearer wrong'), 429)
  t.is(await statusWith(), 401)
  t.is(await statusWith(`Bearer ${TOKEN}`), 200)
})

test('the 61st request with a password within a minute is answered 429 with the limit', async (t) => {
  const rig = await startIngress(t, { passwordBudget: { perAddress: 60, total: 1200 } })
  for (let count = 0; count < 60; count += 1) {
    t.is((await rig.post('/thing/update', THING)).status, 200)
  }
  rig.time.advance(30_000)
  const refused = await rig.post('/message', { ...CREDENTIALS, title: 'x' })
  t.is(refused.status, 429)
  t.is(refused.headers.get('ratelimit-limit'), '60')
  t.is(refused.headers.get('ratelimit-remaining'), '0')
  t.is(refused.headers.get('ratelimit-reset'), '30')
  t.is(refused.headers.get('retry-after'), '30')
  t.is((await rig.get('/healthz')).status, 200)
  rig.time.advance(30_000)
  t.is((await rig.post('/thing/update', THING)).status, 200)
})

test('behind a trusted proxy each client has its own budget, wherever its header line stands', async (t) => {
  const rig = await startIngress(t, {
    trustedProxies: ['127.0.0.0/8'],
    passwordBudget: { perAddress: 1, total: 100 },
  })
  const statusFrom = async (list: string): Promise<number> =>
    (await rig.post('/thing/update', THING, { 'x-forwarded-for': list })).status
  t.is(await statusFrom('203.0.113.1'), 200)
  t.is(await statusFrom('203.0.113.2'), 200)
  t.is(await statusFrom('8.8.8.8, 203.0.113.1'), 429)

  const body = JSON.stringify(THING)
  const raw = rig.connect()
  raw.socket.write(
    'POST /thing/update HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n' +
      'x-forwarded-for: 9.9.9.9\r\nx-forwarded-for: 203.0.113.1\r\n' +
      `content-length: ${body.length}\r\n\r\n${body}`,
  )
  t.regex(await raw.until(/\}$/), /^HTTP\/1\.1 429/)
})

test('pipeline/2: a handler that rejects is answered 500 and logged without its message', async (t) => {
  const { channels, post, logger, meter, ingress } = await startIngress(t)
  channels.meanwhile = () => Promise.reject(new Error(`cannot bind ${PASSWORD}`))
  const answer = await post('/thing/update', THING, { 'x-request-id': 'r-1' })
  t.is(answer.status, 500)
  t.is(answer.json['error_code'], 'internal_error')
  t.false(answer.text.includes('bind'))
  const [line] = logger.lines
  t.is(logger.lines.length, 1)
  t.like(line, { level: 'error', fields: { requestId: 'r-1', route: 'POST /thing/update' } })
  t.false(JSON.stringify(logger.lines).includes(PASSWORD))
  t.is(meter.total('refused_total{internal_error}'), 1)
  t.is(ingress.http.inFlight, 0)
})

test('pipeline/2: a handler that throws before it has a promise is answered too', async (t) => {
  const { post, logger, sink, ingress } = await startIngress(t)
  t.is((await post('/thing/update', THING)).status, 200) // from here on the password is known
  sink.accept = () => {
    throw new Error('a defect')
  }
  t.is((await post('/thing/update', THING)).status, 500)
  t.is(logger.lines.length, 1)
  t.is(ingress.http.inFlight, 0)
})

test('pipeline/3: beyond the bound of requests in flight the answer is 503', async (t) => {
  const { ingress, get, post } = await startIngress(t)
  for (const [inFlight, status] of [
    [20_000, 503],
    [19_999, 200],
  ] as const) {
    Object.assign(ingress.http, { inFlight })
    t.is((await post('/thing/update', THING)).status, status)
    t.is((await get('/readyz')).status, status)
    t.is((await get('/healthz')).status, 200)
  }
})

test('a malformed escape in the path is refused, a well-formed one is read', async (t) => {
  const { get } = await startIngress(t)
  const bad = await get('/send_status/%zz')
  t.is(bad.status, 400)
  t.is(bad.json['error_code'], 'validation_failed')
  t.is((await get('/send_status/a%3Ab')).status, 404)
})

test('a store that refuses or is away is answered 503, and its error goes to the log only', async (t) => {
  const rig = await startIngress(t)
  for (const name of ['StoreError', 'StoreDefect', 'NoAnswer']) {
    const error = Object.assign(new Error('the database is away'), { name })
    rig.channels.meanwhile = () => Promise.reject(error)
    const answer = await rig.post('/message', { ...CREDENTIALS, title: 't' })
    t.is(answer.status, 503)
    t.is(answer.json['error_code'], 'server_busy')
    t.is(answer.headers.get('retry-after'), '1')
  }
  const errors = rig.logger.lines.filter(({ level }) => level === 'error')
  t.is(errors.length, 2, 'one outage is told once')
})

test('no secret reaches a log line, whatever fails', async (t) => {
  const rig = await startIngress(t, { token: '' })
  const secrets = [PASSWORD, 'new secret password', 'f'.repeat(32), 'provider-token-secret']
  const body = {
    ...CREDENTIALS,
    new_password: secrets[1],
    device_key: secrets[2],
    provider_token: secrets[3],
    platform: 'android',
    channel_type: 'fcm',
    channel_name: 'n',
    title: 't',
    thing_id: 't',
    observed_at: NOW_MS,
    channels: [CREDENTIALS],
    delivery_ids: [`${CHANNEL}-1`],
  }
  const fails = (): Promise<never> => Promise.reject(new Error(secrets.join(' ')))
  rig.channels.meanwhile = fails
  Object.assign(rig.devices, { find: fails, retireToken: fails, create: fails })
  const paths = [
    '/message',
    '/thing/update',
    '/channel/subscribe',
    '/channel/sync',
    '/channel/password',
    '/channel/device',
    '/channel/device/provider-token/retire',
    '/device/register',
    '/messages/pull',
    '/messages/ack',
  ]
  for (const path of paths) {
    const answer = await rig.post(path, body)
    for (const secret of secrets) t.false(answer.text.includes(secret), path)
  }
  t.true(rig.logger.lines.length > 5)
  for (const secret of secrets) t.false(JSON.stringify(rig.logger.lines).includes(secret))
})
