import test from 'ava'

import { ChannelActor, ChannelDirectory } from '#actors/channel'
import type { ChannelId } from '#domain/identity'
import { EMPTY_BODY } from '#domain/patch'
import type { ChannelHead } from '#domain/store-ports'
import type { Submission } from '#domain/submission'
import { entityBytes } from '#machines/memory'
import { derived } from '#test/support/rules'
import { channel, message, thing } from '#test/support/submissions'

const RULES = { endedLifeMs: 1000, rememberedBytesMax: 100_000, derive: derived }
/** Bytes of an entity without values whose id has two characters. */
const ENTITY_BYTES = entityBytes({ id: 't0', ...EMPTY_BODY })
const headOf = (channelId: ChannelId): ChannelHead => ({
  channelId,
  ref: 1,
  headSeq: 0,
  things: 0,
  openEvents: 0,
})

/** Lets an actor take a turn of these submissions; gives the entries. */
function take(actor: ChannelActor, ...submissions: readonly Submission[]) {
  const turn = actor.begin(0)
  for (const submission of submissions) turn.take(submission)
  actor.end(turn.decided)
  return turn.entries
}

function actorThatIsAwake(): ChannelActor {
  const actor = new ChannelActor(channel(1), RULES)
  actor.load(headOf(channel(1)))
  return actor
}

test('an actor takes a turn, and the next one once the first is committed', (t) => {
  const actor = actorThatIsAwake()
  t.is(take(actor, message())[0]?.seq, 1)
  actor.committed()
  t.is(take(actor, message())[0]?.seq, 2)
})

test('actor/1: an actor that sleeps is given no turn', (t) => {
  const asleep = new ChannelActor(channel(1), RULES)
  t.true(asleep.isAsleep)
  t.throws(() => take(asleep, message()), { message: /sleeps/ })
})

test('actor/1: while a turn commits one more is decided on it, and no third', (t) => {
  const actor = actorThatIsAwake()
  t.is(take(actor, message())[0]?.seq, 1)
  t.is(take(actor, message())[0]?.seq, 2)
  t.throws(() => take(actor, message()), { message: /third turn/ })
  actor.committed()
  t.is(take(actor, message())[0]?.seq, 3)
})

test('channel/2: an actor whose turn failed forgets the one that was decided on it too', (t) => {
  const actor = actorThatIsAwake()
  take(actor, thing('create', 't'))
  take(actor, thing('create', 'u'))
  actor.failed()
  t.true(actor.isAsleep)
  t.is(actor.remembered, 0)
  actor.load(headOf(channel(1)))
  take(actor, message())
  take(actor, message())
})

test('channel/2: an actor that failed is asleep until it is loaded again', (t) => {
  const actor = actorThatIsAwake()
  take(actor, thing('create', 't'))
  actor.committed()
  t.is(actor.remembered, 1)
  take(actor, message())
  actor.failed()
  t.true(actor.isAsleep)
  t.is(actor.remembered, 0)
})

test('channel/2: a turn that is committed after all was forgotten leaves nothing behind', (t) => {
  const actor = actorThatIsAwake()
  take(actor, message())
  actor.failed()
  actor.committed()
  actor.load(headOf(channel(1)))
  take(actor, message())
  actor.failed()
  t.true(actor.isAsleep)
})

test('an actor that is in no turn keeps its memory when a turn without it fails', (t) => {
  const actor = actorThatIsAwake()
  actor.failed()
  t.false(actor.isAsleep)
})

const LIMITS = { ...RULES, liveMax: 3, cachedBytesMax: 4 * ENTITY_BYTES, idleMs: 100 }

/** Wakes a channel and lets it remember so many Things. */
function use(
  directory: ChannelDirectory,
  number: number,
  { nowMs, things = 0 }: { readonly nowMs: number; readonly things?: number },
): void {
  const actor = directory.wake(channel(number), nowMs)
  if (actor.isAsleep) actor.load(headOf(channel(number)))
  const ids = Array.from({ length: things }, (_, index) => `t${index}`)
  take(actor, ...ids.map((id) => thing('create', id)))
  actor.committed()
}

/** The awake ones among the first ten channels. Looking changes nothing but the order. */
function awake(directory: ChannelDirectory, nowMs: number): readonly number[] {
  return [1, 2, 3, 4, 5, 6].filter((number) => {
    const isAsleep = directory.wake(channel(number), nowMs).isAsleep
    if (isAsleep) directory.sleep(channel(number))
    return !isAsleep
  })
}

// Method: each row has uses (channel, time, remembered Things), the time of trimming, and the
// channels that stay.
const trims: Readonly<
  Record<string, [uses: [number, number, number?][], atMs: number, awake: number[]]>
> = {
  'at the limits nobody is put to sleep': [
    [
      [1, 0, 2],
      [2, 0, 1],
      [3, 0, 1],
    ],
    100,
    [1, 2, 3],
  ],
  'beyond liveMax the least recently used goes': [
    [
      [1, 0],
      [2, 0],
      [3, 0],
      [4, 0],
    ],
    0,
    [2, 3, 4],
  ],
  'an actor used again is the newest': [
    [
      [1, 0],
      [2, 0],
      [3, 0],
      [1, 0],
      [4, 0],
    ],
    0,
    [1, 3, 4],
  ],
  'beyond cachedBytesMax the least recently used actor goes to sleep': [
    [
      [1, 0, 2],
      [2, 0, 2],
      [3, 0, 1],
    ],
    0,
    [2, 3],
  ],
  'as many actors go to sleep as are needed': [
    [
      [1, 0, 1],
      [2, 0, 2],
      [3, 0, 3],
    ],
    0,
    [3],
  ],
  'an idle actor goes to sleep': [
    [
      [1, 0],
      [2, 1],
      [3, 50],
    ],
    101,
    [2, 3],
  ],
  'one channel alone beyond cachedBytesMax goes to sleep too': [[[1, 0, 5]], 0, []],
}

for (const [name, [uses, atMs, expected]] of Object.entries(trims)) {
  test(`actor/2: ${name}`, (t) => {
    const directory = new ChannelDirectory(LIMITS)
    for (const [number, nowMs, things = 0] of uses) use(directory, number, { nowMs, things })
    directory.trim(atMs)
    t.is(directory.size, expected.length)
    t.deepEqual(awake(directory, atMs), expected)
    t.true(directory.bytes <= LIMITS.cachedBytesMax)
    t.is(directory.bytes, directory.remembered * ENTITY_BYTES)
  })
}

test('a channel that is woken twice is one actor, and after its sleep another', (t) => {
  const directory = new ChannelDirectory(LIMITS)
  const first = directory.wake(channel(1), 0)
  t.is(directory.wake(channel(1), 1), first)
  t.is(first.lastUsedMs, 1)
  directory.sleep(channel(1))
  t.is(directory.size, 0)
  t.not(directory.wake(channel(1), 2), first)
  directory.sleep(channel(9))
  t.is(directory.size, 1)
})

test('actor/2: actors beyond the limits go to sleep also after the clock was set back', (t) => {
  const directory = new ChannelDirectory(LIMITS)
  directory.tidy(3_600_000)
  for (const number of [1, 2]) use(directory, number, { nowMs: 0, things: 4 })
  directory.tidy(1)
  t.true(directory.bytes <= LIMITS.cachedBytesMax, String(directory.bytes))
})

test('actor/2: actors beyond the bytes go to sleep before the next turn', (t) => {
  const directory = new ChannelDirectory(LIMITS)
  directory.tidy(0)
  for (const number of [1, 2]) use(directory, number, { nowMs: 0, things: 2 })
  t.true(directory.isTidy(0))
  use(directory, 3, { nowMs: 0, things: 2 })
  t.false(directory.isTidy(0))
  directory.tidy(0)
  t.deepEqual(awake(directory, 0), [3])
})

test('actor/2: deletions of channels that are not awake are not kept', (t) => {
  const directory = new ChannelDirectory(LIMITS)
  use(directory, 1, { nowMs: 0 })
  directory.tidy(0)
  directory.forget(channel(2))
  t.true(directory.isTidy(0))
  directory.forget(channel(1))
  t.false(directory.isTidy(0))
  directory.tidy(0)
  t.is(directory.size, 0)
})
