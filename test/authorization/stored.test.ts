// Goal: nodes share uses of codes and the secrets of a gateway through the store.

import test from 'ava'

import { adapterFactory } from '#src/authorization/adapter'
import { currentSecrets } from '#src/authorization/secrets'
import { FakeTime } from '#test/support/fake-timers'
import { NOW_MS } from '#test/support/making'
import { realRuntime } from '#test/support/real-runtime'
import { openTestStore } from '#test/support/sqlite-store'

test('adapter/2: the second use of a code is refused and ends the grant', async (t) => {
  const { authorization: records } = await openTestStore(t)
  const adapterOf = adapterFactory({ records, nowMs: () => NOW_MS })
  const codes = adapterOf('AuthorizationCode')
  const tokens = adapterOf('RefreshToken')
  await codes.upsert('a-code', { grantId: 'grant-1' }, 60)
  await tokens.upsert('a-token', { grantId: 'grant-1' }, 60)
  const uses = await Promise.allSettled([codes.consume('a-code'), codes.consume('a-code')])
  t.deepEqual(uses.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
  t.is(await tokens.find('a-token'), undefined)
})

test('secrets/1: every node knows a secret before it is used, and after', async (t) => {
  const { authorization: records } = await openTestStore(t)
  const time = new FakeTime(NOW_MS)
  const ports = { records, runtime: { nowMs: time.nowMs, entropy: realRuntime.entropy } }
  const first = await currentSecrets(ports)
  t.deepEqual(await currentSecrets(ports), first)
  t.is(first.cookies.length, 2)
  time.advance(30 * 86_400_000)
  const second = await currentSecrets(ports)
  t.not(second.cookies[0], first.cookies[0])
  t.is(second.cookies[0], first.cookies[1])
  t.true(second.cookies.includes(first.cookies[0] ?? ''))
  t.deepEqual(second.keys[0], first.keys[1])
  time.advance(30 * 86_400_000)
  t.false((await currentSecrets(ports)).cookies.includes(first.cookies[0] ?? ''))
})
