// Method: a fetch that records requests and answers from a list.

import test from 'ava'

import { createClient } from '#src/client/client'
import { HeliographError } from '#src/client/error'
import { WEB } from '#src/client/runtime'

const CREDENTIALS = { channel_id: 'A', password: 'the password' }
const OK = { success: true, data: { op_id: 'o' } }

interface Given {
  readonly status: number
  readonly body: unknown
  readonly headers?: Record<string, string>
}

function rig(...answers: readonly (Given | Error)[]) {
  const asked: { readonly url: string; readonly method: string; readonly body: string }[] = []
  const headers: Headers[] = []
  const waits: number[] = []
  const left = [...answers]
  const runtime = {
    ...WEB,
    random: (below: number) => Math.floor(below / 2),
    after: (delayMs: number, callback: () => void) => {
      waits.push(delayMs)
      queueMicrotask(callback)
      return () => {}
    },
    fetch: async (request: string | URL | Request, init: RequestInit = {}) => {
      const url = request instanceof Request ? request.url : request
      const body = typeof init.body === 'string' ? init.body : ''
      asked.push({ url: url.toString(), method: init.method ?? '', body })
      headers.push(new Headers(init.headers))
      const next = left.shift() ?? { status: 200, body: OK }
      if (next instanceof Error) throw next
      const text = typeof next.body === 'string' ? next.body : JSON.stringify(next.body)
      return new Response(text, { status: next.status, headers: next.headers ?? {} })
    },
  }
  const client = createClient({ baseUrl: 'https://push.example/', token: 'tok', runtime })
  return { client, asked, headers, waits }
}

const refusal = (code: string, retryable = false): object => ({
  success: false,
  error: 'a sentence',
  error_code: code,
  problem: { code, retryable },
})

test('a method posts its submission as JSON with the token and gives the data of the answer', async (t) => {
  const { client, asked, headers } = rig()
  t.deepEqual(await client.thing.update({ ...CREDENTIALS, thing_id: 't', observed_at: 1 }), {
    op_id: 'o',
  } as never)
  t.deepEqual(asked, [
    {
      url: 'https://push.example/thing/update',
      method: 'POST',
      body: JSON.stringify({ ...CREDENTIALS, thing_id: 't', observed_at: 1 }),
    },
  ])
  t.is(headers[0]?.get('authorization'), 'Bearer tok')
  t.is(headers[0]?.get('content-type'), 'application/json')
})

test('every method calls the path of its route', async (t) => {
  const { client, asked } = rig()
  const event = { ...CREDENTIALS, event_time: 1 }
  const thing = { ...CREDENTIALS, observed_at: 1 }
  const key = { device_key: 'k' }
  await client.message.send({ ...CREDENTIALS, title: 'a' })
  await client.event.create(event)
  await client.event.update({ ...event, event_id: 'e' })
  await client.event.close({ ...event, event_id: 'e' })
  await client.eventOf('t:1').create(event)
  await client.eventOf('t:1').update({ ...event, event_id: 'e' })
  await client.eventOf('t:1').close({ ...event, event_id: 'e' })
  await client.thing.create(thing)
  await client.thing.archive({ ...thing, thing_id: 't' })
  await client.thing.delete({ ...thing, thing_id: 't' })
  await client.status('a/b')
  await client.device.register({ platform: 'linux' })
  await client.device.setRoute({ ...key, channel_type: 'private' })
  await client.device.deleteRoute({ ...key, channel_type: 'apns' })
  await client.device.retireToken({ platform: 'ios', provider_token: 'p' })
  await client.channel.create({ channel_name: 'n', password: 'p' })
  await client.channel.subscribe({ ...key, password: 'p', channel_id: 'A' })
  await client.channel.unsubscribe({ ...key, channel_id: 'A' })
  await client.channel.sync({ ...key, channels: [] })
  await client.channel.rename({ ...CREDENTIALS, channel_name: 'n' })
  await client.channel.changePassword({ ...CREDENTIALS, new_password: 'n' })
  await client.channel.delete(CREDENTIALS)
  await client.channel.info(CREDENTIALS)
  await client.channel.exists('A B')
  await client.channel.history(CREDENTIALS)
  await client.key.create({ ...CREDENTIALS, label: 'l' })
  await client.key.list(CREDENTIALS)
  await client.key.revoke({ ...CREDENTIALS, key_id: 'k' })
  await client.thing.get({ ...CREDENTIALS, thing_id: 't' })
  await client.thing.list(CREDENTIALS)
  await client.event.get({ ...key, channel_id: 'A', event_id: 'e' })
  await client.event.list(CREDENTIALS)
  await client.messages.pull(key)
  await client.messages.ack({ ...key, delivery_ids: [] })
  await client.profile()
  t.deepEqual(
    asked.map(({ method, url }) => `${method} ${url.slice('https://push.example'.length)}`),
    [
      'POST /message',
      'POST /event/create',
      'POST /event/update',
      'POST /event/close',
      'POST /thing/t%3A1/event/create',
      'POST /thing/t%3A1/event/update',
      'POST /thing/t%3A1/event/close',
      'POST /thing/create',
      'POST /thing/archive',
      'POST /thing/delete',
      'GET /send_status/a%2Fb',
      'POST /device/register',
      'POST /channel/device',
      'POST /channel/device/delete',
      'POST /channel/device/provider-token/retire',
      'POST /channel/create',
      'POST /channel/subscribe',
      'POST /channel/unsubscribe',
      'POST /channel/sync',
      'POST /channel/rename',
      'POST /channel/password',
      'POST /channel/delete',
      'POST /channel/info',
      'GET /channel/exists?channel_id=A%20B',
      'POST /channel/history',
      'POST /channel/key',
      'POST /channel/key/list',
      'POST /channel/key/revoke',
      'POST /thing/get',
      'POST /thing/list',
      'POST /event/get',
      'POST /event/list',
      'POST /messages/pull',
      'POST /messages/ack',
      'GET /gateway/profile',
    ],
  )
})

test('a refusal throws an error with its code, status and next step', async (t) => {
  const headers = { 'x-request-id': 'r', 'retry-after': '3' }
  const { client } = rig({ status: 429, body: refusal('rate_limited', true), headers })
  const error = await t.throwsAsync(() => client.thing.create({ ...CREDENTIALS, observed_at: 1 }), {
    instanceOf: HeliographError,
  })
  t.like(error, {
    code: 'rate_limited',
    status: 429,
    retryable: true,
    retryAfterMs: 3_000,
    requestId: 'r',
    message: 'a sentence',
  })
})

test('an answer that is not of a gateway throws an error', async (t) => {
  for (const body of ['<html>', '[]', '{}', '{"success":false}']) {
    const { client } = rig({ status: 502, body }, { status: 502, body })
    const error = await t.throwsAsync(() => client.status('o'), { instanceOf: HeliographError })
    t.like(error, { code: 'answer_invalid', status: 502 })
  }
})

test('call/1: the client repeats only a call that may happen twice', async (t) => {
  const message = { ...CREDENTIALS, title: 'a' }
  const down: Given = { status: 503, body: refusal('server_busy', true) }
  const rows: readonly (readonly [
    call: (client: ReturnType<typeof rig>['client']) => Promise<unknown>,
    attempts: number,
  ])[] = [
    [(client) => client.message.send(message), 1],
    [(client) => client.message.send({ ...message, op_id: 'o' }), 2],
    [(client) => client.message.send(message, { repeat: true }), 2],
    [(client) => client.message.send({ ...message, op_id: 'o' }, { repeat: false }), 1],
    [(client) => client.event.create({ ...CREDENTIALS, event_time: 1 }), 1],
    [(client) => client.device.register({ platform: 'linux' }), 1],
    [
      (client) => client.channel.subscribe({ device_key: 'k', password: 'p', channel_name: 'n' }),
      1,
    ],
    [(client) => client.channel.subscribe({ device_key: 'k', password: 'p', channel_id: 'A' }), 2],
    [(client) => client.channel.delete(CREDENTIALS), 1],
    [(client) => client.status('o'), 2],
    [(client) => client.messages.pull({ device_key: 'k' }), 2],
  ]
  for (const [call, attempts] of rows) {
    for (const failure of [down, new Error('reset')]) {
      const { client, asked } = rig(failure)
      await (attempts === 1 ? t.throwsAsync(call(client)) : call(client))
      t.is(asked.length, attempts)
    }
  }
})

test('call/2: repeats are bounded, jittered, and never before Retry-After', async (t) => {
  const down = new Error('reset')
  const { client, asked, waits } = rig(down, down, down, down, down)
  await t.throwsAsync(() => client.status('o'), { instanceOf: HeliographError })
  t.is(asked.length, 4)
  t.deepEqual(waits, [100, 200, 400])

  const busy = { status: 503, body: refusal('server_busy'), headers: { 'retry-after': '2' } }
  const later = rig(busy)
  await later.client.status('o')
  t.deepEqual(later.waits, [2_100])

  const muchLater = rig({ ...busy, headers: { 'retry-after': '61' } })
  await t.throwsAsync(() => muchLater.client.status('o'))
  t.is(muchLater.asked.length, 1)
})

test('the client does not repeat a call after a final failure', async (t) => {
  const { client, asked } = rig({ status: 404, body: refusal('send_status_not_found') })
  await t.throwsAsync(() => client.status('o'), { instanceOf: HeliographError })
  t.is(asked.length, 1)
})

test('an aborted call throws the reason of its signal', async (t) => {
  const { client, asked } = rig(new Error('aborted'))
  const signal = AbortSignal.abort(new Error('enough'))
  await t.throwsAsync(() => client.status('o', { signal }), { message: 'enough' })
  t.is(asked.length, 1)
})

test('a call that its signal aborts during a wait ends at once', async (t) => {
  const enough = new AbortController()
  let cancelled = 0
  const runtime = {
    ...WEB,
    after: () => {
      queueMicrotask(() => enough.abort(new Error('enough')))
      return () => {
        cancelled += 1
      }
    },
    fetch: async () => {
      throw new Error('reset')
    },
  }
  const client = createClient({ baseUrl: 'https://push.example', runtime })
  const { signal } = enough
  await t.throwsAsync(() => client.status('o', { signal }), { message: 'enough' })
  t.is(cancelled, 1)
})

test('no error repeats a secret', async (t) => {
  const { client } = rig(new Error('https://push.example/?password=hunter2'))
  const error = await t.throwsAsync(() => client.channel.delete(CREDENTIALS))
  t.false(JSON.stringify([error.message, error]).includes('hunter2'))
  t.false(JSON.stringify([error.message, error]).includes('tok'))
})

test('call/1: the client repeats a call that never reached the gateway, unless the caller forbids it', async (t) => {
  const unsent = (): Error => new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })
  const { client, asked } = rig(unsent())
  await client.thing.create({ ...CREDENTIALS, observed_at: 1 })
  t.is(asked.length, 2)
  const once = rig(unsent())
  const error = await t.throwsAsync(
    once.client.thing.create({ ...CREDENTIALS, observed_at: 1 }, { repeat: false }),
    { instanceOf: HeliographError },
  )
  t.like(error, { code: 'not_connected', status: 0, retryable: true })
  t.is(once.asked.length, 1)
})

test('a PushSubscription of a browser is sent as its JSON', async (t) => {
  const { client, asked } = rig()
  const json = { endpoint: 'https://push.example/1', keys: { p256dh: 'p', auth: 'a' } }
  const ofBrowser = { toJSON: () => json }
  for (const subscription of [json, ofBrowser]) {
    await client.device.setSubscription({ device_key: 'k', subscription })
    t.deepEqual(JSON.parse(asked.at(-1)?.body ?? ''), {
      device_key: 'k',
      channel_type: 'webpush',
      provider_token: JSON.stringify(json),
    })
  }
})
