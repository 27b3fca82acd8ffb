// Method: the provider uses the real apns2 against a stand-in over real HTTP/2 and TLS.

import { writeFile } from 'node:fs/promises'

import test from 'ava'

import type { Outcome } from '#domain/push'
import type { ApnsPush, ApnsRefusal } from '#src/dev/servers/push/apns-server'
import { openApns } from '#src/providers/apns/apns'
import { temporaryFolder, until } from '#test/support/gateway'
import { TOPIC, apnsBench, appleToken, pushOf, testEdge } from '#test/support/push-servers'

const DELIVERED: Outcome = { kind: 'delivered' }

test('Apple gets the whole push, with the headers that it requires', async (t) => {
  const { server, provider } = await apnsBench(t)
  const taken: ApnsPush[] = []
  server.taken = (push) => taken.push(push)
  const fields = { title: 'Fire', body: 'in the hall', severity: 'high', tags: ['a', 'b'] }
  const push = pushOf('apns', { token: appleToken(1), fields, expiresAt: 1_800_000_000_999 })
  t.deepEqual(await provider.send(push), DELIVERED)
  const [{ token, headers, payload } = { token: '', headers: {}, payload: {} }] = taken
  const { channelId, opId, entityId } = push.entry
  t.is(token, appleToken(1))
  t.like(headers, {
    'apns-topic': TOPIC,
    'apns-push-type': 'alert',
    'apns-expiration': '1800000000',
    'apns-collapse-id': entityId,
  })
  t.deepEqual(payload, {
    aps: {
      alert: { title: 'Fire', body: 'in the hall' },
      'interruption-level': 'time-sensitive',
      sound: 'default',
      'thread-id': channelId,
      'mutable-content': 1,
    },
    channel_id: channelId,
    seq: '7',
    delivery_id: `${channelId}-7`,
    op_id: opId,
    model: 'message',
    action: 'send',
    entity_id: entityId,
    accepted_at: '1000',
    title: 'Fire',
    body: 'in the hall',
    severity: 'high',
    tags: '["a","b"]',
  })
})

// Each row has an answer of Apple and the outcome of the push.
const ANSWERS: readonly (readonly [ApnsRefusal, Outcome])[] = [
  [
    { status: 400, reason: 'BadDeviceToken' },
    { kind: 'gone', reason: 'BadDeviceToken' },
  ],
  [
    { status: 400, reason: 'DeviceTokenNotForTopic' },
    { kind: 'gone', reason: 'DeviceTokenNotForTopic' },
  ],
  [
    { status: 410, reason: 'Unregistered' },
    { kind: 'gone', reason: 'Unregistered' },
  ],
  [
    { status: 410, reason: 'ExpiredToken' },
    { kind: 'gone', reason: 'ExpiredToken' },
  ],
  [
    { status: 400, reason: 'BadCollapseId' },
    { kind: 'rejected', reason: 'BadCollapseId' },
  ],
  [
    { status: 413, reason: 'PayloadTooLarge' },
    { kind: 'rejected', reason: 'PayloadTooLarge' },
  ],
  [
    { status: 429, reason: 'TooManyRequests' },
    { kind: 'deferred', trouble: 'device', reason: 'TooManyRequests' },
  ],
  [
    { status: 429, reason: 'TooManyRequests', retryAfter: '7' },
    { kind: 'deferred', trouble: 'device', reason: 'TooManyRequests', afterMs: 7_000 },
  ],
  [
    { status: 429, reason: 'TooManyProviderTokenUpdates' },
    { kind: 'deferred', trouble: 'provider', reason: 'TooManyProviderTokenUpdates' },
  ],
  [
    { status: 500, reason: 'InternalServerError' },
    { kind: 'deferred', trouble: 'provider', reason: 'InternalServerError' },
  ],
  [
    { status: 503, reason: 'ServiceUnavailable' },
    { kind: 'deferred', trouble: 'provider', reason: 'ServiceUnavailable' },
  ],
  [
    { status: 503, reason: 'Shutdown', retryAfter: '120' },
    { kind: 'deferred', trouble: 'provider', reason: 'Shutdown', afterMs: 120_000 },
  ],
  [
    { status: 403, reason: 'InvalidProviderToken' },
    { kind: 'deferred', trouble: 'credentials', reason: 'InvalidProviderToken' },
  ],
  [
    { status: 403, reason: 'ExpiredProviderToken' },
    { kind: 'deferred', trouble: 'credentials', reason: 'ExpiredProviderToken' },
  ],
  [
    { status: 400, reason: 'TopicDisallowed' },
    { kind: 'deferred', trouble: 'credentials', reason: 'TopicDisallowed' },
  ],
  [
    { status: 403, reason: 'SomethingNew' },
    { kind: 'deferred', trouble: 'credentials', reason: 'SomethingNew' },
  ],
  [
    { status: 400, reason: 'SomethingNew' },
    { kind: 'rejected', reason: 'SomethingNew' },
  ],
]

test('the provider maps each answer of Apple to its outcome', async (t) => {
  const { server, provider } = await apnsBench(t)
  for (const [refusal, outcome] of ANSWERS) {
    server.refuse = () => refusal
    t.deepEqual(await provider.send(pushOf('apns')), outcome, JSON.stringify(refusal))
  }
})

test('the provider reports as gone a token that Apple has unregistered', async (t) => {
  const { server, provider } = await apnsBench(t)
  server.unregistered.set(appleToken(5), 1_000)
  const outcome = await provider.send(pushOf('apns', { token: appleToken(5) }))
  t.deepEqual(outcome, { kind: 'gone', reason: 'Unregistered' })
})

test('many pushes share few connections, within the streams that Apple allows', async (t) => {
  const { server, provider } = await apnsBench(t, { streamsMax: 10 })
  server.standIn.latency = 2
  const pushes = Array.from({ length: 400 }, () => pushOf('apns'))
  const outcomes = await Promise.all(pushes.map((push) => provider.send(push)))
  t.true(outcomes.every(({ kind }) => kind === 'delivered'))
  t.true(server.standIn.connections <= 4, `${server.standIn.connections} connections`)
})

test('after GOAWAY new connections carry the pushes, and Apple gets none of them twice', async (t) => {
  const { server, provider } = await apnsBench(t)
  const taken = new Map<string, number>()
  server.taken = ({ token }) => taken.set(token, (taken.get(token) ?? 0) + 1)
  server.standIn.latency = 1
  for (let round = 0; round < 5; round += 1) {
    const pushes = Array.from({ length: 100 }, () => pushOf('apns'))
    const sending = Promise.all(pushes.map((push) => provider.send(push)))
    await new Promise((resolve) => setTimeout(resolve, 3))
    server.standIn.goAway()
    const outcomes = await sending
    for (const [index, push] of pushes.entries()) {
      const times = taken.get(push.route.token) ?? 0
      t.is(times, outcomes[index]?.kind === 'delivered' ? 1 : 0, JSON.stringify(outcomes[index]))
    }
  }
  const { kind } = await until(
    () => provider.send(pushOf('apns')),
    (outcome) => outcome.kind === 'delivered',
  )
  t.is(kind, 'delivered')
})

test('the provider defers the pushes of a broken connection and delivers the next one', async (t) => {
  const { server, provider } = await apnsBench(t)
  await provider.send(pushOf('apns'))
  server.standIn.latency = 'hang'
  const sending = provider.send(pushOf('apns'))
  await until(
    () => Promise.resolve(server.standIn.unanswered),
    (unanswered) => unanswered === 1,
  )
  server.standIn.breakConnections()
  server.standIn.latency = 0
  const outcome = await sending
  t.is(outcome.kind, 'deferred')
  t.like(outcome, { trouble: 'provider' })
  t.deepEqual(await provider.send(pushOf('apns')), DELIVERED)
})

test('the provider defers a push while no server listens', async (t) => {
  const { server, provider } = await apnsBench(t)
  await server.standIn.close()
  t.deepEqual(await provider.send(pushOf('apns')), {
    kind: 'deferred',
    trouble: 'provider',
    reason: 'ECONNREFUSED',
  })
})

test('the provider loads a changed key, and reports credentials that Apple refuses', async (t) => {
  const { server, provider, edge, keyFile, otherKey } = await apnsBench(t)
  t.deepEqual(await provider.send(pushOf('apns')), DELIVERED)
  await writeFile(keyFile, otherKey)
  edge.look()
  await until(
    () => Promise.resolve(edge.renewals()),
    (renewals) => renewals === 1,
  )
  t.deepEqual(await provider.send(pushOf('apns')), {
    kind: 'deferred',
    trouble: 'credentials',
    reason: 'InvalidProviderToken',
  })
  await writeFile(keyFile, 'half a key')
  edge.look()
  await until(
    () => Promise.resolve(edge.logger.lines),
    (lines) => lines.some(({ level }) => level === 'error'),
  )
  t.is(edge.renewals(), 1, 'the earlier key stays in force')
  t.false(JSON.stringify(edge.logger.lines).includes('half'))
  t.true(server.requests > 1)
})

test('the start refuses an unusable key file and says why', async (t) => {
  const folder = await temporaryFolder(t)
  const settings = { keyId: 'K', teamId: 'T', topic: TOPIC, host: '127.0.0.1:1' }
  await writeFile(`${folder}/bad.p8`, 'secret-text')
  const rows = [
    [`${folder}/none.p8`, `SERVICE_APNS_KEY_FILE names ${folder}/none.p8, which does not exist`],
    [
      `${folder}/bad.p8`,
      `SERVICE_APNS_KEY_FILE names ${folder}/bad.p8, which is not a .p8 file as Apple gives it: ` +
        'a P-256 private key in PEM',
    ],
  ] as const
  for (const [keyFile, message] of rows) {
    await t.throwsAsync(openApns({ ...settings, keyFile }, testEdge()), { message })
  }
})
