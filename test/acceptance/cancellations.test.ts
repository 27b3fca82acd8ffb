// Goal: a cancellation is answered by what the log decided.

import test from 'ava'

import { isFault } from '#domain/fault'
import type { OperationStatus } from '#domain/operation'
import { acceptanceRig } from '#test/support/acceptance-rig'
import { CREDENTIALS, NOW_MS } from '#test/support/making'
import { acceptedOperation, message } from '#test/support/submissions'

const CALLER = { receivedAtMs: NOW_MS }

/** A rig with one operation; the log decides a cancellation by giving it another status. */
async function rigWith(status: OperationStatus | undefined, decided = status) {
  const rig = await acceptanceRig()
  const { channelId, sink, operations } = rig
  const sent = message({ channelId, acceptedAt: NOW_MS, deliverAt: NOW_MS + 60_000 })
  const keep = (is: OperationStatus | undefined): void => {
    if (is !== undefined) operations.rows.set(sent.opId, { ...acceptedOperation(sent), status: is })
  }
  keep(status)
  sink.answer = () => {
    keep(decided)
    return { kind: 'accepted' }
  }
  const cancel = async (more: object = {}, caller = CALLER): Promise<string> => {
    const body = { ...CREDENTIALS, op_id: sent.opId, ...more }
    const outcome = await rig.acceptance.cancellations.cancel(body, caller)
    return isFault(outcome) ? outcome.code : outcome.status
  }
  return { ...rig, sent, cancel }
}

const ROWS: readonly (readonly [
  OperationStatus | undefined,
  OperationStatus | undefined,
  string,
  number,
])[] = [
  ['scheduled', 'cancelled', 'cancelled', 1],
  ['accepted', 'cancelled', 'cancelled', 1],
  ['scheduled', 'sent', 'message_already_sent', 1],
  ['scheduled', 'provider_queued', 'message_already_sent', 1],
  ['processing', 'processing', 'server_busy', 1],
  ['cancelled', undefined, 'cancelled', 0],
  ['sent', undefined, 'message_already_sent', 0],
  ['failed', undefined, 'message_already_sent', 0],
  [undefined, undefined, 'send_status_not_found', 0],
]
for (const [before, decided, answer, appended] of ROWS) {
  test(`a Message that is ${before ?? 'unknown'} and then ${decided ?? 'so'}: ${answer}`, async (t) => {
    const { sink, sent, cancel } = await rigWith(before, decided)
    t.is(await cancel(), answer)
    t.is(sink.accepted.length, appended)
    const { opId: cancels, entityId } = sent
    if (appended > 0) t.like(sink.accepted[0], { model: 'cancellation', cancels, entityId })
  })
}

test('the answer waits until the cancellation is applied', async (t) => {
  const { sink, operations, time, sent, cancel } = await rigWith('scheduled')
  const accept = sink.accept.bind(sink)
  sink.accept = async (submission) => {
    sink.operations.set(submission.opId, acceptedOperation(submission))
    return accept(submission)
  }
  const cancelling = cancel()
  for (let look = 0; look < 5; look += 1) {
    await new Promise(setImmediate)
    time.advance(100)
  }
  operations.rows.set(sent.opId, { ...acceptedOperation(sent), status: 'cancelled' })
  sink.operations.clear()
  await new Promise(setImmediate)
  time.advance(100)
  t.is(await cancelling, 'cancelled')
})

test('a bad request, another channel and a draining gateway cancel nothing', async (t) => {
  const { sink, sent, operations, cancel } = await rigWith('scheduled')
  t.is(await cancel({ op_id: 'a b' }), 'validation_failed')
  t.is(await cancel({ password: 'not the one' }), 'channel_not_found')
  operations.rows.set(sent.opId, { ...acceptedOperation(message()), status: 'scheduled' })
  t.is(await cancel(), 'send_status_not_found')
  t.deepEqual(sink.accepted, [])
})
