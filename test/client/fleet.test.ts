// Method: a fetch whose answers the test gives one by one; time moves only when the test moves it.

import test from 'ava'
import type { ExecutionContext } from 'ava'

import { createFleetSender } from '#src/client/fleet'
import type { FleetOptions, FleetOutcome } from '#src/client/fleet'
import type { FleetSubmission } from '#src/client/fleet-submission'
import { WEB } from '#src/client/runtime'
import { fakeFetch, refusal, success } from '#test/support/fake-fetch'
import { FakeTime } from '#test/support/fake-timers'
import { turn, until } from '#test/support/until'

interface Request {
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  readonly answer: (response: Response | Error) => Promise<void>
}

function rig(options: Partial<FleetOptions<string>> = {}) {
  const requests: Request[] = []
  const outcomes: FleetOutcome<string>[] = []
  const delays: number[] = []
  const reported: unknown[] = []
  const time = new FakeTime(0)
  const sender = createFleetSender<string>({
    baseUrl: 'http://gateway',
    runtime: {
      ...WEB,
      random: (below) => Math.floor(below / 2),
      report: (error) => void reported.push(error),
      after: (delayMs, callback) => {
        delays.push(delayMs)
        return time.after(delayMs, callback)
      },
    },
    fetch: fakeFetch(({ path, body }) => {
      const { promise, resolve, reject } = Promise.withResolvers<Response>()
      const answer = async (response: Response | Error): Promise<void> => {
        if (response instanceof Error) reject(response)
        else resolve(response)
        await settled()
      }
      requests.push({ path, body, answer })
      return promise
    }),
    onOutcome: (outcome) => void outcomes.push(outcome),
    ...options,
  })
  const said = (): readonly string[] =>
    outcomes.map(({ kind, submission }) => `${submission.tag ?? ''} ${kind}`)
  const tagsUnderWay = (): readonly unknown[] => requests.map(({ body }) => body['title'])
  return { sender, requests, outcomes, delays, time, said, tagsUnderWay, reported }
}

/** Everything that can happen without an answer or a timer has happened. */
const settled = async (): Promise<void> => {
  for (let turns = 0; turns < 5; turns += 1) await turn()
}

const CHANNEL = { channel_id: 'A', password: 'p' }

const reading = (thing_id: string, tag: string): FleetSubmission<string> => ({
  tag,
  model: 'thing',
  action: 'update',
  body: { ...CHANNEL, thing_id, observed_at: 1, title: tag },
})

const message = (tag: string, more: object = {}): FleetSubmission<string> => ({
  tag,
  model: 'message',
  action: 'send',
  body: { ...CHANNEL, title: tag, ...more },
})

async function sendAll(
  { sender }: ReturnType<typeof rig>,
  submissions: readonly FleetSubmission<string>[],
): Promise<void> {
  for (const submission of submissions) await sender.send(submission)
  await settled()
}

const OK = (): Response => success({ op_id: 'o', thing_id: 't' })
const busy = (code = 'server_busy', seconds = '2'): Response =>
  refusal(503, code, { retryable: true, headers: { 'retry-after': seconds } })
const UNKNOWN = (): Response => refusal(503, 'submission_outcome_unknown')
const refusedConnection = (): Error =>
  new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })

test('every action goes to its route, and its outcome has the ids and the tag', async (t) => {
  const at = { ...CHANNEL, observed_at: 1 }
  const when = { ...CHANNEL, event_time: 1 }
  const rows: readonly (readonly [FleetSubmission<string>, string])[] = [
    [message('m'), '/message'],
    [{ model: 'event', action: 'create', body: when }, '/event/create'],
    [{ model: 'event', action: 'update', body: { ...when, event_id: 'e' } }, '/event/update'],
    [{ model: 'event', action: 'close', body: { ...when, event_id: 'f' } }, '/event/close'],
    [{ model: 'thing', action: 'create', body: at }, '/thing/create'],
    [{ model: 'thing', action: 'update', body: { ...at, thing_id: 'a' } }, '/thing/update'],
    [{ model: 'thing', action: 'archive', body: { ...at, thing_id: 'b' } }, '/thing/archive'],
    [{ model: 'thing', action: 'delete', body: { ...at, thing_id: 'c' } }, '/thing/delete'],
  ]
  const fleet = rig()
  await sendAll(
    fleet,
    rows.map(([submission]) => submission),
  )
  t.deepEqual(
    fleet.requests.map(({ path }) => path),
    rows.map(([, path]) => path),
  )
  for (const { answer } of fleet.requests) await answer(OK())
  await fleet.sender.flush()
  t.deepEqual(fleet.said()[0], 'm accepted')
  t.like(fleet.outcomes[1], { kind: 'accepted', ids: { op_id: 'o' } })
  t.like(fleet.sender.progress, { waiting: 0, underWay: 0, accepted: 8 })
})

test('fleet/1: submissions of one Thing go one after another, others beside them', async (t) => {
  const fleet = rig()
  const about = message('x2', { thing_id: 'x', occurred_at: 1 })
  await sendAll(fleet, [reading('x', 'x1'), about, reading('y', 'y1'), reading('x', 'x3')])
  t.deepEqual(fleet.tagsUnderWay(), ['x1', 'y1'])
  await fleet.requests[0]?.answer(OK())
  t.deepEqual(fleet.tagsUnderWay(), ['x1', 'y1', 'x2'])
  await fleet.requests[2]?.answer(OK())
  t.deepEqual(fleet.tagsUnderWay(), ['x1', 'y1', 'x2', 'x3'])
})

test('no more requests than connections are under way', async (t) => {
  const fleet = rig({ connections: 2 })
  await sendAll(
    fleet,
    ['a', 'b', 'c'].map((id) => reading(id, id)),
  )
  t.deepEqual(fleet.tagsUnderWay(), ['a', 'b'])
  await fleet.requests[1]?.answer(OK())
  t.deepEqual(fleet.tagsUnderWay(), ['a', 'b', 'c'])
  for (const connections of [0, 257, 1.5]) {
    t.throws(() => rig({ connections }), { instanceOf: RangeError })
  }
})

test('fleet/3: send waits while the queue is full', async (t) => {
  const fleet = rig({ connections: 1, queue: 2 })
  await sendAll(fleet, [reading('a', 'a'), reading('b', 'b')])
  let isIn = false
  const third = fleet.sender.send(reading('c', 'c')).then(() => (isIn = true))
  await settled()
  t.false(isIn)
  t.like(fleet.sender.progress, { waiting: 1, underWay: 1 })
  await fleet.requests[0]?.answer(OK())
  t.true(await third)
})

test('fleet/4: while the gateway asks for time nothing is sent, and the same one is first', async (t) => {
  const fleet = rig({ connections: 2 })
  await sendAll(fleet, [
    reading('a', 'a'),
    reading('b', 'b'),
    reading('a', 'a2'),
    reading('c', 'c'),
  ])
  await fleet.requests[0]?.answer(busy())
  await fleet.requests[1]?.answer(OK())
  t.deepEqual([fleet.tagsUnderWay(), fleet.delays], [['a', 'b'], [2_250]])
  fleet.time.advance(2_249)
  await settled()
  t.is(fleet.requests.length, 2)
  fleet.time.advance(1)
  await settled()
  t.deepEqual(fleet.tagsUnderWay(), ['a', 'b', 'a', 'c'])
  t.is(fleet.sender.progress.repeated, 1)
})

test('fleet/4: one submission goes ahead until it is answered, and pauses grow', async (t) => {
  const fleet = rig({ connections: 4 })
  const tags = ['a', 'b', 'c', 'd']
  await sendAll(
    fleet,
    tags.map((id) => reading(id, id)),
  )
  for (const { answer } of fleet.requests) await answer(refusedConnection())
  t.deepEqual(fleet.delays, [250], 'one pause for all that failed together')
  fleet.time.advance(250)
  await settled()
  t.is(fleet.requests.length, 5)
  await fleet.requests[4]?.answer(refusedConnection())
  t.deepEqual(fleet.delays, [250, 500])
  fleet.time.advance(500)
  await settled()
  await fleet.requests[5]?.answer(OK())
  t.is(fleet.requests.length, 9, 'the other three follow together')
})

test('fleet/4: a longer time that is asked for during a pause counts', async (t) => {
  const fleet = rig({ connections: 2 })
  await sendAll(fleet, [reading('a', 'a'), reading('b', 'b')])
  await fleet.requests[0]?.answer(busy('server_busy', '1'))
  await fleet.requests[1]?.answer(busy('rate_limited', '30'))
  fleet.time.advance(30_000)
  await settled()
  t.is(fleet.requests.length, 2)
  fleet.time.advance(1_000)
  await settled()
  t.is(fleet.requests.length, 3)
})

test('fleet-verdict/1: an unknown outcome is repeated only where that has no second effect', async (t) => {
  const created: FleetSubmission<string> = {
    tag: 'created',
    model: 'thing',
    action: 'create',
    body: { ...CHANNEL, observed_at: 1 },
  }
  const bad = (): Response => new Response('<html>', { status: 502 })
  const rows: readonly (readonly [
    submission: FleetSubmission<string>,
    repeatsUpdates: boolean,
    unknown: () => Response | Error,
    isRepeated: boolean,
  ])[] = [
    [reading('a', 'a'), false, UNKNOWN, false],
    [reading('a', 'a'), false, () => new Error('reset'), false],
    [reading('a', 'a'), false, bad, false],
    [reading('a', 'a'), true, UNKNOWN, true],
    [reading('a', 'a'), true, () => new Error('reset'), true],
    [created, true, UNKNOWN, false],
    [created, false, refusedConnection, true],
    [created, false, busy, true],
    [message('m'), false, UNKNOWN, true],
    [message('m'), false, bad, true],
  ]
  for (const [submission, repeatsUpdates, unknown, isRepeated] of rows) {
    const fleet = rig({ repeatsUpdates })
    await sendAll(fleet, [submission])
    await fleet.requests[0]?.answer(unknown())
    fleet.time.advance(30_000)
    await settled()
    t.is(fleet.requests.length, isRepeated ? 2 : 1)
    t.deepEqual(fleet.said(), isRepeated ? [] : [`${submission.tag} unknown`])
  }
})

test('a Message is repeated with one op_id, its own where it has one', async (t) => {
  for (const own of [undefined, 'mine']) {
    const fleet = rig()
    await sendAll(fleet, [message('m', own === undefined ? {} : { op_id: own })])
    await fleet.requests[0]?.answer(UNKNOWN())
    fleet.time.advance(30_000)
    await settled()
    const [first, second] = fleet.requests.map(({ body }) => String(body['op_id']))
    t.is(first, second)
    t.regex(first ?? '', own === undefined ? /^fleet-[0-9a-f]{32}$/ : /^mine$/)
  }
})

test('a refusal is told at once and holds nobody up', async (t) => {
  const fleet = rig()
  await sendAll(fleet, [reading('a', 'a1'), reading('a', 'a2')])
  await fleet.requests[0]?.answer(refusal(400, 'validation_failed'))
  await fleet.requests[1]?.answer(OK())
  t.deepEqual([fleet.said(), fleet.delays], [['a1 refused', 'a2 accepted'], []])
})

test('fleet/5: tries are bounded, and the outcome says whether the gateway may have it', async (t) => {
  const rows = [
    [busy, 'refused'],
    [UNKNOWN, 'unknown'],
  ] as const
  for (const [answer, kind] of rows) {
    const fleet = rig({ attempts: 3 })
    await sendAll(fleet, [message('m')])
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await fleet.requests[attempt]?.answer(answer())
      fleet.time.advance(60_000)
      await settled()
    }
    t.is(fleet.requests.length, 3)
    t.deepEqual(fleet.said(), [`m ${kind}`])
  }
})

test('fleet/2: a stop tells the outcome of everything and leaves no timer', async (t) => {
  const fleet = rig({ connections: 2, queue: 4 })
  await sendAll(
    fleet,
    ['a', 'b', 'c', 'd'].map((id) => reading(id, id)),
  )
  const late = fleet.sender.send(reading('e', 'e'))
  const stopped = fleet.sender.stop()
  await t.throwsAsync(late, { message: 'the sender was stopped' })
  await fleet.requests[0]?.answer(busy())
  await fleet.requests[1]?.answer(OK())
  await stopped
  t.deepEqual([...fleet.said()].toSorted(), ['a refused', 'b accepted', 'c unsent', 'd unsent'])
  t.is(fleet.time.waiting, 0)
  await t.throwsAsync(fleet.sender.send(reading('f', 'f')))
})

async function outcomesOf(t: ExecutionContext, onOutcome: () => void): Promise<number> {
  const fleet = rig({ onOutcome })
  await sendAll(fleet, [reading('a', 'a')])
  await fleet.requests[0]?.answer(OK())
  await fleet.sender.flush()
  t.is(fleet.sender.progress.accepted, 1)
  return fleet.reported.length
}

test('an onOutcome that throws is reported, and the sender goes on', async (t) => {
  const thrown = await outcomesOf(t, () => {
    throw new Error('of the caller')
  })
  t.is(thrown, 1)
})

test('a submission that cannot be JSON is refused alone', async (t) => {
  const fleet = rig()
  const attrs = { n: 1n } as unknown as Record<string, number>
  await sendAll(fleet, [
    { ...reading('a', 'a'), body: { ...CHANNEL, thing_id: 'a', observed_at: 1, attrs } } as never,
  ])
  await until('it is told', () => fleet.outcomes.length === 1)
  t.like(fleet.outcomes[0], { kind: 'refused', error: { code: 'body_invalid' } })
})
