import test from 'ava'

import { BATCH_BYTES_MAX, BATCH_SUBMISSIONS_MAX } from '#domain/lane'
import type { Appended, Batch } from '#domain/lane'
import { laneOf } from '#domain/identity'
import type { ChannelId } from '#domain/identity'
import type { LogWriter } from '#domain/ports'
import type { MessageSubmission, Submission } from '#domain/submission'
import { Acceptor } from '#src/stream/acceptor'
import type { AcceptorOptions } from '#src/stream/acceptor'
import { decodeBatch, encodeSubmission } from '#src/schemas/batch'
import { FakeBus } from '#test/support/fake-bus'
import { FakeMeter } from '#test/support/fake-telemetry'
import { FakeTime } from '#test/support/fake-timers'
import { channel, message, opId } from '#test/support/submissions'

const LANES = 4
const OPTIONS: AcceptorOptions = {
  rounds: { gapMs: 0, fullAt: 1 },
  lanes: LANES,
  laneBytesMax: 1_000_000,
  channelInFlightMax: 1000,
  unappliedMax: 1000,
}

/** A channel of each lane. */
const channels = Array.from({ length: 200 }, (_, number) => channel(number))
const inLane = (lane: number, nth = 0): ChannelId =>
  channels.filter((id) => laneOf(id, LANES) === lane)[nth] ?? channel(1)

interface Append {
  readonly batch: Batch
  readonly answer: (outcome: Appended) => void
  readonly fail: (error: Error) => void
}

/** A log whose appends wait until the test answers them. */
class HeldLog implements LogWriter {
  readonly appends: Append[] = []
  #position = 0

  append(batch: Batch): Promise<Appended> {
    return new Promise((answer, fail) => {
      this.appends.push({ batch, answer, fail })
    })
  }

  /** Answers the oldest append that waits; gives its position. */
  async appended(): Promise<number> {
    this.#position += 1
    this.appends.shift()?.answer({ kind: 'appended', position: this.#position })
    await settled()
    return this.#position
  }

  async refused(retryAfterMs: number): Promise<void> {
    this.appends.shift()?.answer({ kind: 'refused', reason: 'full', retryAfterMs })
    await settled()
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function bench(options: Partial<AcceptorOptions> = {}) {
  const log = new HeldLog()
  const bus = new FakeBus()
  const meter = new FakeMeter()
  const tasks: (() => void)[] = []
  const soon = (task: () => void): void => void tasks.push(task)
  const time = new FakeTime(1_000)
  const ports = { log, bus, meter, soon, timers: time, monotonicMs: time.nowMs }
  const acceptor = new Acceptor(ports, { ...OPTIONS, ...options })
  const flush = (): void => {
    for (const task of tasks.splice(0)) task()
  }
  const answers: string[] = []
  /** Accepts and notes the answer under the op_id, once there is one. */
  const accept = (submission: Submission): Submission => {
    void acceptor.accept(submission).then((answer) => {
      const text = answer.kind === 'accepted' ? 'accepted' : `${answer.code} ${answer.retryAfterMs}`
      answers.push(`${submission.opId}: ${text}`)
    })
    return submission
  }
  return { acceptor, log, bus, meter, flush, answers, accept, tasks }
}

const BUSY = 'submission_not_accepted 1000'
const inBatch = ({ batch }: Append): readonly string[] =>
  decodeBatch(batch.payload).map((one) => (one.model === 'unreadable' ? '?' : one.opId))

/** A message whose part of a batch takes so many characters. */
function messageOf(length: number, id: string, channelId = inLane(0)): MessageSubmission {
  const make = (title: string): MessageSubmission =>
    message({ opId: id, channelId, fields: { title } })
  const room = length - encodeSubmission(make('')).length
  return make('x'.repeat(room))
}

test('W1: accepted leaves only after the log has answered that it holds the batch', async (t) => {
  const { accept, answers, flush, log } = bench()
  accept(message({ opId: 'a' }))
  await settled()
  t.deepEqual(answers, [])
  flush()
  await settled()
  t.is(log.appends.length, 1)
  t.deepEqual(answers, [])
  await log.appended()
  t.deepEqual(answers, ['a: accepted'])
})

test('W1: what the log refuses is not accepted, and says when to come back', async (t) => {
  const { accept, answers, flush, log, acceptor } = bench()
  const submission = accept(message({ opId: 'a' }))
  flush()
  await log.refused(2500)
  t.deepEqual(answers, ['a: submission_not_accepted 2500'])
  t.is(acceptor.find(submission.opId), undefined)
})

test('W1: what the log does not answer for is not accepted, and the lane goes on', async (t) => {
  const { accept, answers, flush, log, acceptor } = bench()
  accept(message({ opId: 'a', channelId: inLane(0) }))
  flush()
  accept(message({ opId: 'b', channelId: inLane(0) }))
  flush()
  log.appends.shift()?.fail(new Error('the other thread is gone'))
  await settled()
  t.deepEqual(answers, [`a: ${BUSY}`])
  await log.appended()
  t.deepEqual(answers, [`a: ${BUSY}`, 'b: accepted'])
  await acceptor.drain()
})

test('what comes together is appended together, once what is at hand has been read', (t) => {
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

test('S1: a batch waits for the one under way, and keeps the order of acceptance', async (t) => {
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

test('S1: after a refusal the lane goes on with what waits', async (t) => {
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

test('S1: what waits for the end of a round is not sent before it', async (t) => {
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

// Method: what waits behind an append that is under way, and how many submissions go at once.
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
  test(`S1: only a full batch goes while another is under way: ${name}`, async (t) => {
    const { accept, flush, log, acceptor, answers } = bench()
    accept(message({ opId: 'first', channelId: inLane(0) }))
    flush()
    lengths.forEach((length, index) => accept(messageOf(length, `op-${index}`)))
    flush()
    const [, ...full] = log.appends.map(({ batch }) => batch.count)
    t.deepEqual(full, [...counts])
    const sent: string[] = []
    while (log.appends.length > 0) {
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

test('a batch holds so many submissions and not one more', async (t) => {
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

// Method: the lengths of what waits, and how it is cut into batches.
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
    while (log.appends[0] !== undefined) {
      found.push(log.appends[0].batch.count)
      await log.appended()
    }
    t.deepEqual(found, [...counts])
  })
}

test('S2: what waits is counted in bytes and not in characters', async (t) => {
  const { accept, meter } = bench()
  const submission = message({ fields: { title: 'ü'.repeat(200) } })
  accept(submission)
  await settled()
  const bytes = JSON.stringify(submission).length + 200
  t.is(meter.gauges.get('lane_in_flight_bytes')?.(), bytes)
})

test('S2: bytes waiting in a lane are bounded', async (t) => {
  const { accept, answers, flush, log, meter } = bench({ laneBytesMax: 1000 })
  accept(messageOf(500, 'a'))
  accept(messageOf(499, 'b'))
  await settled()
  t.is(meter.gauges.get('lane_in_flight_bytes')?.(), 999)
  // One byte is free, so one more may come; then none.
  accept(messageOf(300, 'c'))
  accept(messageOf(300, 'd'))
  await settled()
  t.deepEqual(answers, [`d: ${BUSY}`])

  // What is under way still counts; what is answered does not.
  flush()
  accept(messageOf(300, 'e'))
  await settled()
  t.deepEqual(answers.slice(1), [`e: ${BUSY}`])
  await log.appended()
  t.is(meter.gauges.get('lane_in_flight_bytes')?.(), 0)
  accept(messageOf(300, 'f'))
  flush()
  await log.appended()
  t.is(answers.at(-1), 'f: accepted')
})

test('S2: at the limit itself a lane is full', async (t) => {
  const { accept, answers } = bench({ laneBytesMax: 1000 })
  accept(messageOf(1000, 'a'))
  accept(message({ opId: 'b', channelId: inLane(0) }))
  accept(message({ opId: 'c', channelId: inLane(1) }))
  await settled()
  t.deepEqual(answers, [`b: ${BUSY}`])
})

test('W8: one channel in flight is bounded, and no other channel notices', async (t) => {
  const { accept, answers, flush, log } = bench({ channelInFlightMax: 2 })
  const [greedy, modest] = [inLane(0, 0), inLane(0, 1)]
  accept(message({ opId: 'a', channelId: greedy }))
  accept(message({ opId: 'b', channelId: greedy }))
  accept(message({ opId: 'c', channelId: greedy }))
  accept(message({ opId: 'd', channelId: modest }))
  await settled()
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

test('W8: a refused append gives its places back', async (t) => {
  const { accept, answers, flush, log } = bench({ channelInFlightMax: 1 })
  accept(message({ opId: 'a' }))
  flush()
  await log.refused(1000)
  accept(message({ opId: 'b' }))
  flush()
  await log.appended()
  t.deepEqual(answers, [`a: ${BUSY}`, 'b: accepted'])
})

test('S2: submissions not known to be applied are bounded', async (t) => {
  const { accept, answers, flush, log, bus, meter } = bench({ unappliedMax: 2 })
  accept(message({ opId: 'a', channelId: inLane(0) }))
  accept(message({ opId: 'b', channelId: inLane(0) }))
  flush()
  const position = await log.appended()
  t.is(meter.gauges.get('unapplied_submissions')?.(), 2)
  accept(message({ opId: 'c', channelId: inLane(1) }))
  await settled()
  t.is(answers.at(-1), `c: ${BUSY}`)

  bus.notify({ kind: 'applied', lane: 0, position })
  t.is(meter.gauges.get('unapplied_submissions')?.(), 0)
  accept(message({ opId: 'd', channelId: inLane(1) }))
  flush()
  await log.appended()
  t.is(answers.at(-1), 'd: accepted')
})

test('S3: from the answer until it is known to be applied an operation is found', async (t) => {
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

test('S3: an operation is found at the very moment of its answer', async (t) => {
  const { acceptor, flush, log } = bench()
  const submission = message({ opId: 'a' })
  const answered = acceptor.accept(submission).then(() => acceptor.find(submission.opId)?.status)
  flush()
  await log.appended()
  t.is(await answered, 'accepted')
})

test('S3: an applied notice that comes before the answer of the append is remembered', async (t) => {
  const { accept, flush, log, bus, acceptor, meter, answers } = bench()
  const submission = accept(message({ opId: 'a', channelId: inLane(2) }))
  flush()
  bus.notify({ kind: 'applied', lane: 2, position: 1 })
  await log.appended()
  t.deepEqual(answers, ['a: accepted'])
  t.is(acceptor.find(submission.opId), undefined)
  t.is(meter.gauges.get('unapplied_submissions')?.(), 0)
})

test('S3: a notice ends everything up to it and nothing behind', async (t) => {
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

test('draining waits for what waits and for what is under way', async (t) => {
  const { acceptor, accept, flush, log } = bench()
  await acceptor.drain()
  accept(message({ channelId: inLane(0) }))
  let isDrained = false
  const drained = acceptor.drain().then(() => {
    isDrained = true
  })
  await settled()
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
