// The order of jobs, without a database: a place is held by a promise that the test ends.

import test from 'ava'

import { Gate, IN_A_ROW_MAX, JOBS_WAITING_MAX, URGENT_WAITING_MAX } from '#src/store/jobs/gate'
import { StoreBusy } from '#src/store/store-error'
import { turn } from '#test/support/until'

/** A gate of one place that somebody holds. */
function heldGate() {
  const put: (() => void)[] = []
  const gate = new Gate(1, (task) => void put.push(task))
  const holder = Promise.withResolvers<void>()
  const held = gate.pass(() => holder.promise, false)
  const seen: string[] = []
  const job = (name: string, isUrgent = false): Promise<void> =>
    gate.pass(() => {
      seen.push(name)
      return Promise.resolve()
    }, isUrgent)
  const open = async (): Promise<void> => {
    holder.resolve()
    await held
  }
  return { gate, job, seen, open, put }
}

test('gate/1: urgent jobs come in before the rest', async (t) => {
  const { job, seen, open } = heldGate()
  const waiting = [job('a'), job('b'), job('turn', true)]
  await open()
  await Promise.all(waiting)
  t.deepEqual(seen, ['turn', 'a', 'b'])
})

// Method: which jobs fill their bound, and which are refused then.
for (const [crowd, max, isUrgent] of [
  ['others', JOBS_WAITING_MAX, false],
  ['urgent jobs', URGENT_WAITING_MAX, true],
] as const) {
  test(`gate/2: a crowd of ${crowd} is refused beyond its bound, and the other kind comes in`, async (t) => {
    const { gate, job, seen, open } = heldGate()
    const waiting = Array.from({ length: max }, () => job('crowd', isUrgent))
    t.is(gate.waiting, max)
    await t.throwsAsync(job('one too many', isUrgent), { instanceOf: StoreBusy })
    const own = job('own', !isUrgent)
    t.is(gate.waiting, max + 1)
    await open()
    if (!isUrgent) await own
    t.is(seen.includes('own'), !isUrgent)
    t.false(seen.includes('one too many'))
    void Promise.allSettled([...waiting, own])
  })
}

test('gate/3: after a few jobs of a crowd the thread looks up, and a turn that is due comes in', async (t) => {
  const { job, seen, open, put } = heldGate()
  const crowd = Array.from({ length: 3 * IN_A_ROW_MAX }, (_, at) => job(`job ${at}`))
  await open()
  await turn()
  // The holder was one of them.
  t.is(seen.length, IN_A_ROW_MAX - 1)
  t.is(put.length, 1)
  await job('turn', true)
  t.is(seen[IN_A_ROW_MAX - 1], 'turn')
  t.is(seen.length, IN_A_ROW_MAX, 'no other job comes in with it')
  for (let turns = 0; seen.length <= crowd.length; turns += 1) {
    if (turns > 10 * crowd.length) return t.fail('a job never begins')
    await turn()
    put.shift()?.()
  }
  await Promise.all(crowd)
  return undefined
})

test('gate/3: the thread looks up behind a few jobs that one asks for, one after the other', async (t) => {
  const { gate, job, seen, open, put } = heldGate()
  await open()
  put.shift()?.()
  let isDone = false
  const asked = (async () => {
    for (let at = 0; at < 2 * IN_A_ROW_MAX; at += 1) await job(`job ${at}`)
    isDone = true
  })()
  await turn()
  t.is(seen.length, IN_A_ROW_MAX)
  t.is(gate.waiting, 1)
  put.shift()?.()
  await turn()
  t.true(isDone)
  await asked
})

test('a gate is empty once nobody is inside, nobody waits and nobody looks up', async (t) => {
  const { gate, job, open, put } = heldGate()
  const crowd = Array.from({ length: IN_A_ROW_MAX + 2 }, () => job('job'))
  let isEmpty = false
  const empty = gate.whenEmpty().then(() => (isEmpty = true))
  await open()
  await turn()
  t.false(isEmpty)
  put.shift()?.()
  await Promise.all([...crowd, empty])
  t.true(isEmpty)
})
