// Records of the authorization server.

import test from 'ava'

import { NEVER } from '#test/support/retention-limits'
import { newChannel } from '#test/support/store-writer'
import { A, B, SECRET, binding, record, session } from './authorization-samples.ts'
import type { OpenStore } from './store-contract.ts'
import { stepsOf } from '#test/support/retired'

export function authorizationContract(engine: string, open: OpenStore): void {
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

  test(`${engine}: authorization/3: of a bounded kind the records that end first give way`, async (t) => {
    const { authorization } = await open(t)
    const at = (name: string, expiresAt: number, model = 'Interaction') =>
      record(name, { model, expiresAt })
    const found = async (...names: string[]): Promise<boolean[]> =>
      Promise.all(
        names.map(async (name) => {
          const { idHash } = record(name)
          return (await authorization.find('Interaction', idHash, 1)) !== undefined
        }),
      )
    await authorization.put(at('other', 50, 'Client'))
    // A record that ends later than the newest is of no concern to it: a client with a grant.
    await authorization.put(at('later', 900))
    for (const name of ['c', 'a', 'b']) await authorization.put(at(name, 100), 3)
    t.deepEqual(await found('a', 'b', 'c'), [true, true, true])
    await authorization.put(at('b', 100), 3)
    t.deepEqual(await found('a', 'b', 'c'), [true, true, true])
    await authorization.put(at('d', 200), 3)
    t.deepEqual(await found('a', 'b', 'c', 'd'), [false, true, true, true])
    await authorization.put(at('0', 200), 1)
    t.deepEqual(await found('b', 'c', 'd', '0', 'later'), [false, false, false, true, true])
    t.not(await authorization.find('Client', record('other').idHash, 1), undefined)
  })

  test(`${engine}: authorization/1: exactly one of many uses at once is the first`, async (t) => {
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
    const limits = { ...NEVER, authorization: 30, bindSessions: 30 }
    const steps = await stepsOf({ retention }, limits, 2)
    t.true(Math.max(...steps) <= 2)
    t.is(
      steps.reduce((sum, rows) => sum + rows, 0),
      5,
    )
    t.deepEqual(await bindings.ofGrant('grant-1'), [])
    t.is(await bindings.session(SECRET, 1), undefined)
    t.not(await authorization.find('RefreshToken', record('k').idHash, 1), undefined)
  })
}
