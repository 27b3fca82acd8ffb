// Goal: passwords give way to requests and turns, where the system has a priority for each thread.

import { getPriority } from 'node:os'

import test from 'ava'

import { lowerPoolPriority } from '#src/process/lifecycle'

const onLinux = process.platform === 'linux' ? test : test.skip

onLinux('the threads of the pool get a lower priority, the others keep theirs', async (t) => {
  const before = getPriority()
  const threads = await lowerPoolPriority()
  t.true(threads.length > 0)
  t.false(threads.includes(process.pid))
  for (const thread of threads) t.is(getPriority(thread), Math.min(19, before + 10))
  t.is(getPriority(), before)
})
