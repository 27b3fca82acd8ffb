import test from 'ava'

import { isFault } from '#domain/fault'
import { createPasswordWork, decoyHash } from '#src/acceptance/password-work'
import { realRuntime } from '#test/support/real-runtime'

const { entropy } = realRuntime

test('a password matches its own hash and no other; the parameters and the salt are in the text', async (t) => {
  const work = createPasswordWork(entropy)
  const text = await work.hash('correct horse')
  if (isFault(text)) return t.fail()
  t.regex(text, /^scrypt\$16384\$8\$1\$[\w-]{22}\$[\w-]{43}$/)
  t.not(text, await work.hash('correct horse'))
  t.is(await work.matches('correct horse', text), true)
  t.is(await work.matches('correct horsf', text), false)
  t.is(await work.matches('correct horse', decoyHash(entropy)), false)
})

test('a stored text of an unknown form is a defect that does not repeat the text', async (t) => {
  const error = await t.throwsAsync(createPasswordWork(entropy).matches('password', 'md5$secret'))
  t.false(error?.message.includes('secret'))
})

test('password-work/1: four computations run, 128 wait in order, the next is told to come later', async (t) => {
  const begun: string[] = []
  const finish: (() => void)[] = []
  const work = createPasswordWork(entropy, async (password) => {
    begun.push(password)
    await new Promise<void>((resolve) => finish.push(resolve))
    return new Uint8Array(32)
  })
  const answers = Array.from({ length: 132 }, (_, at) => work.hash(`password ${at}`))
  t.is(begun.length, 4)
  t.is(work.waiting(), 128)
  t.like(await work.hash('one too many'), { kind: 'fault', code: 'server_busy' })
  while (finish.length > 0) {
    finish.shift()?.()
    await new Promise<void>((resolve) => setImmediate(resolve))
    t.true(finish.length <= 4)
  }
  await Promise.all(answers)
  t.deepEqual(
    begun,
    Array.from({ length: 132 }, (_, at) => `password ${at}`),
  )
  t.is(work.waiting(), 0)
  const again = work.hash('free again')
  finish.shift()?.()
  t.is(typeof (await again), 'string')
})

test('password-work/1: a computation that fails gives its place back', async (t) => {
  let fails = true
  const work = createPasswordWork(entropy, () =>
    fails ? Promise.reject(new Error('no memory')) : Promise.resolve(new Uint8Array(32)),
  )
  for (let count = 0; count < 5; count += 1) await t.throwsAsync(work.hash('password'))
  fails = false
  t.is(typeof (await work.hash('password')), 'string')
})
