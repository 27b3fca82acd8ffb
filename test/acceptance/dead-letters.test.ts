// Goal: an operator sees what was set aside and tries it again, with one effect at most.

import test from 'ava'

import { fault, isFault } from '#domain/fault'
import { encodeSubmission } from '#src/schemas/batch'
import { acceptanceRig } from '#test/support/acceptance-rig'
import { message, thing } from '#test/support/submissions'

const LATER = { receivedAtMs: 9_000 }

async function rigWith(...payloads: readonly string[]) {
  const rig = await acceptanceRig()
  rig.deadLetters.kept = payloads.map((payload, index) => ({
    id: index + 1,
    lane: 0,
    payload,
    error: 'Error: no',
    at: 1,
  }))
  const retry = (id: number, caller = LATER) =>
    rig.acceptance.deadLetters.retry({ dead_letter_id: id }, caller)
  return { ...rig, retry }
}

test('a retry hands the submission to its lane anew, and the dead letter goes', async (t) => {
  const update = thing('update', 'lamp', { at: 4, acceptedAt: 5, attrs: { on: true } })
  const { sink, deadLetters, retry } = await rigWith(encodeSubmission(update))
  const retried = await retry(1)
  const [again] = sink.accepted
  t.like(again, { model: 'thing', entityId: 'lamp', acceptedAt: 9_000, patch: { at: 4 } })
  t.not(again?.opId, update.opId)
  t.deepEqual(retried, { opId: again?.opId })
  t.deepEqual(deadLetters.kept, [])
  t.like(await retry(1), { code: 'dead_letter_not_found' })
})

test('dead-letters/1: retries of one dead letter share an op_id and say that they may repeat', async (t) => {
  const claimed = message({ opId: 'mine', claims: true })
  const { sink, deadLetters, retry } = await rigWith(encodeSubmission(claimed))
  const { kept } = deadLetters
  await retry(1)
  deadLetters.kept = kept // As after a kill between the log and the removal.
  await retry(1)
  const [first, second] = sink.accepted
  t.is(first?.opId, second?.opId)
  t.like(first, { mayRepeat: true, claimed: false, entityId: claimed.entityId })
})

test('what the log refuses stays a dead letter', async (t) => {
  const { sink, deadLetters, retry } = await rigWith(encodeSubmission(message()))
  sink.answer = () => fault('submission_not_accepted')
  t.true(isFault(await retry(1)))
  t.is(deadLetters.kept.length, 1)
})

test('a dead letter that nobody can read is refused, and stays', async (t) => {
  const { sink, deadLetters, retry } = await rigWith('{"a":')
  t.like(await retry(1), { code: 'dead_letter_unreadable' })
  t.deepEqual([sink.accepted.length, deadLetters.kept.length], [0, 1])
})

test('a gateway that drains tries nothing again', async (t) => {
  const { sink, retry } = await rigWith(encodeSubmission(message()))
  const refusal = fault('server_busy')
  t.is(await retry(1, { ...LATER, refusal } as typeof LATER), refusal)
  t.deepEqual(sink.accepted, [])
})
