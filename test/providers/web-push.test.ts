// Method: the provider sends to a stand-in over https, and another implementation decrypts.

import { setTimeout as wait } from 'node:timers/promises'

import test from 'ava'

import type { Outcome } from '#domain/push'
import { parseEventId } from '#domain/identity'
import { subscriptionAt } from '#test/support/web-push-server'
import type { WebPush, WebPushAnswer } from '#test/support/web-push-server'
import { until } from '#test/support/until'
import { decrypted, webPushBench, webPushOf } from '#test/support/web-push'

const DELIVERED: Outcome = { kind: 'delivered' }
const fire = parseEventId('fire')
if (fire === undefined) throw new Error('not an id')
const EVENT = { model: 'event', action: 'update', entityId: fire, state: 'open', rev: 2 } as const

test('a browser gets the whole entry, encrypted for it, with the headers of Web Push', async (t) => {
  const { service, provider, subscription } = await webPushBench(t)
  const taken: WebPush[] = []
  service.taken = (push) => taken.push(push)
  const fields = { title: 'Fire', message: 'in the hall', severity: 'high', tags: ['a'] }
  const push = webPushOf(subscription, {
    entry: EVENT,
    fields,
    expiresAt: Date.now() + 60_500,
  })
  t.deepEqual(await provider.send(push), DELIVERED)
  const [first] = taken
  if (first === undefined) return t.fail('the service got nothing')
  const { headers, path } = first
  t.true(subscription.json.includes(`${service.origin()}${path}"`))
  t.like(headers, {
    urgency: 'high',
    'content-encoding': 'aes128gcm',
    'content-type': 'application/octet-stream',
  })
  t.regex(String(headers['ttl']), /^(60|59)$/)
  t.regex(String(headers['topic']), /^[\w-]{32}$/)
  t.regex(headers.authorization ?? '', /^vapid t=[\w-]+\.[\w-]+\.[\w-]+, k=B[\w-]{86}$/)
  const { channelId, opId, acceptedAt } = push.entry
  t.deepEqual(JSON.parse(decrypted(first, subscription)), {
    web_push: 8030,
    notification: {
      title: 'Fire',
      body: 'in the hall',
      navigate: `https://gateway.example/console/#/${channelId}/event/fire`,
      tag: `${channelId}/event/fire`,
      timestamp: acceptedAt,
      silent: false,
      data: {
        channel_id: channelId,
        seq: '7',
        delivery_id: `${channelId}-7`,
        op_id: opId,
        model: 'event',
        action: 'update',
        entity_id: 'fire',
        accepted_at: '1000',
        state: 'open',
        rev: '2',
        severity: 'high',
        message: 'in the hall',
        tags: '["a"]',
      },
    },
  })
  return undefined
})

test('a push that is wanted quiet has the lowest urgency and is silent, another of its entry or its Event sounds', async (t) => {
  const { service, provider, subscription } = await webPushBench(t)
  const taken: WebPush[] = []
  service.taken = (push) => taken.push(push)
  const loud = webPushOf(subscription, { fields: { title: 'Fire', severity: 'high' } })
  const ofEvent = webPushOf(subscription, {
    entry: { model: 'event', action: 'update' },
    fields: { message: 'in the hall' },
    present: { severity: 'critical' },
  })
  for (const push of [loud, { ...loud, isPassive: true }, loud, ofEvent]) await provider.send(push)
  const heard = taken.map((push) => {
    const { notification } = JSON.parse(decrypted(push, subscription)) as {
      readonly notification: { readonly silent: boolean }
    }
    return [push.headers['urgency'], notification.silent]
  })
  t.deepEqual(heard, [
    ['high', false],
    ['low', true],
    ['high', false],
    ['high', false],
  ])
})

const BUSY = (status: number, afterMs?: number): Outcome => ({
  kind: 'deferred',
  trouble: 'device',
  reason: `http-${status}`,
  ...(afterMs !== undefined && { afterMs }),
})
const REFUSED = (status: number): Outcome => ({ kind: 'rejected', reason: `http-${status}` })

// Each row has an answer of a push service and the outcome of the push.
const ANSWERS: readonly (readonly [WebPushAnswer, Outcome])[] = [
  [{ status: 201 }, DELIVERED],
  [{ status: 200, body: 'ok' }, DELIVERED],
  [{ status: 202 }, DELIVERED],
  [{ status: 404 }, { kind: 'gone', reason: 'http-404' }],
  [{ status: 410 }, { kind: 'gone', reason: 'http-410' }],
  [{ status: 429 }, BUSY(429)],
  [{ status: 429, headers: { 'retry-after': '7' } }, BUSY(429, 7_000)],
  [{ status: 500 }, BUSY(500)],
  [{ status: 503, headers: { 'retry-after': '120' } }, BUSY(503, 120_000)],
  [{ status: 307, headers: { location: '/elsewhere' } }, REFUSED(307)],
  [{ status: 400 }, REFUSED(400)],
  [{ status: 401 }, REFUSED(401)],
  [{ status: 403 }, REFUSED(403)],
]

test('webpush-answers/1: an answer concerns its device alone, and nobody follows a redirect', async (t) => {
  for (const [answer, outcome] of ANSWERS) {
    const { service, provider, subscription } = await webPushBench(t)
    service.answer = () => answer
    t.deepEqual(await provider.send(webPushOf(subscription)), outcome, JSON.stringify(answer))
    t.is(service.requests, 1)
  }
})

test('a push that a service finds too large goes once more, as a wake-up', async (t) => {
  const { service, provider, subscription } = await webPushBench(t)
  const bodies: string[] = []
  service.answer = (push) => {
    bodies.push(decrypted(push, subscription))
    return { status: bodies.length === 1 ? 413 : 201 }
  }
  const push = webPushOf(subscription, { fields: { title: 'T', body: 'x'.repeat(500) } })
  t.deepEqual(await provider.send(push), DELIVERED)
  t.is(bodies.length, 2)
  t.true(bodies[0]?.includes('x'.repeat(500)))
  t.true(bodies[1]?.includes('"wakeup":"1"'))
  service.answer = () => ({ status: 413 })
  t.deepEqual(await provider.send(push), REFUSED(413))
  t.is(service.requests, 4)
})

test('a push without an answer is tried again, and its device stays', async (t) => {
  const { service, provider, subscription } = await webPushBench(t)
  await provider.send(webPushOf(subscription))
  service.answer = () => 'hang'
  const sending = provider.send(webPushOf(subscription))
  await until('the service has the push', () => service.requests === 2)
  service.breakConnections()
  t.like(await sending, { kind: 'deferred', trouble: 'device' })
  await service.close()
  t.like(await provider.send(webPushOf(subscription)), { kind: 'deferred', trouble: 'device' })
})

test('webpush-service/2: a push ends when no answer has come for 15 s', async (t) => {
  const { service, provider, subscription, edge } = await webPushBench(t)
  service.answer = () => 'hang'
  const sending = provider.send(webPushOf(subscription))
  await until('the service has the push', () => service.requests === 1)
  edge.look()
  t.is(await Promise.race([sending, wait(1)]), undefined)
  edge.pass(15_001)
  edge.look()
  t.like(await sending, { kind: 'deferred', reason: 'ETIMEDOUT' })
})

test('a body of an answer that never ends, or is large, holds no push', async (t) => {
  const { service, provider, subscription } = await webPushBench(t)
  service.answer = () => ({ status: 201, body: 'x'.repeat(1_000_000) })
  t.deepEqual(await provider.send(webPushOf(subscription)), DELIVERED)
})

test('subscriptions with a point beside the curve are refused for good', async (t) => {
  const { service, provider } = await webPushBench(t)
  const { keys, ...rest } = JSON.parse(service.subscription().json) as { keys: object }
  const point = Buffer.alloc(65, 1)
  point[0] = 4
  const json = JSON.stringify({ ...rest, keys: { ...keys, p256dh: point.toString('base64url') } })
  const push = webPushOf({ ...service.subscription(), json })
  t.deepEqual(await provider.send(push), { kind: 'rejected', reason: 'bad-key' })
  t.is(service.requests, 0)
})

test('an unknown name is no answer: its pushes wait', async (t) => {
  const resolve = () => Promise.reject(new Error('the name has no address'))
  const { provider } = await webPushBench(t, { resolve })
  const push = webPushOf(subscriptionAt('https://nowhere.example/1'))
  t.like(await provider.send(push), { kind: 'deferred', trouble: 'device' })
})
