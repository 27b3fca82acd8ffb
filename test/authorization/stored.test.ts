// Goal: nodes share uses of codes and the secrets of a gateway through the store.

import test from 'ava'

import { adapterFactory } from '#src/authorization/adapter'
import { currentSecrets } from '#src/authorization/secrets'
import { FakeTime } from '#test/support/fake-timers'
import { NOW_MS } from '#test/support/making'
import { NEVER } from '#test/support/retention-limits'
import { realRuntime } from '#test/support/real-runtime'
import { openTestStore } from '#test/support/sqlite-store'

test('adapter/2: the second use of a code is refused and ends the grant', async (t) => {
  const { authorization: records } = await openTestStore(t)
  const ended: string[] = []
  const reused = (grantId: string): unknown => ended.push(grantId)
  const adapterOf = adapterFactory({ records, nowMs: () => NOW_MS, reused })
  const codes = adapterOf('AuthorizationCode')
  const tokens = adapterOf('RefreshToken')
  await codes.upsert('a-code', { grantId: 'grant-1' }, 60)
  await tokens.upsert('a-token', { grantId: 'grant-1' }, 60)
  const uses = await Promise.allSettled([codes.consume('a-code'), codes.consume('a-code')])
  t.deepEqual(uses.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
  t.is(await tokens.find('a-token'), undefined)
  t.deepEqual(ended, ['grant-1'])
})

test('adapter/3: what strangers make is one of 10,000, each with bounded bytes', async (t) => {
  const put: (readonly [model: string, atMost: number | undefined])[] = []
  const { authorization: records } = await openTestStore(t)
  const write = records.put.bind(records)
  records.put = (record, atMost) => {
    put.push([record.model, atMost])
    return write(record, atMost)
  }
  const adapterOf = adapterFactory({ records, nowMs: () => NOW_MS, reused: () => {} })
  const padded = (bytes: number) => ({
    params: { state: 'x'.repeat(bytes - '{"params":{"state":""}}'.length) },
  })
  const interactions = adapterOf('Interaction')
  await interactions.upsert('an-id', padded(3_584), 600)
  await t.throwsAsync(interactions.upsert('an-id', padded(3_585), 600), {
    message: 'invalid_request',
  })
  // The answer of the person comes later, and always has room.
  await interactions.upsert(
    'an-id',
    { ...padded(3_584), result: { login: { accountId: 'x' } } },
    600,
  )
  const clients = adapterOf('Client')
  const client = (bytes: number) => ({
    client_name: 'x'.repeat(bytes - '{"client_name":""}'.length),
  })
  await clients.upsert('a-client', client(4_096))
  await t.throwsAsync(clients.upsert('a-client', client(4_097)), {
    message: 'invalid_client_metadata',
  })
  await adapterOf('AccessToken').upsert('a-token', {}, 600)
  t.deepEqual(put, [
    ['Interaction', 10_000],
    ['Interaction', 10_000],
    ['Client', 10_000],
    ['AccessToken', undefined],
  ])
})

test('a client that nobody let in goes after a day, one with a grant stays', async (t) => {
  const { authorization: records, retention } = await openTestStore(t)
  let now = NOW_MS
  const adapterOf = adapterFactory({ records, nowMs: () => now, reused: () => {} })
  const clients = adapterOf('Client')
  for (const id of ['never-used', 'used']) await clients.upsert(id, { client_id: id })
  await adapterOf('Grant').upsert('a-grant', { clientId: 'used' }, 600)
  now += 86_399_999
  t.not(await clients.find('never-used'), undefined)
  now += 1
  t.is(await clients.find('never-used'), undefined)
  t.is(await retention.step({ ...NEVER, authorization: now + 1 }, 10), 1)
  t.not(await clients.find('used'), undefined)
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
