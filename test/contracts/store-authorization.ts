// Records of the authorization server, and the channels that are bound to its grants.

import test from 'ava'

import { BINDINGS_MAX } from '#domain/assistants'
import type { AuthorizationRecord, NewBinding } from '#domain/authorization-store'
import { PASSWORD_HASH, newChannel } from '#test/support/store-writer'
import { channel } from '#test/support/submissions'
import type { OpenStore } from './store-contract.ts'

const A = channel(1)
const B = channel(2)

const record = (name: string, more: Partial<AuthorizationRecord> = {}): AuthorizationRecord => ({
  model: 'RefreshToken',
  idHash: name.padEnd(64, '0'),
  grantId: 'grant-1',
  uid: '',
  payload: JSON.stringify({ name: `${name} 🔑` }),
  consumedAt: 0,
  expiresAt: 1_000,
  ...more,
})

const holder = {
  grantId: 'grant-1',
  client: 'c'.repeat(64),
  browser: 'browser-1',
  clientName: 'Ein Gehilfe 🔑',
}

const binding = (channelId = A, more: Partial<NewBinding> = {}): NewBinding => ({
  ...holder,
  channelId,
  passwordHash: PASSWORD_HASH,
  boundAt: 5,
  ...more,
})

const SECRET = 's'.repeat(64)
const session = {
  ...holder,
  bindSession: 'b'.repeat(32),
  secretHash: SECRET,
  expiresAt: 1_000,
}
const use = { channelId: A, passwordHash: PASSWORD_HASH, boundAt: 7 }
const before = (authorization: number) => ({
  operations: 0,
  messagesAndEvents: 0,
  thingUpdates: 0,
  tombstones: 0,
  deletedChannels: 0,
  authorization,
})

export function authorizationContract(engine: string, open: OpenStore): void {
  recordContract(engine, open)
  bindingContract(engine, open)
  clientContract(engine, open)
  bindSessionContract(engine, open)
}

function recordContract(engine: string, open: OpenStore): void {
  test(`${engine}: a record is found until its end, under its model, and replaced`, async (t) => {
    const { authorization } = await open(t)
    const { model, idHash, payload } = record('a', { uid: 'uid-a' })
    await authorization.put(record('a', { uid: 'uid-a' }))
    t.deepEqual(await authorization.find(model, idHash, 999), { payload, consumedAt: 0 })
    t.deepEqual(await authorization.findByUid(model, 'uid-a', 999), { payload, consumedAt: 0 })
    t.is(await authorization.find(model, idHash, 1_000), undefined)
    t.is(await authorization.findByUid(model, 'uid-a', 1_000), undefined)
    t.is(await authorization.find('AccessToken', idHash, 1), undefined)
    await authorization.put(record('a', { payload: '{}', expiresAt: 2_000 }))
    t.deepEqual(await authorization.find(model, idHash, 1_999), { payload: '{}', consumedAt: 0 })
    await authorization.prolong(model, idHash, 3_000)
    await authorization.prolong(model, idHash, 2_500)
    t.not(await authorization.find(model, idHash, 2_999), undefined)
    await authorization.remove(model, idHash)
    t.is(await authorization.find(model, idHash, 1), undefined)
  })

  test(`${engine}: authorization/1: of many uses at once one is the first`, async (t) => {
    const { authorization } = await open(t)
    const { model, idHash } = record('a')
    await authorization.put(record('a'))
    const uses = Array.from({ length: 8 }, () => authorization.consume(model, idHash, 7))
    t.is((await Promise.all(uses)).filter(Boolean).length, 1)
    t.like(await authorization.find(model, idHash, 8), { consumedAt: 7 })
    t.false(await authorization.consume(model, 'unknown', 7))
  })

  test(`${engine}: a revoked grant leaves neither records nor bindings`, async (t) => {
    const { authorization, bindings, channels } = await open(t)
    await channels.create(newChannel(A))
    await bindings.bind(binding())
    await bindings.bind(binding(A, { grantId: 'grant-2', browser: 'browser-2' }))
    await bindings.startSession(session)
    for (const name of ['a', 'b']) await authorization.put(record(name))
    await authorization.put(record('c', { grantId: 'grant-2' }))
    await authorization.revokeGrant('grant-1')
    t.is(await authorization.find('RefreshToken', record('a').idHash, 1), undefined)
    t.is(await authorization.find('RefreshToken', record('b').idHash, 1), undefined)
    t.not(await authorization.find('RefreshToken', record('c').idHash, 1), undefined)
    t.deepEqual(await bindings.ofGrant('grant-1'), [])
    t.is(await bindings.session(SECRET, 1), undefined)
    t.is((await bindings.ofGrant('grant-2')).length, 1)
  })

  test(`${engine}: authorization/2: a secret of a period is made once`, async (t) => {
    const { authorization } = await open(t)
    const fresh = (secret: string, from: number) =>
      [from, from + 1].map((period) => ({ period, secret: `${secret}-${period}` }))
    const [one, two] = await Promise.all([
      authorization.secrets('cookie', fresh('one', 5)),
      authorization.secrets('cookie', fresh('two', 5)),
    ])
    t.deepEqual(one, two)
    t.is(one.length, 2)
    const next = await authorization.secrets('cookie', fresh('three', 6))
    t.deepEqual(next.slice(0, 2), one)
    t.deepEqual(next[2], { period: 7, secret: 'three-7' })
    const later = await authorization.secrets('cookie', fresh('four', 7))
    t.deepEqual(
      later.map(({ period }) => period),
      [6, 7, 8],
    )
    t.is((await authorization.secrets('signing', fresh('other', 5)))[0]?.secret, 'other-5')
  })

  test(`${engine}: ended records are removed in bounded steps, a grant with its bindings`, async (t) => {
    const { authorization, bindings, channels, retention } = await open(t)
    for (const one of [A, B]) {
      await channels.create(newChannel(one))
      await bindings.bind(binding(one))
    }
    await authorization.put(record('g', { model: 'Grant', expiresAt: 10 }))
    await authorization.put(record('t', { expiresAt: 20 }))
    await authorization.put(record('k', { expiresAt: 30 }))
    await bindings.startSession({ ...session, expiresAt: 20 })
    const steps: number[] = []
    for (;;) {
      const removed = await retention.step(before(30), 2)
      t.true(removed <= 2)
      if (removed === 0) break
      steps.push(removed)
    }
    t.is(
      steps.reduce((sum, rows) => sum + rows, 0),
      5,
    )
    t.deepEqual(await bindings.ofGrant('grant-1'), [])
    t.is(await bindings.session(SECRET, 1), undefined)
    t.not(await authorization.find('RefreshToken', record('k').idHash, 1), undefined)
  })
}

function bindingContract(engine: string, open: OpenStore): void {
  test(`${engine}: a grant has the channels that were bound to it, and may lose them`, async (t) => {
    const { bindings, channels } = await open(t)
    await channels.create(newChannel(A))
    await channels.create(newChannel(B))
    t.is(await bindings.bind(binding(B, { boundAt: 6 })), 'bound')
    t.is(await bindings.bind(binding(A)), 'bound')
    t.is(await bindings.bind(binding(A)), 'bound')
    t.is(await bindings.bind(binding(channel(3))), 'no-channel')
    t.is(await bindings.bind(binding(A, { passwordHash: 'another' })), 'no-channel')
    t.like(await bindings.ofGrant('grant-1'), [
      { channelId: A, boundAtMs: 5 },
      { channelId: B, boundAtMs: 6 },
    ])
    t.deepEqual(await bindings.ofGrant('grant-2'), [])
    const { client, clientName, boundAt } = binding()
    t.deepEqual(await bindings.ofChannel(A), [{ client, clientName, grants: 1, boundAt }])
    t.false(await bindings.unbind('grant-2', A))
    t.true(await bindings.unbind('grant-1', A))
    t.false(await bindings.unbind('grant-1', A))
    t.like(await bindings.ofGrant('grant-1'), [{ channelId: B }])
  })

  test(`${engine}: bindings/1: another password, or the end of the channel, makes bindings void`, async (t) => {
    const { bindings, channels } = await open(t)
    for (const one of [A, B]) {
      await channels.create(newChannel(one))
      await bindings.bind(binding(one))
    }
    await channels.changePassword(A, PASSWORD_HASH, 'another')
    t.like(await bindings.ofGrant('grant-1'), [{ channelId: B }])
    t.deepEqual(await bindings.ofChannel(A), [])
    await channels.delete(B, 1)
    t.deepEqual(await bindings.ofGrant('grant-1'), [])
    t.is(await bindings.bind(binding(A, { passwordHash: 'another' })), 'bound')
  })

  test(`${engine}: bindings/2: a grant has a greatest number of channels`, async (t) => {
    const { bindings, channels } = await open(t)
    const many = Array.from({ length: BINDINGS_MAX + 2 }, (_, at) => channel(at + 1))
    for (const one of many) await channels.create(newChannel(one))
    const outcomes: string[] = []
    for (const one of many) outcomes.push(await bindings.bind(binding(one)))
    t.is(outcomes.filter((outcome) => outcome === 'bound').length, BINDINGS_MAX)
    t.deepEqual(outcomes.slice(-2), ['full', 'full'])
    await channels.changePassword(A, PASSWORD_HASH, 'another')
    t.is(await bindings.bind(binding(many[BINDINGS_MAX])), 'bound')
  })
}

function clientContract(engine: string, open: OpenStore): void {
  test(`${engine}: bindings/4: a client that is let in again has one grant with all channels`, async (t) => {
    const { authorization, bindings, channels } = await open(t)
    for (const one of [A, B]) await channels.create(newChannel(one))
    await bindings.bind(binding(A))
    await bindings.bind(binding(B))
    await authorization.put(record('old'))
    await bindings.startSession(session)
    const elsewhere = [
      { grantId: 'grant-2', browser: 'browser-2' },
      { grantId: 'grant-3', client: 'd'.repeat(64) },
    ]
    for (const other of elsewhere) await bindings.bind(binding(A, other))
    t.is(await bindings.bind(binding(A, { grantId: 'grant-4', boundAt: 8 })), 'bound')
    t.deepEqual(await bindings.ofGrant('grant-1'), [])
    t.is(await authorization.find('RefreshToken', record('old').idHash, 1), undefined)
    t.like(await bindings.ofGrant('grant-4'), [
      { channelId: B, boundAtMs: 5 },
      { channelId: A, boundAtMs: 8 },
    ])
    t.like(await bindings.session(SECRET, 1), { grantId: 'grant-4', state: 'open' })
    for (const { grantId } of elsewhere) t.is((await bindings.ofGrant(grantId)).length, 1)
    // A grant for another channel says nothing of the others.
    await channels.create(newChannel(channel(3)))
    await bindings.bind(binding(channel(3), { grantId: 'grant-5' }))
    t.is((await bindings.ofGrant('grant-4')).length, 2)
    t.is((await bindings.ofGrant('grant-5')).length, 1)
  })

  test(`${engine}: bindings/4: a channel with another password since then is bound once`, async (t) => {
    const { bindings, channels } = await open(t)
    for (const one of [A, B]) await channels.create(newChannel(one))
    await bindings.bind(binding(A))
    await bindings.bind(binding(B))
    await channels.changePassword(A, PASSWORD_HASH, 'another')
    const renewed = { grantId: 'grant-2', passwordHash: 'another', boundAt: 9 }
    t.is(await bindings.bind(binding(A, renewed)), 'bound')
    t.like(await bindings.ofGrant('grant-2'), [{ channelId: B }, { channelId: A }])
    t.deepEqual(await bindings.ofGrant('grant-1'), [])
  })

  test(`${engine}: bindings/2: a grant that takes over channels has as many as it may`, async (t) => {
    const { bindings, channels } = await open(t)
    const many = Array.from({ length: BINDINGS_MAX + 2 }, (_, at) => channel(at + 2))
    for (const one of [A, ...many]) await channels.create(newChannel(one))
    await bindings.bind(binding(A))
    for (const one of many.slice(3)) await bindings.bind(binding(one))
    await bindings.bind(binding(B, { grantId: 'grant-2' }))
    for (const [at, one] of many.slice(0, 3).entries()) {
      const secretHash = `${at}`.repeat(64)
      const more = { grantId: 'grant-2', bindSession: `${at}`.repeat(32), secretHash }
      await bindings.startSession({ ...session, ...more })
      await bindings.useSession(secretHash, { ...use, channelId: one })
    }
    await bindings.startSession({ ...session, grantId: 'grant-2' })
    t.is(await bindings.useSession(SECRET, use), 'bound')
    t.is(await bindings.bind(binding(A, { grantId: 'grant-3' })), 'bound')
    t.is((await bindings.ofGrant('grant-3')).length, BINDINGS_MAX)
    t.true(await bindings.unbind('grant-3', A))
    t.is((await bindings.ofGrant('grant-3')).length, BINDINGS_MAX - 1)
  })

  test(`${engine}: bindings/5: a client that loses a channel loses it in all grants`, async (t) => {
    const { authorization, bindings, channels } = await open(t)
    for (const one of [A, B]) await channels.create(newChannel(one))
    const second = { grantId: 'grant-2', browser: 'browser-2', boundAt: 9 }
    const other = { grantId: 'grant-3', client: 'd'.repeat(64), clientName: 'Other', boundAt: 10 }
    await bindings.bind(binding(A))
    await bindings.bind(binding(B))
    await bindings.bind(binding(A, second))
    await bindings.bind(binding(A, other))
    for (const grantId of ['grant-1', 'grant-2']) {
      await authorization.put(record(grantId, { grantId }))
    }
    const { client, clientName } = holder
    const left = { client: other.client, clientName: 'Other', grants: 1, boundAt: 10 }
    t.deepEqual(await bindings.ofChannel(A), [{ client, clientName, grants: 2, boundAt: 5 }, left])
    t.true(await bindings.endUse(A, client))
    t.false(await bindings.endUse(A, client))
    t.deepEqual(await bindings.ofChannel(A), [left])
    t.like(await bindings.ofGrant('grant-1'), [{ channelId: B }])
    const tokenOf = (grantId: string) =>
      authorization.find('RefreshToken', record(grantId).idHash, 1)
    t.not(await tokenOf('grant-1'), undefined)
    t.is(await tokenOf('grant-2'), undefined)
  })
}

function bindSessionContract(engine: string, open: OpenStore): void {
  test(`${engine}: bindings/3: a bind session is used once and binds its channel`, async (t) => {
    const { bindings, channels } = await open(t)
    await channels.create(newChannel(A))
    await bindings.startSession(session)
    t.like(await bindings.session(SECRET, 999), { grantId: 'grant-1', state: 'open' })
    t.is(await bindings.session('unknown', 999), undefined)
    t.is(await bindings.useSession(SECRET, { ...use, passwordHash: 'wrong' }), 'no-channel')
    t.like(await bindings.session(SECRET, 999), { state: 'open' })
    t.deepEqual(await bindings.outcome('grant-1', session.bindSession), { expiresAt: 1_000 })
    const uses = [bindings.useSession(SECRET, use), bindings.useSession(SECRET, use)]
    t.deepEqual((await Promise.all(uses)).toSorted(), ['bound', 'no-session'])
    t.like(await bindings.session(SECRET, 999), { state: 'used' })
    t.like(await bindings.ofGrant('grant-1'), [{ channelId: A, boundAtMs: 7 }])
    const bound = { expiresAt: 1_000, channelId: A }
    t.deepEqual(await bindings.outcome('grant-1', session.bindSession), bound)
    t.is(await bindings.outcome('grant-2', session.bindSession), undefined)
  })

  test(`${engine}: a bind session that has expired binds nothing`, async (t) => {
    const { bindings, channels } = await open(t)
    await channels.create(newChannel(A))
    await bindings.startSession(session)
    t.like(await bindings.session(SECRET, 1_000), { state: 'expired' })
    t.is(await bindings.useSession(SECRET, { ...use, boundAt: 1_000 }), 'no-session')
    t.deepEqual(await bindings.ofGrant('grant-1'), [])
  })
}
