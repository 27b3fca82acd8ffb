// Channels that are bound to grants.

import test from 'ava'

import { BINDINGS_MAX } from '#domain/assistants'
import { PASSWORD_HASH, newChannel, changed } from '#test/support/store-writer'
import { channel } from '#test/support/submissions'
import { A, B, SECRET, binding, session, use } from './authorization-samples.ts'
import type { OpenStore } from './store-contract.ts'

export function bindingContract(engine: string, open: OpenStore): void {
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
    await channels.changePassword(A, changed(PASSWORD_HASH, 'another'))
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
    await channels.changePassword(A, changed(PASSWORD_HASH, 'another'))
    t.is(await bindings.bind(binding(many[BINDINGS_MAX])), 'bound')
  })
}

export function bindSessionContract(engine: string, open: OpenStore): void {
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
