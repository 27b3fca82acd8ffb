import test from 'ava'

import { collect, movesOf } from '#actors/lanes'
import type { OwnedLane } from '#actors/lanes'
import { placeOf } from '#domain/lane'
import { MemoryLog } from '#test/support/memory-log'
import { message } from '#test/support/submissions'

const owned = (lane: number, place = 0): OwnedLane => ({
  lane,
  epoch: 1,
  place,
  decidedTo: place,
  mayHaveMore: true,
})

const messages = (count: number) => Array.from({ length: count }, () => message())

/** A log whose lane 0 holds one entry for each count, with that many submissions. */
function logWith(...counts: readonly number[]): MemoryLog {
  const log = new MemoryLog()
  for (const count of counts) log.put(0, messages(count))
  return log
}

test('items come in the order of the log and say where the lane stands after each', async (t) => {
  const items = await collect([owned(0)], logWith(2, 1), 10)
  t.deepEqual(
    items.map(({ position, index, placeAfter }) => [position, index, placeAfter]),
    [
      [1, 0, placeOf(0, 1)],
      [1, 1, placeOf(1, 0)],
      [2, 0, placeOf(2, 0)],
    ],
  )
})

test('the applied part of an entry is not collected again', async (t) => {
  const items = await collect([owned(0, placeOf(1, 2))], logWith(1, 4, 1), 10)
  t.deepEqual(
    items.map(({ position, index }) => [position, index]),
    [
      [2, 2],
      [2, 3],
      [3, 0],
    ],
  )
})

// Method: the entries of a lane, the greatest number of items to collect, and the number that
// comes.
for (const [counts, max, expected] of [
  [[3, 3], 7, 6],
  [[3, 3], 6, 6],
  [[3, 3], 5, 3],
  [[3, 3], 2, 2],
  [[3, 3], 1, 1],
  [[256], 100, 100],
] as const) {
  test(`a turn of at most ${max} takes ${expected} of entries of ${counts.join(' and ')}`, async (t) => {
    const lane = owned(0)
    const items = await collect([lane], logWith(...counts), max)
    t.is(items.length, expected)
    t.true(lane.mayHaveMore)
  })
}

test('a lane that has nothing is left alone until it is woken', async (t) => {
  const log = new MemoryLog()
  let reads = 0
  log.beforeRead = () => {
    reads += 1
    return Promise.resolve()
  }
  const lane = owned(0)
  t.deepEqual(await collect([lane], log, 10), [])
  t.false(lane.mayHaveMore)
  await collect([lane], log, 10)
  t.is(reads, 1)
})

test('a wake-up while a lane is being read is not lost', async (t) => {
  const log = new MemoryLog()
  const lane = owned(0)
  log.watch(() => {
    lane.mayHaveMore = true
  })
  // The read has looked already: its answer misses what comes now.
  log.beforeRead = () => {
    log.beforeRead = () => Promise.resolve()
    log.put(0, [message()])
    return Promise.resolve()
  }
  t.deepEqual(await collect([lane], log, 10), [])
  t.true(lane.mayHaveMore)
  t.is((await collect([lane], log, 10)).length, 1)
})

test('lanes are read one after the other until there is enough', async (t) => {
  const log = new MemoryLog()
  for (const lane of [0, 1, 2]) log.put(lane, messages(4))
  const lanes = [owned(1), owned(2), owned(0)]
  const items = await collect(lanes, log, 6)
  t.deepEqual(
    items.map(({ lane }) => lane),
    [1, 1, 1, 1, 2, 2],
  )
})

test('lane-troubles/1: a lane that cannot be read holds no lane before it', async (t) => {
  const log = new MemoryLog()
  for (const lane of [0, 1]) log.put(lane, messages(1))
  log.beforeRead = (lane) => (lane === 0 ? Promise.reject(new Error('no')) : Promise.resolve())
  const [bad, good] = [owned(0), owned(1)]
  t.is((await collect([good, bad], log, 6)).length, 1)
  t.true(bad.mayHaveMore)
  await t.throwsAsync(collect([bad, good], log, 6), { message: 'no' })
  t.true(bad.mayHaveMore)
})

test('each lane moves from where it stands to behind its last item', async (t) => {
  const log = new MemoryLog()
  log.put(0, messages(1))
  log.put(1, messages(2))
  const lanes = new Map([0, 1].map((lane) => [lane, owned(lane)]))
  const items = await collect([...lanes.values()], log, 2)
  t.deepEqual(movesOf(items, lanes), [
    { lane: 0, epoch: 1, from: 0, to: placeOf(1, 0) },
    { lane: 1, epoch: 1, from: 0, to: placeOf(0, 1) },
  ])
})

test('a lane that is not owned any more does not move', async (t) => {
  const items = await collect([owned(0)], logWith(1), 10)
  t.deepEqual(movesOf(items, new Map()), [])
})
