// Goal: refusals, pauses and unknown outcomes of a fleet sender end as documented.
// Method: a fetch whose answers the test gives one by one; time moves only when the test moves it.

import test from 'ava'

import type { FleetSubmission } from '#src/client/fleet-queue'
import { refusal } from '#test/support/fake-fetch'
import {
  fleetRig,
  settled,
  CHANNEL,
  reading,
  message,
  sendAll,
  OK,
  busy,
  UNKNOWN,
  refusedConnection,
} from '#test/support/fleet-rig'

test('fleet/4, fleet-queue/1: the sender pauses while the gateway is busy, then begins with the same submission', async (t) => {
  const fleet = fleetRig({ connections: 2 })
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

test('fleet/4: the sender tries one submission until it gets an answer, and pauses grow', async (t) => {
  const fleet = fleetRig({ connections: 4 })
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

test('fleet/4: a longer Retry-After during a pause extends it', async (t) => {
  const fleet = fleetRig({ connections: 2 })
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

test('fleet-verdict/1: the sender repeats an unknown outcome only without a second effect', async (t) => {
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
    const fleet = fleetRig({ repeatsUpdates })
    await sendAll(fleet, [submission])
    await fleet.requests[0]?.answer(unknown())
    fleet.time.advance(30_000)
    await settled()
    t.is(fleet.requests.length, isRepeated ? 2 : 1)
    t.deepEqual(fleet.said(), isRepeated ? [] : [`${submission.tag} unknown`])
  }
})

test('the sender repeats a Message with one op_id, its own where it has one', async (t) => {
  for (const own of [undefined, 'mine']) {
    const fleet = fleetRig()
    await sendAll(fleet, [message('m', own === undefined ? {} : { op_id: own })])
    await fleet.requests[0]?.answer(UNKNOWN())
    fleet.time.advance(30_000)
    await settled()
    const [first, second] = fleet.requests.map(({ body }) => String(body['op_id']))
    t.is(first, second)
    t.regex(first ?? '', own === undefined ? /^fleet-[0-9a-f]{32}$/ : /^mine$/)
  }
})

test('the sender reports a refusal at once, and it delays no other submission', async (t) => {
  const fleet = fleetRig()
  await sendAll(fleet, [reading('a', 'a1'), reading('a', 'a2')])
  await fleet.requests[0]?.answer(refusal(400, 'validation_failed'))
  await fleet.requests[1]?.answer(OK())
  t.deepEqual([fleet.said(), fleet.delays], [['a1 refused', 'a2 accepted'], []])
})

test('fleet/5: tries are bounded, and the outcome tells whether the gateway may have the submission', async (t) => {
  const rows = [
    [busy, 'refused'],
    [UNKNOWN, 'unknown'],
  ] as const
  for (const [answer, kind] of rows) {
    const fleet = fleetRig({ attempts: 3 })
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
