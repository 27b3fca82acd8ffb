// Goal: waiting jobs go in together; each counts, and each gets its own answer.

import test from 'ava'

import { JOBS_WAITING_MAX } from '#src/store/jobs/gate'
import { AT_ONCE_MAX, Group } from '#src/store/jobs/group'
import type { Executor } from '#src/store/jobs/executor'
import { StoreBusy } from '#src/store/store-error'
import { emptyFile } from '#test/support/sqlite-store'
import { channel, message, opId } from '#test/support/submissions'
import { openWatched } from '#test/support/watched-store'

const EXECUTOR = {} as Executor

function bench() {
  const counts: (() => number)[] = []
  const jobs: (readonly number[])[] = []
  const put: (() => void)[] = []
  const behaviour = { before: (): Promise<void> => Promise.resolve(), attempts: 1 }
  const group = new Group<number, string>(
    { countQueue: (count) => void counts.push(count), soon: (task) => void put.push(task) },
    {
      enter: async (job) => {
        await behaviour.before()
        let answers = await job(EXECUTOR)
        for (let again = 1; again < behaviour.attempts; again += 1) answers = await job(EXECUTOR)
        return answers
      },
      answer: (_, items) => {
        jobs.push(items)
        return Promise.resolve(items.map((item) => `answer ${item}`))
      },
    },
  )
  const soon = (): void => {
    for (const task of put.splice(0)) task()
  }
  const waiting = (): number => counts.reduce((sum, count) => sum + count(), 0)
  return { group, jobs, behaviour, soon, waiting }
}

test('group/1: items that came before a job begins are part of it, each with its own answer', async (t) => {
  const { group, jobs, soon, waiting } = bench()
  const answers = [1, 2, 3].map((item) => group.ask(item))
  t.is(waiting(), 3)
  t.deepEqual(jobs, [])
  soon()
  t.deepEqual(await Promise.all(answers), ['answer 1', 'answer 2', 'answer 3'])
  t.deepEqual(jobs, [[1, 2, 3]])
  t.is(waiting(), 0)
})

test('group/1: items that wait for a place are part of the job, later ones of the next', async (t) => {
  const { group, jobs, behaviour, soon } = bench()
  const place = Promise.withResolvers<void>()
  behaviour.before = () => place.promise
  const first = group.ask(1)
  soon()
  const second = group.ask(2)
  place.resolve()
  await Promise.all([first, second])
  t.deepEqual(jobs, [[1, 2]])
  const third = group.ask(3)
  soon()
  await third
  t.deepEqual(jobs, [[1, 2], [3]])
})

test('group/1: a job has a bound, and the rest goes into the next one', async (t) => {
  const { group, jobs, soon } = bench()
  const answers = Array.from({ length: AT_ONCE_MAX + 1 }, (_, item) => group.ask(item))
  soon()
  await answers[0]
  await Promise.resolve()
  t.deepEqual(
    jobs.map(({ length }) => length),
    [AT_ONCE_MAX],
  )
  await new Promise<void>((resolve) => setImmediate(resolve))
  soon()
  t.is(await answers[AT_ONCE_MAX], `answer ${AT_ONCE_MAX}`)
})

test('group/2: beyond the bound an item is refused at once', async (t) => {
  const { group, waiting } = bench()
  const asked = Array.from({ length: JOBS_WAITING_MAX }, (_, item) => group.ask(item))
  await t.throwsAsync(group.ask(0), { instanceOf: StoreBusy })
  t.is(waiting(), JOBS_WAITING_MAX)
  void Promise.allSettled(asked)
})

test('group/3: a job that fails fails for its items alone', async (t) => {
  const { group, jobs, behaviour, soon } = bench()
  behaviour.before = () => Promise.reject(new Error('disk full'))
  const failing = [1, 2].map((item) => group.ask(item))
  soon()
  for (const answer of failing) await t.throwsAsync(answer, { message: 'disk full' })
  behaviour.before = () => Promise.resolve()
  await new Promise<void>((resolve) => setImmediate(resolve))
  const next = group.ask(3)
  soon()
  t.is(await next, 'answer 3')
  t.deepEqual(jobs, [[3]])
})

test('a job that is done again has the same items', async (t) => {
  const { group, jobs, behaviour, soon } = bench()
  behaviour.attempts = 2
  const answers = [1, 2].map((item) => group.ask(item))
  soon()
  await Promise.all(answers)
  t.deepEqual(jobs, [
    [1, 2],
    [1, 2],
  ])
})

test('operations/2: claims that wait together share few durable transactions', async (t) => {
  const { database, operations } = await openWatched(t, `sqlite:${await emptyFile(t)}`)
  const enter = database.durable.bind(database)
  let entered = 0
  database.durable = (job, traits) => {
    entered += 1
    return enter(job, traits)
  }
  const claim = { channelId: channel(1), thingId: '', contentHash: '', claimedAt: 1 }
  const claims = Array.from({ length: AT_ONCE_MAX + 1 }, (_, index) =>
    operations.claim({ ...claim, opId: opId(`claim-${index}`), messageId: message().entityId }, 0),
  )
  const outcomes = await Promise.all(claims)
  t.true(outcomes.every(({ kind }) => kind === 'fresh'))
  t.is(entered, 2)
})
