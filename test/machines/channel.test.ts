import test from 'ava'
import { createActor } from 'xstate'

import type { ChannelHead } from '#domain/store-ports'
import type { Submission } from '#domain/submission'
import { EMPTY_BODY } from '#domain/patch'
import { channelBytes, channelLogic, isKnown } from '#machines/channel'
import { ChannelTurn } from '#machines/channel-turn'
import { entityBytes } from '#machines/memory'
import { compileText } from '#src/rules/rule-set'
import { derived } from '#test/support/rules'
import { channel, event, message, thing } from '#test/support/submissions'

const REMEMBERED = 5
/** Bytes of an entity without values whose id has two characters. */
const ENTITY_BYTES = entityBytes({ id: 't0', ...EMPTY_BODY })

const HEAD: ChannelHead = {
  channelId: channel(1),
  ref: 3,
  headSeq: 10,
  things: 0,
  openEvents: 0,
}

function channelThatIsAsleep() {
  const actor = createActor(channelLogic, {
    input: {
      endedLifeMs: 1000,
      rememberedBytesMax: REMEMBERED * ENTITY_BYTES,
      derive: derived,
      compile: compileText,
    },
  })
  actor.start()
  return {
    send: actor.send.bind(actor),
    /** Gives a turn, which `read` prepares; what it decided and what it left. */
    take: (submissions: readonly Submission[], read?: (turn: ChannelTurn) => void) => {
      const turn = new ChannelTurn(actor.getSnapshot().context, 0)
      read?.(turn)
      const operations = submissions.map((submission) => turn.take(submission))
      actor.send({ type: 'taken', decided: turn.decided })
      return { operations, entries: turn.entries, ...turn.decided }
    },
    state: () => actor.getSnapshot().context.state,
    context: () => actor.getSnapshot().context,
  }
}

function channelThatIsAwake() {
  const actor = channelThatIsAsleep()
  actor.send({ type: 'load', head: HEAD })
  return actor
}

test('a channel that is asleep takes no turn before it knows its head', (t) => {
  const actor = channelThatIsAsleep()
  t.throws(() => actor.take([message()]), { message: /sleeps/ })
  t.is(actor.state(), 'asleep')
  t.is(actor.context().decided, undefined)
  actor.send({ type: 'load', head: HEAD })
  t.is(actor.state(), 'awake')
})

test('a turn decides in the order of its submissions', (t) => {
  const actor = channelThatIsAwake()
  const turn = [
    thing('create', 't', { at: 1, attrs: { on: true } }),
    message(),
    thing('update', 't', { at: 2, attrs: { on: false } }),
    event('create', 'e'),
    event('close', 'e', { at: 2 }),
    thing('delete', 'u'),
    thing('update', 'u'),
  ]
  const decided = actor.take(turn)
  t.deepEqual(
    decided.entries.map(({ seq, entityId, rev }) => [seq, entityId.length === 1, rev]),
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
    decided.operations.map(({ opId }) => opId),
    turn.map((submission) => submission.opId),
  )
  t.is(decided.operations.at(-1)?.errorCode, 'thing_deleted')
  t.deepEqual(decided.head, { ...HEAD, headSeq: 16, things: 1, openEvents: 0 })
})

test('channel/1: the decisions of a turn stand apart until the next turn', (t) => {
  const actor = channelThatIsAwake()
  const turn = [thing('create', 't'), event('create', 'e')]
  t.like(actor.take(turn).head, { headSeq: 12, things: 1, openEvents: 1 })
  t.is(actor.context().head, HEAD)
  t.is(actor.context().memory.things.size, 0)
  t.is(actor.context().memory.events.size, 0)
  t.true(isKnown(actor.context(), 'things', 't'))
  t.false(isKnown(actor.context(), 'things', 'e'))

  actor.take([])
  t.like(actor.context().head, { headSeq: 12, things: 1, openEvents: 1 })
  t.deepEqual([...actor.context().memory.things.keys()], ['t'])
  t.deepEqual([...actor.context().memory.events.keys()], ['e'])
  t.true(isKnown(actor.context(), 'events', 'e'))
})

test('channel/1: a channel does not keep the entries of a turn', (t) => {
  const actor = channelThatIsAwake()
  t.is(actor.take([message()]).entries.length, 1)
  const kept = Object.keys(actor.context().decided ?? {})
  t.deepEqual(kept, ['head', 'things', 'events', 'watches', 'rules'])
})

test('a turn begins from the state that earlier turns left', (t) => {
  const actor = channelThatIsAwake()
  actor.take([thing('create', 't', { at: 5 })])
  t.like(actor.take([thing('update', 't', { at: 6 })]).entries[0], { seq: 12, rev: 2 })
})

test('channel-turn/1: what turns made is newer than what was read beside them', (t) => {
  const reads = thing('create', 't', { at: 1 })
  const first = channelThatIsAwake()
  const read = first.take([reads]).things.get('t')
  const readFor = (turn: ChannelTurn): void => {
    if (read !== undefined) turn.readThing(read)
  }
  const actor = channelThatIsAwake()
  const revs = [2, 3, 4].map((at) => {
    const updates = [thing('update', 't', { at }), thing('update', 't', { at: at + 0.5 })]
    return actor.take(updates, readFor).entries.map(({ rev }) => rev)
  })
  t.deepEqual(revs, [
    [2, 3],
    [4, 5],
    [6, 7],
  ])
})

test('a turn begins from the state loaded for it', (t) => {
  const first = channelThatIsAwake()
  const { things, events } = first.take([thing('delete', 't'), event('close', 'e')])

  const second = channelThatIsAwake()
  const { operations } = second.take([thing('update', 't'), event('update', 'e')], (turn) => {
    for (const one of things.values()) turn.readThing(one)
    for (const one of events.values()) turn.readEvent(one)
  })
  t.deepEqual(
    operations.map(({ errorCode }) => errorCode),
    ['thing_deleted', 'event_closed'],
  )
})

test('channel/2: a channel whose commit failed forgets everything and loads again', (t) => {
  const actor = channelThatIsAwake()
  actor.take([thing('create', 't')])
  actor.take([thing('update', 't', { at: 9 })])
  actor.send({ type: 'failed' })
  t.is(actor.state(), 'asleep')
  t.is(actor.context().head, undefined)
  t.is(actor.context().decided, undefined)
  t.is(actor.context().memory.things.size, 0)

  // Loaded again with what the lost commit left, it goes on from there.
  actor.send({ type: 'load', head: { ...HEAD, headSeq: 12, things: 1 } })
  t.is(actor.take([message()]).entries[0]?.seq, 13)
})

test('channel/3: a channel remembers entities of so many bytes, the most recently touched', (t) => {
  const actor = channelThatIsAwake()
  const ids = Array.from({ length: REMEMBERED }, (_, index) => `t${index}`)
  actor.take(ids.map((id) => thing('create', id)))
  actor.take([])
  t.is(actor.context().memory.things.size, REMEMBERED)

  // The oldest is touched again, so the second oldest goes when one more comes.
  const turn = [thing('update', 't0', { at: 2 }), thing('create', 't9')]
  actor.take(turn)
  actor.take([])
  const remembered = actor.context().memory.things
  t.is(remembered.size, REMEMBERED)
  t.true(remembered.has('t0'))
  t.true(remembered.has('t9'))
  t.false(remembered.has('t1'))
  t.true(remembered.has('t2'))
})

test('channel/3: Events are bounded like Things', (t) => {
  const actor = channelThatIsAwake()
  const ids = Array.from({ length: REMEMBERED + 1 }, (_, index) => `e${index}`)
  actor.take(ids.map((id) => event('create', id)))
  actor.take([])
  t.is(actor.context().memory.events.size, REMEMBERED)
  t.false(actor.context().memory.events.has('e0'))
})

test('channel/3: an entity counts by its values, and the bytes are those of what is remembered', (t) => {
  const actor = channelThatIsAwake()
  const note = 'x'.repeat(REMEMBERED * ENTITY_BYTES)
  actor.take([thing('create', 't0'), event('create', 'e0')])
  t.is(channelBytes(actor.context()), 2 * ENTITY_BYTES)
  actor.take([thing('update', 't0', { at: 2, attrs: { note } })])
  t.true(channelBytes(actor.context()) > 2 * ENTITY_BYTES + note.length)
  actor.take([thing('create', 't1')])
  t.is(actor.context().memory.things.size, 0)
  t.is(channelBytes(actor.context()), 2 * ENTITY_BYTES)
  actor.send({ type: 'failed' })
  t.is(channelBytes(actor.context()), 0)
})

test('W6: a defect in one submission is its own; its neighbours go on without a hole', (t) => {
  const broken = thing('create', 'broken')
  Object.defineProperty(broken, 'patch', {
    get: () => {
      throw new Error('cannot be read')
    },
  })
  const actor = channelThatIsAwake()
  const turn = new ChannelTurn(actor.context(), 0)
  turn.take(message())
  t.throws(() => turn.take(broken), { message: 'cannot be read' })
  turn.take(message())
  t.deepEqual(
    turn.entries.map(({ seq }) => seq),
    [11, 12],
  )
})
