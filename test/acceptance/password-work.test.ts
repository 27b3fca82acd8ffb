import test from 'ava'

import { isFault } from '#domain/fault'
import { createPasswordWork } from '#src/acceptance/password-work'
import type { Derive } from '#src/acceptance/password-work'
import { quickDerive } from '#test/support/acceptance-rig'
import { FakeChannels } from '#test/support/fake-channels'
import { realRuntime } from '#test/support/real-runtime'
import { rounds } from '#test/support/until'

const { entropy } = realRuntime

const workWith = (derive?: Derive, channels = new FakeChannels()) =>
  createPasswordWork({
    entropy,
    salt: (first) => channels.passwordSalt(first),
    ...(derive !== undefined && { derive }),
  })

/** Counts what is computed. */
function counting() {
  const computed: string[] = []
  const derive: Derive = (password, salt, parameters) => {
    computed.push(password)
    return quickDerive(password, salt, parameters)
  }
  return { computed, derive }
}

test('a password matches its own hash and no other; the parameters and the salts are in the text', async (t) => {
  const work = workWith()
  const text = await work.hash('correct horse')
  const other = await work.hash('correct horse')
  if (isFault(text) || isFault(other)) return t.fail()
  t.regex(text, /^scrypt-hmac\$16384\$8\$5\$[\w-]{22}\$[\w-]{22}\$[\w-]{43}$/)
  const [salts, others] = [text.split('$').slice(4), other.split('$').slice(4)]
  t.is(salts[0], others[0], 'the salt of the gateway')
  t.not(salts[1], others[1], 'the salt of the channel')
  t.not(salts[2], others[2], 'nobody sees that both have one password')
  t.is(await work.matches('correct horse', text), true)
  t.is(await work.matches('correct horsf', text), false)
  t.is(await work.matches('correct horse', undefined), false)
})

test('a hash is verified on every node, and by a process that starts anew', async (t) => {
  const channels = new FakeChannels()
  const text = await workWith(quickDerive, channels).hash('correct horse')
  if (isFault(text)) return t.fail()
  const other = workWith(quickDerive, channels)
  t.is(await other.matches('correct horse', text), true)
  const { computed, derive } = counting()
  const third = workWith(derive, channels)
  const mine = await third.hash('correct horse')
  if (isFault(mine)) return t.fail()
  const derived = new Map()
  t.is(await third.matches('correct horse', text, derived), true)
  t.is(await third.matches('correct horse', mine, derived), true)
  t.is(computed.length, 2, 'one to make a hash, and one for both channels')
})

test('password-work/2: a key that a request has computed serves its channels, and no other request', async (t) => {
  const { computed, derive } = counting()
  const work = workWith(derive)
  const texts: string[] = []
  for (let channel = 0; channel < 50; channel += 1) {
    const text = await work.hash('one for all', new Map())
    if (typeof text === 'string') texts.push(text)
  }
  computed.length = 0
  const derived = new Map()
  const matches = texts.map((text) => work.matches('one for all', text, derived))
  t.deepEqual(new Set(await Promise.all(matches)), new Set([true]))
  t.is(await work.matches('one for all', undefined, derived), false)
  t.is(await work.matches('another', texts[0], derived), false)
  t.deepEqual(computed, ['one for all', 'another'])
  await work.matches('one for all', texts[0], new Map())
  await work.matches('one for all', texts[0])
  t.is(computed.length, 4)
})

test('password-work/2: a failed computation is not remembered', async (t) => {
  let fails = true
  const work = workWith((...asked) =>
    fails ? Promise.reject(new Error('no memory')) : quickDerive(...asked),
  )
  const derived = new Map()
  await t.throwsAsync(work.hash('password', derived))
  fails = false
  t.is(typeof (await work.hash('password', derived)), 'string')
})

test('a gateway whose salt could not be read asks for it again', async (t) => {
  const channels = new FakeChannels()
  let fails = true
  const salt = (first: string): Promise<string> =>
    fails ? Promise.reject(new Error('away')) : channels.passwordSalt(first)
  const work = createPasswordWork({ entropy, salt, derive: quickDerive })
  await t.throwsAsync(work.hash('password'))
  fails = false
  t.is(typeof (await work.hash('password')), 'string')
})

test('a stored text of an unknown form is a defect that does not repeat the text', async (t) => {
  const salt = 'A'.repeat(22)
  const proof = 'B'.repeat(43)
  for (const text of [
    'md5$secret',
    `scrypt-hmac$16384$8$1$${salt}$${proof}`,
    `scrypt$16384$8$1$${salt}$${salt}$${proof}`,
    `scrypt$16384$8$1$${salt}$${proof}`,
  ]) {
    const error = await t.throwsAsync(workWith().matches('password', text))
    t.false(error?.message.includes('secret'))
    t.false(error?.message.includes(proof))
  }
})

test('password-work/1: four computations run, 128 wait in order, the next is refused as busy', async (t) => {
  const begun: string[] = []
  const finish: (() => void)[] = []
  const work = workWith(async (password) => {
    begun.push(password)
    await new Promise<void>((resolve) => finish.push(resolve))
    return new Uint8Array(32)
  })
  const answers = Array.from({ length: 132 }, (_, at) => work.hash(`password ${at}`))
  await new Promise<void>((resolve) => setImmediate(resolve))
  t.is(begun.length, 4)
  t.is(work.waiting(), 128)
  t.like(await work.hash('one too many'), { kind: 'fault', code: 'server_busy' })
  for (const goOn = rounds(132); finish.length > 0 && goOn();) {
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
  await new Promise<void>((resolve) => setImmediate(resolve))
  finish.shift()?.()
  t.is(typeof (await again), 'string')
})

test('password-work/1: a computation that fails gives its place back', async (t) => {
  let fails = true
  const work = workWith(() =>
    fails ? Promise.reject(new Error('no memory')) : Promise.resolve(new Uint8Array(32)),
  )
  for (let count = 0; count < 5; count += 1) await t.throwsAsync(work.hash('password'))
  fails = false
  t.is(typeof (await work.hash('password')), 'string')
})

// Made by node:crypto: scrypt with N = 2^14, r = 8, p = 5 and the salt 0102…10, then HMAC-SHA-256.
const VECTOR =
  'scrypt-hmac$16384$8$5$AQIDBAUGBwgJCgsMDQ4PEA$BwcHBwcHBwcHBwcHBwcHBw$XVEWyUORHMWD_VtXvDuZWc0dvaS135buC6jTkGnCcFk'

test('a password has the parameters that OWASP recommends', async (t) => {
  const work = workWith()
  t.is(await work.matches('correct horse', VECTOR), true)
  t.is(await work.matches('correct horsf', VECTOR), false)
  t.false(work.isWeak(VECTOR))
  t.true(work.isWeak(VECTOR.replace('$5$', '$1$')))
})

test('password-work/3: a wrong password costs as much whatever the age of the hash', async (t) => {
  const computed: number[] = []
  const work = workWith((password, salt, parameters) => {
    computed.push(parameters.p)
    return quickDerive(password, salt, parameters)
  })
  const costOf = async (text: string | undefined): Promise<number> => {
    computed.length = 0
    t.is(await work.matches('a wrong one', text), false)
    return computed.reduce((sum, p) => sum + p, 0)
  }
  for (const text of [undefined, VECTOR, VECTOR.replace('$5$', '$1$')]) {
    t.is(await costOf(text), 5, text)
  }
})
