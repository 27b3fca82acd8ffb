// Goal: an op_id of a client has one effect. Each test sends once, changes something, and sends again.

import test from 'ava'

import { fault } from '#domain/fault'
import { CREDENTIALS, NOW_MS } from '#test/support/making'
import { addChannel, startIngress } from '#test/support/start-ingress'
import type { Rig } from '#test/support/start-ingress'
import { acceptedOperation } from '#test/support/submissions'

const FIRST = { ...CREDENTIALS, title: 'x', op_id: 'mine' }

/** The log's submission is applied. */
async function apply(rig: Rig): Promise<void> {
  const [accepted] = rig.sink.accepted
  if (accepted === undefined) throw new Error('nothing was accepted')
  rig.operations.rows.set(accepted.opId, { ...acceptedOperation(accepted), status: 'sent' })
}

test('message-claims/2: a repeat of an applied Message gives the first result and appends nothing', async (t) => {
  const rig = await startIngress(t)
  const first = await rig.post('/message', FIRST)
  await apply(rig)
  rig.time.advance(5_000)
  const again = await rig.post('/message', { ...FIRST, title: '  x ' })
  t.is(again.status, 200)
  t.is(again.text, first.text)
  t.is(rig.sink.accepted.length, 1)
})

test('a repeat of an accepted and unapplied submission appends nothing', async (t) => {
  const rig = await startIngress(t)
  const first = await rig.post('/message', FIRST)
  const [accepted] = rig.sink.accepted
  if (accepted === undefined) return t.fail()
  rig.sink.operations.set(accepted.opId, acceptedOperation(accepted))
  const again = await rig.post('/message', FIRST)
  t.is(again.text, first.text)
  t.is(rig.sink.accepted.length, 1)
})

test('message-claims/3: an op_id of an unapplied submission is a conflict', async (t) => {
  const rig = await startIngress(t)
  const thing = { ...CREDENTIALS, thing_id: 'pump', observed_at: NOW_MS }
  await rig.post('/thing/update', thing)
  const [accepted] = rig.sink.accepted
  if (accepted === undefined) return t.fail()
  const { opId } = accepted
  rig.sink.operations.set(opId, acceptedOperation(accepted))
  const answer = await rig.post('/message', { ...FIRST, op_id: opId })
  t.is(answer.status, 409)
  t.is(answer.json['error_code'], 'op_id_scope_conflict')
  t.is(rig.sink.accepted.length, 1)
  t.is(rig.operations.claims.size, 0)
})

test('message-claims/1: a repeat completes a first attempt that died between claim and append', async (t) => {
  const rig = await startIngress(t)
  rig.sink.answer = () => fault('submission_not_accepted')
  t.is((await rig.post('/message', FIRST)).status, 503)
  rig.sink.answer = () => ({ kind: 'accepted' })
  rig.time.advance(60_000)
  const again = await rig.post('/message', FIRST)
  t.is(again.status, 200)
  const [claim] = rig.operations.claims.values()
  t.deepEqual(again.json['data'], { op_id: 'mine', message_id: claim?.messageId })
  t.like(rig.sink.accepted, [
    { opId: 'mine', entityId: claim?.messageId, acceptedAt: NOW_MS, claimed: true, isRepeat: true },
  ])
})

const conflicts: readonly (readonly [name: string, change: object, code: string])[] = [
  ['another title', { title: 'y' }, 'op_id_payload_conflict'],
  ['another body', { body: 'more' }, 'op_id_payload_conflict'],
  ['a thing_id', { thing_id: 'pump', occurred_at: NOW_MS }, 'op_id_scope_conflict'],
  ['another channel', { channel_id: '7ZZZZZZZZZZZZZZZZZZZZZZZZW' }, 'op_id_scope_conflict'],
]

for (const [name, change, code] of conflicts) {
  test(`an op_id that is used again with ${name} is a conflict that tells nothing of the first`, async (t) => {
    const rig = await startIngress(t)
    await addChannel(rig.channels, '7ZZZZZZZZZZZZZZZZZZZZZZZZW', CREDENTIALS.password)
    await rig.post('/message', FIRST)
    const answer = await rig.post('/message', { ...FIRST, ...change })
    t.is(answer.status, 409)
    t.is(answer.json['error_code'], code)
    const messageId = rig.sink.accepted[0]?.entityId ?? 'none'
    t.false(answer.text.includes(messageId))
    t.is(rig.sink.accepted.length, 1)
  })
}

test('a claim ends with the retention of operations', async (t) => {
  const rig = await startIngress(t, { statusRetentionMs: 60_000 })
  await rig.post('/message', FIRST)
  rig.time.advance(60_000)
  t.is((await rig.post('/message', { ...FIRST, title: 'y' })).status, 409)
  rig.time.advance(1)
  t.is((await rig.post('/message', { ...FIRST, title: 'y' })).status, 200)
})

test('a password that does not match claims nothing and appends nothing', async (t) => {
  const rig = await startIngress(t)
  const answer = await rig.post('/message', { ...FIRST, password: 'wrong password' })
  t.is(answer.status, 404)
  t.is(rig.operations.claims.size, 0)
  t.is(rig.sink.accepted.length, 0)
})

test('without an op_id nothing is claimed', async (t) => {
  const rig = await startIngress(t)
  await rig.post('/message', { ...CREDENTIALS, title: 'x' })
  await rig.post('/message', { ...CREDENTIALS, title: 'x' })
  t.is(rig.operations.claims.size, 0)
  t.is(new Set(rig.sink.accepted.map(({ entityId }) => entityId)).size, 2)
})

test('submissions/3: a password that changes while the op_id is claimed sends nothing', async (t) => {
  const rig = await startIngress(t)
  const claim = rig.operations.claim.bind(rig.operations)
  rig.operations.claim = async (...asked) => {
    const claimed = await claim(...asked)
    await rig.post('/channel/password', { ...CREDENTIALS, new_password: 'another one' })
    return claimed
  }
  t.is((await rig.post('/message', FIRST)).status, 404)
  t.is(rig.sink.accepted.length, 0)
})
