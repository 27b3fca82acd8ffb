// Clients that were let in several times, and the channels bound to all their grants.

import test from 'ava'

import { BINDINGS_MAX } from '#domain/assistants'
import { PASSWORD_HASH, newChannel, changed } from '#test/support/store-writer'
import { channel } from '#test/support/submissions'
import { A, B, SECRET, binding, holder, record, session, use } from './authorization-samples.ts'
import type { OpenStore } from './store-contract.ts'

export function bindingClientContract(engine: string, open: OpenStore): void {
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

  test(`${engine}: the channels that a client keeps in a browser are listed grant by grant`, async (t) => {
    const { bindings, channels } = await open(t)
    const { client, browser } = holder
    for (const one of [A, B, channel(3)]) await channels.create(newChannel(one))
    t.deepEqual(await bindings.ofBrowser(client, browser), [])
    await bindings.bind(binding(channel(3), { grantId: 'grant-0' }))
    for (const one of [B, A]) await bindings.bind(binding(one, { boundAt: one === A ? 9 : 5 }))
    await bindings.bind(binding(A, { grantId: 'grant-2', browser: 'browser-2' }))
    await bindings.bind(binding(A, { grantId: 'grant-3', client: 'd'.repeat(64) }))
    const named = (await bindings.ofBrowser(client, browser)).map((one) => [
      one.grantId,
      one.channelId,
    ])
    t.deepEqual(named, [
      ['grant-0', channel(3)],
      ['grant-1', B],
      ['grant-1', A],
    ])
    await channels.changePassword(A, changed(PASSWORD_HASH, 'another'))
    t.is((await bindings.ofBrowser(client, browser)).length, 2)
    t.deepEqual(await bindings.ofBrowser(client, 'elsewhere'), [])
  })

  test(`${engine}: bindings/4: a channel with another password since then is bound once`, async (t) => {
    const { bindings, channels } = await open(t)
    for (const one of [A, B]) await channels.create(newChannel(one))
    await bindings.bind(binding(A))
    await bindings.bind(binding(B))
    await channels.changePassword(A, changed(PASSWORD_HASH, 'another'))
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
