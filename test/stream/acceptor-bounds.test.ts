import test from 'ava'

import { laneOf } from '#domain/identity'
import { message, opId } from '#test/support/submissions'
import { LANES, inLane, bench, BUSY, inBatch, messageOf } from '#test/support/acceptor-bench'
import { turn } from '#test/support/until'

test('acceptor/2: a lane counts bytes of submissions, not characters', async (t) => {
  const { accept, meter } = bench()
  const submission = message({ fields: { title: 'ü'.repeat(200) } })
  accept(submission)
  await turn()
  const bytes = JSON.stringify(submission).length + 200
  t.is(meter.gauges.get('lane_in_flight_bytes')?.(), bytes)
})

test('acceptor/2: the acceptor bounds the bytes that wait in a lane', async (t) => {
  const { accept, answers, flush, log, meter } = bench({ laneBytesMax: 1000 })
  accept(messageOf(499, 'a'))
  accept(messageOf(500, 'b', inLane(0, 1)))
  await turn()
  t.is(meter.gauges.get('lane_in_flight_bytes')?.(), 999)
  // One byte is free, so the lane takes one more submission, and then none.
  accept(messageOf(300, 'c'))
  accept(messageOf(300, 'd'))
  await turn()
  t.deepEqual(answers, [`d: ${BUSY}`])

  // A batch in flight still counts; an answered one does not.
  flush()
  accept(messageOf(300, 'e'))
  await turn()
  t.deepEqual(answers.slice(1), [`e: ${BUSY}`])
  await log.appended()
  t.is(meter.gauges.get('lane_in_flight_bytes')?.(), 0)
  accept(messageOf(300, 'f'))
  flush()
  await log.appended()
  t.is(answers.at(-1), 'f: accepted')
})

test('acceptor/2: a lane that has reached its byte bound is full', async (t) => {
  const { accept, answers } = bench({ laneBytesMax: 1000 })
  accept(messageOf(1000, 'a'))
  accept(message({ opId: 'b', channelId: inLane(0) }))
  accept(message({ opId: 'c', channelId: inLane(1) }))
  await turn()
  t.deepEqual(answers, [`b: ${BUSY}`])
})

test('W8: the acceptor bounds one channel in flight, and still accepts the other channels', async (t) => {
  const { accept, answers, flush, log, time } = bench({ channelInFlightMax: 2 })
  const [greedy, modest] = [inLane(0, 0), inLane(0, 1)]
  accept(message({ opId: 'a', channelId: greedy }))
  accept(message({ opId: 'b', channelId: greedy }))
  accept(message({ opId: 'c', channelId: greedy }))
  accept(message({ opId: 'd', channelId: modest }))
  time.advance(250) // late-refusals/1
  await turn()
  t.deepEqual(answers, [`c: ${BUSY}`])

  flush()
  await log.appended()
  accept(message({ opId: 'e', channelId: greedy }))
  flush()
  await log.appended()
  t.deepEqual(
    answers.toSorted(),
    ['a: accepted', 'b: accepted', `c: ${BUSY}`].concat(['d: accepted', 'e: accepted']),
  )
})

test('W8: submissions of a refused append are no longer in flight', async (t) => {
  const { accept, answers, flush, log } = bench({ channelInFlightMax: 1 })
  accept(message({ opId: 'a' }))
  flush()
  await log.refused(1000)
  accept(message({ opId: 'b' }))
  flush()
  await log.appended()
  t.deepEqual(answers, [`a: ${BUSY}`, 'b: accepted'])
})

test('W8: a channel beyond its share waits until earlier ones are applied, and others go on', async (t) => {
  const { accept, answers, flush, log, bus, meter } = bench({
    channelShare: { shareMax: 1, aloneMax: 1, unknownMax: 1 },
  })
  const [greedy, modest] = [inLane(0, 0), inLane(0, 1)]
  for (const id of ['a', 'b', 'c']) accept(message({ opId: id, channelId: greedy }))
  accept(message({ opId: 'd', channelId: modest }))
  flush()
  t.deepEqual(log.appends.map(inBatch), [['a', 'd']])
  t.is(meter.gauges.get('channel_waiting_submissions')?.(), 2)
  const position = await log.appended()
  t.deepEqual(answers, ['a: accepted', 'd: accepted'])
  flush()
  t.is(log.appends.length, 0)

  bus.notify({ kind: 'applied', lane: 0, position })
  flush()
  t.deepEqual(log.appends.map(inBatch), [['b']])
  await log.refused(1000)
  flush()
  t.deepEqual(log.appends.map(inBatch), [['c']])
  bus.notify({ kind: 'applied', lane: 0, position: position + 1 })
  await log.appended()
  t.deepEqual(answers.slice(2), [`b: ${BUSY}`, 'c: accepted'])
  t.is(meter.gauges.get('channel_waiting_submissions')?.(), 0)
})

test('W8: a notice that comes before the answer to an append frees the share too', async (t) => {
  const { accept, answers, flush, log, bus, acceptor } = bench({
    channelShare: { shareMax: 1, aloneMax: 1, unknownMax: 1 },
  })
  for (const id of ['a', 'b']) accept(message({ opId: id, channelId: inLane(0) }))
  flush()
  bus.notify({ kind: 'applied', lane: 0, position: 1 })
  const drained = acceptor.drain()
  await log.appended()
  flush()
  await log.appended()
  await drained
  t.deepEqual(answers, ['a: accepted', 'b: accepted'])
})

test('acceptor/2: one channel takes half of the bytes of its lane at most', async (t) => {
  const { accept, answers, time } = bench({ laneBytesMax: 2000 })
  accept(messageOf(1000, 'a', inLane(0, 0)))
  accept(messageOf(300, 'b', inLane(0, 0)))
  accept(messageOf(300, 'c', inLane(0, 1)))
  time.advance(250)
  await turn()
  t.deepEqual(answers, [`b: ${BUSY}`])
})

test('acceptor/2: the acceptor bounds the bytes that it does not know to be applied', async (t) => {
  const { accept, answers, flush, log, bus, meter } = bench({ unappliedBytesMax: 500 })
  accept(message({ opId: 'a', channelId: inLane(0) }))
  accept(message({ opId: 'b', channelId: inLane(0) }))
  flush()
  const position = await log.appended()
  t.is(meter.gauges.get('unapplied_submissions')?.(), 2)
  t.true((meter.gauges.get('unapplied_bytes')?.() ?? 0) >= 500)
  accept(message({ opId: 'c', channelId: inLane(1) }))
  await turn()
  t.is(answers.at(-1), `c: ${BUSY}`)

  bus.notify({ kind: 'applied', lane: 0, position })
  t.is(meter.gauges.get('unapplied_submissions')?.(), 0)
  t.is(meter.gauges.get('unapplied_bytes')?.(), 0)
  accept(message({ opId: 'd', channelId: inLane(1) }))
  flush()
  await log.appended()
  t.is(answers.at(-1), 'd: accepted')
})

test('acceptor/3: the acceptor finds an operation from its answer until the applied notice', async (t) => {
  const { accept, flush, log, bus, acceptor, answers } = bench()
  const submission = accept(message({ opId: 'a', acceptedAt: 77 }))
  const lane = laneOf(submission.channelId, LANES)
  flush()
  t.is(acceptor.find(submission.opId), undefined)
  const position = await log.appended()
  t.deepEqual(answers, ['a: accepted'])
  t.deepEqual(acceptor.find(submission.opId), {
    opId: submission.opId,
    channelId: submission.channelId,
    model: 'message',
    entityId: submission.entityId,
    status: 'accepted',
    acceptedAt: 77,
    updatedAt: 77,
  })

  bus.notify({ kind: 'applied', lane: (lane + 1) % LANES, position })
  bus.notify({ kind: 'applied', lane, position: position - 1 })
  t.not(acceptor.find(submission.opId), undefined)
  bus.notify({ kind: 'applied', lane, position })
  t.is(acceptor.find(submission.opId), undefined)
})

test('acceptor/3: a caller that has its answer finds the operation at once', async (t) => {
  const { acceptor, flush, log } = bench()
  const submission = message({ opId: 'a' })
  const answered = acceptor.accept(submission).then(() => acceptor.find(submission.opId)?.status)
  flush()
  await log.appended()
  t.is(await answered, 'accepted')
})

test('acceptor/3: an applied notice counts even before the answer to the append', async (t) => {
  const { accept, flush, log, bus, acceptor, meter, answers } = bench()
  const submission = accept(message({ opId: 'a', channelId: inLane(2) }))
  flush()
  bus.notify({ kind: 'applied', lane: 2, position: 1 })
  await log.appended()
  t.deepEqual(answers, ['a: accepted'])
  t.is(acceptor.find(submission.opId), undefined)
  t.is(meter.gauges.get('unapplied_submissions')?.(), 0)
})

test('acceptor/3: an applied notice ends the operations up to its position and none behind', async (t) => {
  const { accept, flush, log, bus, acceptor, meter } = bench()
  for (const id of ['a', 'b', 'c']) {
    accept(message({ opId: id, channelId: inLane(0) }))
    flush()
    await log.appended()
  }
  bus.notify({ kind: 'applied', lane: 0, position: 2 })
  t.deepEqual(
    ['a', 'b', 'c'].map((id) => acceptor.find(opId(id))?.status),
    [undefined, undefined, 'accepted'],
  )
  bus.notify({ kind: 'applied', lane: 0, position: 1 })
  bus.notify({ kind: 'applied', lane: 99, position: 3 })
  t.is(meter.gauges.get('unapplied_submissions')?.(), 1)
  bus.notify({ kind: 'applied', lane: 0, position: 3 })
  t.is(meter.gauges.get('unapplied_submissions')?.(), 0)
})

test('acceptor/3: a caller can wait for unapplied submissions within a bound', async (t) => {
  const { accept, flush, log, bus, acceptor, time } = bench()
  await acceptor.applied(5_000)
  for (const id of ['a', 'b']) {
    accept(message({ opId: id, channelId: inLane(0) }))
    flush()
    await log.appended()
  }
  const ends: string[] = []
  void acceptor.applied(5_000).then(() => ends.push('short'))
  void acceptor.applied(9_000).then(() => ends.push('long'))
  bus.notify({ kind: 'applied', lane: 0, position: 1 })
  time.advance(4_999)
  await turn()
  t.deepEqual(ends, [])
  time.advance(1)
  await turn()
  t.deepEqual(ends, ['short'])
  bus.notify({ kind: 'applied', lane: 0, position: 2 })
  await turn()
  t.deepEqual(ends, ['short', 'long'])
  t.is(time.waiting, 0)
})
