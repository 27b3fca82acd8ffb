import test from 'ava'

import { Limiter } from '#domain/bounds/limiter'
import { until } from '#test/support/until'

function running(bounds: { readonly places: number; readonly waitingMax: number }) {
  const limiter = new Limiter(bounds)
  const begun: number[] = []
  const ends: (() => void)[] = []
  const run = (job: number): Promise<number> | undefined =>
    limiter.run(async () => {
      begun.push(job)
      await new Promise<void>((resolve) => ends.push(resolve))
      if (job === 0) throw new Error('refused')
      return job
    })
  return { limiter, begun, ends, run }
}

test('limiter/1: a bounded number of jobs runs at once, the others in the order of asking', async (t) => {
  const { limiter, begun, ends, run } = running({ places: 2, waitingMax: 9 })
  const jobs = [0, 1, 2, 3].map((job) => run(job))
  t.deepEqual([begun.join(), limiter.waiting], ['0,1', 2])
  ends[0]?.()
  await t.throwsAsync(async () => jobs[0], { message: 'refused' })
  const late = run(4) // It overtakes nobody.
  await until('the third begins', () => begun.length === 3)
  t.is(limiter.waiting, 2)
  for (let end = 1; end <= 4; end += 1) {
    await until('the next one begins', () => ends.length > end)
    ends[end]?.()
  }
  t.deepEqual(await Promise.all([...jobs.slice(1), late]), [1, 2, 3, 4])
  t.deepEqual(begun, [0, 1, 2, 3, 4])
})

test('limiter/2: the job beyond those that may wait is refused at once', async (t) => {
  const { limiter, begun, ends, run } = running({ places: 1, waitingMax: 2 })
  const jobs = [1, 2, 3].map((job) => run(job))
  t.is(run(4), undefined)
  ends[0]?.()
  t.is(await jobs[0], 1)
  t.not(run(5), undefined)
  limiter.clear()
  t.is(limiter.waiting, 0)
  ends[1]?.()
  t.is(await jobs[1], 2)
  t.deepEqual(begun, [1, 2])
})
