import test from 'ava'

import { BATCH_BYTES_MAX, BATCH_SUBMISSIONS_MAX } from '#domain/lane'
import { message, thing } from '#test/support/submissions'
import { inLane, bench, BUSY, inBatch, messageOf } from '#test/support/acceptor-bench'
import { rounds, turn } from '#test/support/until'

test('W1: the acceptor accepts a submission only after the log has confirmed its batch', async (t) => {
  const { accept, answers, flush, log } = bench()
  accept(message({ opId: 'a' }))
  await turn()
  t.deepEqual(answers, [])
  flush()
  await turn()
  t.is(log.appends.length, 1)
  t.deepEqual(answers, [])
  await log.appended()
  t.deepEqual(answers, ['a: accepted'])
})

test('W1: the acceptor refuses a submission that the log refuses, and says when to retry', async (t) => {
  const { accept, answers, flush, log, acceptor } = bench()
  const submission = accept(message({ opId: 'a' }))
  flush()
  await log.refused(2500)
  t.deepEqual(answers, ['a: submission_not_accepted 2500'])
  t.is(acceptor.find(submission.opId), undefined)
})

test('W1: a submission without an answer of the log has an unknown outcome, and the lane goes on', async (t) => {
  const { accept, answers, flush, log, acceptor } = bench()
  accept(message({ opId: 'a', channelId: inLane(0) }))
  flush()
  accept(message({ opId: 'b', channelId: inLane(0) }))
  flush()
  log.appends.shift()?.fail(new Error('the other thread is gone'))
  await turn()
  t.deepEqual(answers, ['a: submission_outcome_unknown 1000'])
  await log.appended()
  t.deepEqual(answers, ['a: submission_outcome_unknown 1000', 'b: accepted'])
  await acceptor.drain()
})

for (const [name, submission, retryable] of [
  ["a Message with its sender's op_id", message({ claims: true }), true],
  ["a Message without its sender's op_id", message({ claims: false }), false],
  ['a Thing', thing('update', 'lamp'), false],
] as const) {
  test(`an unknown outcome of ${name} is ${retryable ? '' : 'not '}retryable`, async (t) => {
    const { acceptor, flush, log } = bench()
    const answer = acceptor.accept(submission)
    flush()
    log.appends.shift()?.answer({ kind: 'unknown', retryAfterMs: 500 })
    t.like(await answer, { code: 'submission_outcome_unknown', retryable, retryAfterMs: 500 })
    t.is(acceptor.find(submission.opId), undefined)
  })
}

test('acceptor/1: a lane appends submissions that waited too long behind an unanswered append', async (t) => {
  const { accept, flush, log, time } = bench()
  accept(message({ opId: 'a' }))
  flush()
  accept(message({ opId: 'b' }))
  flush()
  time.advance(999)
  t.deepEqual(log.appends.map(inBatch), [['a']])
  time.advance(1)
  t.deepEqual(log.appends.map(inBatch), [['a'], ['b']])
  await log.appended()
  await log.appended()
})

test('a lane appends the submissions at hand together', (t) => {
  const { accept, flush, log, tasks } = bench()
  for (const id of ['a', 'b', 'c']) accept(message({ opId: id, channelId: inLane(0) }))
  accept(message({ opId: 'd', channelId: inLane(1) }))
  t.is(tasks.length, 1)
  t.is(log.appends.length, 0)
  flush()
  t.deepEqual(log.appends.map(inBatch), [['a', 'b', 'c'], ['d']])
  t.deepEqual(
    log.appends.map(({ batch }) => [batch.lane, batch.count]),
    [
      [0, 3],
      [1, 1],
    ],
  )
})

test('acceptor/1: a batch waits for the one in flight, and keeps the order of acceptance', async (t) => {
  const { accept, flush, log } = bench()
  accept(message({ opId: 'a', channelId: inLane(0, 0) }))
  flush()
  accept(message({ opId: 'b', channelId: inLane(0, 1) }))
  flush()
  accept(message({ opId: 'c', channelId: inLane(0, 0) }))
  flush()
  t.deepEqual(log.appends.map(inBatch), [['a']])
  await log.appended()
  t.deepEqual(log.appends.map(inBatch), [['b', 'c']])
})

test('acceptor/1: after a refusal the lane goes on with waiting submissions', async (t) => {
  const { accept, flush, log, answers } = bench()
  accept(message({ opId: 'a' }))
  flush()
  accept(message({ opId: 'b' }))
  flush()
  await log.refused(1000)
  t.deepEqual(log.appends.map(inBatch), [['b']])
  await log.appended()
  t.deepEqual(answers, [`a: ${BUSY}`, 'b: accepted'])
})

test('acceptor/1: a lane does not append the submissions of a round before its end', async (t) => {
  const { accept, flush, log } = bench()
  accept(message({ opId: 'a' }))
  flush()
  accept(message({ opId: 'b' }))
  await log.appended()
  t.deepEqual(log.appends.map(inBatch), [])
  accept(message({ opId: 'c' }))
  flush()
  t.deepEqual(log.appends.map(inBatch), [['b', 'c']])
})

// Method: each row has the lengths of submissions that wait behind an append in flight, and the
// counts of the batches that the lane appends meanwhile.
const eighth = BATCH_BYTES_MAX / 8

for (const [name, lengths, counts] of [
  ['one less than a batch holds', Array<number>(BATCH_SUBMISSIONS_MAX - 1).fill(200), []],
  ['as many as a batch holds', Array<number>(BATCH_SUBMISSIONS_MAX).fill(200), [256]],
  ['more than a batch holds', Array<number>(BATCH_SUBMISSIONS_MAX + 1).fill(200), [256]],
  [
    'twice as many as a batch holds',
    Array<number>(2 * BATCH_SUBMISSIONS_MAX).fill(200),
    [256, 256],
  ],
  ['as many bytes as a batch holds', Array<number>(8).fill(eighth), []],
  ['more bytes than a batch holds', Array<number>(9).fill(eighth), [8]],
] as const) {
  test(`acceptor/1: a lane appends only a full batch while another is in flight: ${name}`, async (t) => {
    const { accept, flush, log, acceptor, answers } = bench()
    accept(message({ opId: 'first', channelId: inLane(0) }))
    flush()
    lengths.forEach((length, index) => accept(messageOf(length, `op-${index}`)))
    flush()
    const [, ...full] = log.appends.map(({ batch }) => batch.count)
    t.deepEqual(full, [...counts])
    const sent: string[] = []
    for (const goOn = rounds(20); log.appends.length > 0 && goOn();) {
      sent.push(...log.appends.slice(0, 1).flatMap(inBatch))
      await log.appended()
    }
    t.deepEqual(sent, ['first', ...lengths.map((_, index) => `op-${index}`)])
    t.is(answers.length, sent.length)
    await acceptor.drain()
  })
}

test('lanes do not wait for each other', (t) => {
  const { accept, flush, log } = bench()
  accept(message({ opId: 'a', channelId: inLane(0) }))
  flush()
  accept(message({ opId: 'b', channelId: inLane(1) }))
  flush()
  t.is(log.appends.length, 2)
})

test('a batch has at most BATCH_SUBMISSIONS_MAX submissions', async (t) => {
  const { accept, flush, log } = bench()
  for (let count = 0; count <= BATCH_SUBMISSIONS_MAX; count += 1) accept(message())
  flush()
  t.deepEqual(
    log.appends.map(({ batch }) => batch.count),
    [BATCH_SUBMISSIONS_MAX],
  )
  await log.appended()
  t.deepEqual(
    log.appends.map(({ batch }) => batch.count),
    [1],
  )
})

// Method: each row has the lengths of waiting submissions, and the counts of the resulting batches.
const half = BATCH_BYTES_MAX / 2

for (const [lengths, counts] of [
  [[half, half], [2]],
  [
    [half, half + 1],
    [1, 1],
  ],
  [
    [half, half, 300],
    [2, 1],
  ],
  [
    [BATCH_BYTES_MAX + 1, 300],
    [1, 1],
  ],
] as const) {
  test(`submissions of ${lengths.join(', ')} make batches of ${counts.join(', ')}`, async (t) => {
    const { accept, flush, log } = bench()
    for (const [index, length] of lengths.entries()) accept(messageOf(length, `m${index}`))
    flush()
    const found: number[] = []
    for (const goOn = rounds(20); log.appends[0] !== undefined && goOn();) {
      found.push(log.appends[0].batch.count)
      await log.appended()
    }
    t.deepEqual(found, [...counts])
  })
}

test('drain waits for waiting submissions and for appends in flight', async (t) => {
  const { acceptor, accept, flush, log } = bench()
  await acceptor.drain()
  accept(message({ channelId: inLane(0) }))
  let isDrained = false
  const drained = acceptor.drain().then(() => {
    isDrained = true
  })
  await turn()
  t.false(isDrained)
  flush()
  accept(message({ channelId: inLane(0) }))
  accept(message({ channelId: inLane(1) }))
  flush()
  await log.appended()
  await log.appended()
  t.false(isDrained)
  await log.appended()
  await drained
  t.true(isDrained)
})
