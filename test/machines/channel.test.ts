import test from 'ava'
import { createActor } from 'xstate'

import type { ChannelHead } from '#domain/store-ports'
import type { Submission } from '#domain/submission'
import { REMEMBERED_MAX, channelMachine, refuseAll } from '#machines/channel'
import type { TurnInput } from '#machines/channel'
import { channel, event, message, thing } from '#test/support/submissions'

const HEAD: ChannelHead = {
  channelId: channel(1),
  ref: 3,
  headSeq: 10,
  things: 0,
  openEvents: 0,
}

const turnOf = (...submissions: readonly Submission[]): TurnInput => ({
  submissions,
  things: [],
  events: [],
})

function channelThatIsAsleep() {
  const actor = createActor(channelMachine, { input: { endedLifeMs: 1000 } })
  actor.start()
  return {
    send: actor.send.bind(actor),
    state: () => actor.getSnapshot().value,
    context: () => actor.getSnapshot().context,
  }
}

function channelThatRests() {
  const actor = channelThatIsAsleep()
  actor.send({ type: 'load', head: HEAD })
  return actor
}

test('a channel that is asleep takes no turn before it knows its head', (t) => {
  const actor = channelThatIsAsleep()
  actor.send({ type: 'take', turn: turnOf(message()) })
  t.is(actor.state(), 'asleep')
  t.is(actor.context().decided, undefined)
  actor.send({ type: 'load', head: HEAD })
  t.is(actor.state(), 'resting')
})

test('a turn decides in the order of its submissions', (t) => {
  const actor = channelThatRests()
  const turn = turnOf(
    thing('create', 't', { at: 1, attrs: { on: true } }),
    message(),
    thing('update', 't', { at: 2, attrs: { on: false } }),
    event('create', 'e'),
    event('close', 'e', { at: 2 }),
    thing('delete', 'u'),
    thing('update', 'u'),
  )
  actor.send({ type: 'take', turn })
  const { decided } = actor.context()
  t.deepEqual(
    decided?.entries.map(({ seq, entityId, rev }) => [seq, entityId.length === 1, rev]),
    [
      [11, true, 1],
      [12, false, undefined],
      [13, true, 2],
      [14, true, 1],
      [15, true, 2],
      [16, true, 1],
    ],
  )
  t.deepEqual(
    decided?.operations.map(({ opId }) => opId),
    turn.submissions.map((submission) => submission.opId),
  )
  t.is(decided?.operations.at(-1)?.errorCode, 'thing_deleted')
  t.deepEqual(decided?.head, { ...HEAD, headSeq: 16, things: 1, openEvents: 0 })
})

test('A1: a channel whose commit is under way takes no other turn', (t) => {
  const actor = channelThatRests()
  actor.send({ type: 'take', turn: turnOf(message()) })
  const { decided } = actor.context()
  actor.send({ type: 'take', turn: turnOf(message(), message()) })
  t.is(actor.context().decided, decided)
  t.is(actor.state(), 'committing')
})

test('A2: what a turn decided is remembered once its commit answered, not before', (t) => {
  const actor = channelThatRests()
  actor.send({ type: 'take', turn: turnOf(thing('create', 't'), event('create', 'e')) })
  t.is(actor.context().head, HEAD)
  t.is(actor.context().memory.things.size, 0)
  t.is(actor.context().memory.events.size, 0)

  actor.send({ type: 'committed' })
  t.is(actor.state(), 'resting')
  t.like(actor.context().head, { headSeq: 12, things: 1, openEvents: 1 })
  t.deepEqual([...actor.context().memory.things.keys()], ['t'])
  t.deepEqual([...actor.context().memory.events.keys()], ['e'])
  t.is(actor.context().decided, undefined)
})

test('a turn begins from what earlier turns left', (t) => {
  const actor = channelThatRests()
  actor.send({ type: 'take', turn: turnOf(thing('create', 't', { at: 5 })) })
  actor.send({ type: 'committed' })
  actor.send({ type: 'take', turn: turnOf(thing('update', 't', { at: 6 })) })
  t.like(actor.context().decided?.entries[0], { seq: 12, rev: 2 })
})

test('a turn begins from what was loaded for it', (t) => {
  const first = channelThatRests()
  first.send({ type: 'take', turn: turnOf(thing('delete', 't'), event('close', 'e')) })
  const { things, events } = first.context().decided ?? {}

  const second = channelThatRests()
  const submissions = [thing('update', 't'), event('update', 'e')]
  const loaded = { things: [...(things?.values() ?? [])], events: [...(events?.values() ?? [])] }
  second.send({ type: 'take', turn: { submissions, ...loaded } })
  t.deepEqual(
    second.context().decided?.operations.map(({ errorCode }) => errorCode),
    ['thing_deleted', 'event_closed'],
  )
})

test('A3: a channel whose commit failed forgets everything and loads again', (t) => {
  const actor = channelThatRests()
  actor.send({ type: 'take', turn: turnOf(thing('create', 't')) })
  actor.send({ type: 'committed' })
  actor.send({ type: 'take', turn: turnOf(thing('update', 't', { at: 9 })) })
  actor.send({ type: 'failed' })
  t.is(actor.state(), 'asleep')
  t.is(actor.context().head, undefined)
  t.is(actor.context().decided, undefined)
  t.is(actor.context().memory.things.size, 0)

  // Loaded again with what the lost commit left, it goes on from there.
  actor.send({ type: 'load', head: { ...HEAD, headSeq: 12, things: 1 } })
  actor.send({ type: 'take', turn: turnOf(message()) })
  t.is(actor.context().decided?.entries[0]?.seq, 13)
})

test('A4: a channel remembers so many entities and forgets the least recently touched', (t) => {
  const actor = channelThatRests()
  const ids = Array.from({ length: REMEMBERED_MAX }, (_, index) => `t${index}`)
  actor.send({ type: 'take', turn: turnOf(...ids.map((id) => thing('create', id))) })
  actor.send({ type: 'committed' })
  t.is(actor.context().memory.things.size, REMEMBERED_MAX)

  // The oldest is touched again, so the second oldest goes when one more comes.
  const turn = turnOf(thing('update', 't0', { at: 2 }), thing('create', 'new'))
  actor.send({ type: 'take', turn })
  actor.send({ type: 'committed' })
  const remembered = actor.context().memory.things
  t.is(remembered.size, REMEMBERED_MAX)
  t.true(remembered.has('t0'))
  t.true(remembered.has('new'))
  t.false(remembered.has('t1'))
  t.true(remembered.has('t2'))
})

test('A4: Events are bounded like Things', (t) => {
  const actor = channelThatRests()
  const ids = Array.from({ length: REMEMBERED_MAX + 1 }, (_, index) => `e${index}`)
  actor.send({ type: 'take', turn: turnOf(...ids.map((id) => event('create', id))) })
  actor.send({ type: 'committed' })
  t.is(actor.context().memory.events.size, REMEMBERED_MAX)
  t.false(actor.context().memory.events.has('e0'))
})

test('W6: a defect in one submission is its own; its neighbours go on without a hole', (t) => {
  const broken = thing('create', 'broken')
  Object.defineProperty(broken, 'patch', {
    get: () => {
      throw new Error('cannot be read')
    },
  })
  const actor = channelThatRests()
  actor.send({ type: 'take', turn: turnOf(message(), broken, message()) })
  const { decided } = actor.context()
  t.deepEqual(
    decided?.entries.map(({ seq }) => seq),
    [11, 12],
  )
  t.deepEqual(
    decided?.operations.map(({ errorCode }) => errorCode),
    [undefined, 'internal_error', undefined],
  )
  t.deepEqual(decided?.defects, [{ submission: broken, error: 'Error: cannot be read' }])
})

test('a channel that does not exist refuses everything', (t) => {
  const operations = refuseAll([message(), thing('update', 't'), event('close', 'e')])
  for (const operation of operations) {
    t.like(operation, { status: 'failed', errorCode: 'channel_not_found' })
  }
  t.is(operations.length, 3)
})
