// Method: the provider uses the real firebase-admin against a stand-in over real HTTP/2 and TLS.
// The library has fixed hosts, so the tests redirect its connections.

import { writeFile } from 'node:fs/promises'

import test from 'ava'

import type { Outcome } from '#domain/push'
import type { FcmMessage, FcmRefusal } from '#src/dev/servers/push/fcm-server'
import { UNREACHABLE, accessTokensFor } from '#src/providers/fcm/access-tokens'
import { openFcm } from '#src/providers/fcm/fcm'
import { temporaryFolder, until } from '#test/support/gateway'
import {
  accountText,
  fcmBench,
  fcmKeys,
  googleToken,
  pushOf,
  testEdge,
} from '#test/support/push-servers'

const DELIVERED: Outcome = { kind: 'delivered' }

// The redirection applies to the whole process, so the tests use one stand-in at a time.
const serially = test.serial

serially('Google gets a push as data, with its priority and remaining time', async (t) => {
  const { server, provider } = await fcmBench(t)
  const taken: FcmMessage[] = []
  server.taken = (message) => taken.push(message)
  const fields = { title: 'Fire', body: 'in the hall', severity: 'low' }
  const push = pushOf('fcm', { token: googleToken(1), fields, expiresAt: Date.now() + 90_500 })
  t.deepEqual(await provider.send(push), DELIVERED)
  const [{ token, data, android } = { token: '', data: {} }] = taken
  const { channelId, opId, entityId } = push.entry
  t.is(token, googleToken(1))
  t.deepEqual(data, {
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
    severity: 'low',
  })
  t.is(android?.priority, 'normal')
  t.regex(android?.ttl ?? '', /^(90|89)s$/)
})

// Each row has an answer of Google and the outcome of the push.
const LOST: Outcome = { kind: 'deferred', trouble: 'provider', reason: 'ConnectionFailed' }
const AWAY = { status: 503, canonical: 'UNAVAILABLE', errorCode: 'UNAVAILABLE' } as const
const QUOTA = { status: 429, canonical: 'RESOURCE_EXHAUSTED', errorCode: 'QUOTA_EXCEEDED' } as const
const ANSWERS: readonly (readonly [FcmRefusal, Outcome])[] = [
  [
    { status: 404, canonical: 'NOT_FOUND', errorCode: 'UNREGISTERED' },
    { kind: 'gone', reason: 'registration-token-not-registered' },
  ],
  [
    { status: 403, canonical: 'PERMISSION_DENIED', errorCode: 'SENDER_ID_MISMATCH' },
    { kind: 'gone', reason: 'mismatched-credential' },
  ],
  [
    { status: 403, canonical: 'PERMISSION_DENIED' },
    { kind: 'deferred', trouble: 'credentials', reason: 'mismatched-credential' },
  ],
  [
    { status: 400, canonical: 'INVALID_ARGUMENT', errorCode: 'INVALID_ARGUMENT' },
    { kind: 'rejected', reason: 'invalid-argument' },
  ],
  [
    { status: 401, canonical: 'UNAUTHENTICATED', errorCode: 'THIRD_PARTY_AUTH_ERROR' },
    { kind: 'deferred', trouble: 'credentials', reason: 'third-party-auth-error' },
  ],
  [
    QUOTA,
    { kind: 'deferred', trouble: 'provider', reason: 'message-rate-exceeded', afterMs: 60_000 },
  ],
  [
    { ...QUOTA, retryAfter: '5' },
    { kind: 'deferred', trouble: 'provider', reason: 'message-rate-exceeded', afterMs: 5_000 },
  ],
  [AWAY, { kind: 'deferred', trouble: 'provider', reason: 'server-unavailable' }],
  [
    { ...AWAY, retryAfter: '30' },
    { kind: 'deferred', trouble: 'provider', reason: 'server-unavailable', afterMs: 30_000 },
  ],
  [
    { status: 500, canonical: 'INTERNAL', errorCode: 'INTERNAL' },
    { kind: 'deferred', trouble: 'provider', reason: 'internal-error' },
  ],
]

serially('the provider maps each answer of Google to its outcome', async (t) => {
  const { server, provider } = await fcmBench(t)
  for (const [refusal, outcome] of ANSWERS) {
    server.refuse = () => refusal
    t.deepEqual(await provider.send(pushOf('fcm')), outcome, JSON.stringify(refusal))
  }
  server.refuse = () => undefined
  const bad = await provider.send(pushOf('fcm', { token: 'short' }))
  t.deepEqual(bad, { kind: 'gone', reason: 'invalid-argument' })
})

serially(
  'a push whose connection ends without an answer is deferred, and the next one is sent',
  async (t) => {
    const { server, provider } = await fcmBench(t)
    const { standIn } = server
    standIn.latency = 'hang'
    const sending = provider.send(pushOf('fcm'))
    await until(
      () => Promise.resolve(standIn.unanswered),
      (count) => count === 1,
    )
    standIn.breakConnections()
    t.deepEqual(await sending, LOST)
    standIn.latency = 0
    t.deepEqual(await provider.send(pushOf('fcm')), DELIVERED)
  },
)

serially(
  'a token endpoint that does not answer is not waited for, and accuses no key',
  async (t) => {
    const { server } = await fcmBench(t)
    server.standIn.answerPlain = () => undefined
    const account = { projectId: 'p', clientEmail: 'c', privateKey: fcmKeys()[0] }
    const tokens = accessTokensFor(account, Date.now, 50)
    await t.throwsAsync(tokens.getAccessToken(), { message: UNREACHABLE })
  },
)

serially(
  'the provider sends simultaneous pushes over few connections, and each gets its own answer',
  async (t) => {
    const { server, provider } = await fcmBench(t)
    const pushes = Array.from({ length: 300 }, () => pushOf('fcm'))
    const [unlucky] = pushes
    server.unregistered.add(unlucky?.route.token ?? '')
    const outcomes = await Promise.all(pushes.map((push) => provider.send(push)))
    t.is(outcomes[0]?.kind, 'gone')
    t.true(outcomes.slice(1).every(({ kind }) => kind === 'delivered'))
    t.true(server.standIn.accepted <= 6, `${server.standIn.accepted} connections`)
    t.is(server.grants, 1)
  },
)

serially(
  'the provider loads changed credentials, and reports those that Google refuses',
  async (t) => {
    const { server, provider, edge, keyFile, otherKey } = await fcmBench(t)
    server.refuseGrant = 'invalid_grant'
    const refused = await provider.send(pushOf('fcm'))
    t.like(refused, { kind: 'deferred', trouble: 'credentials' })
    server.refuseGrant = undefined
    t.deepEqual(await provider.send(pushOf('fcm')), DELIVERED)
    server.forgetGrants()
    t.like(await provider.send(pushOf('fcm')), { trouble: 'credentials' }, 'ended early')
    server.refuseGrant = 'invalid_grant'
    t.like(await provider.send(pushOf('fcm')), { trouble: 'credentials' }, 'and no other')
    server.refuseGrant = undefined
    t.deepEqual(await provider.send(pushOf('fcm')), DELIVERED, 'with another access token')
    await writeFile(keyFile, otherKey)
    edge.look()
    await until(
      () => Promise.resolve(edge.renewals()),
      (renewals) => renewals === 1,
    )
    t.like(await provider.send(pushOf('fcm')), { kind: 'deferred', trouble: 'credentials' })
  },
)

serially('the provider defers a push while no server listens', async (t) => {
  const { server, provider } = await fcmBench(t)
  t.deepEqual(await provider.send(pushOf('fcm')), DELIVERED)
  await server.standIn.close()
  t.like(await provider.send(pushOf('fcm')), { kind: 'deferred', trouble: 'provider' })
})

test('the start refuses an unusable credentials file and says why', async (t) => {
  const folder = await temporaryFolder(t)
  const file = `${folder}/account.json`
  const begins = `SERVICE_FCM_CREDENTIALS_FILE names ${file}, which`
  const isNot = 'is not the JSON key of a Google service account'
  const rows = [
    [undefined, `${begins} does not exist`],
    ['no json', `${begins} ${isNot}`],
    ['{"project_id":"p"}', `${begins} ${isNot}: client_email is missing`],
    [accountText('secret'), `${begins} ${isNot}: private_key is not a key in PEM`],
  ] as const
  for (const [text, message] of rows) {
    if (text !== undefined) await writeFile(file, text)
    await t.throwsAsync(openFcm({ credentialsFile: file }, testEdge()), { message })
  }
})
