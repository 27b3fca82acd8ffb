// Goal: what is kept is never older than a change that this process was told of.

import test from 'ava'

import { isFault } from '#domain/fault'
import { KeptAnswers } from '#src/acceptance/kept-answers'
import type { Subject } from '#src/acceptance/kept-answers'
import { FakeTime } from '#test/support/fake-timers'
import { channel } from '#test/support/submissions'
import { turn } from '#test/support/until'

const ID = 'an id'
const QUESTION = {}

/** A store whose answer is about the key k of a channel; a test lets go of each read. */
function rig() {
  const time = new FakeTime(0)
  const stored: { value: (Subject & { readonly version: number }) | undefined } = {
    value: { channelId: channel(1), keyId: 'k', version: 1 },
  }
  const held: (() => void)[] = []
  const reads = { count: 0, isHeld: false, isAway: false }
  const answers = new KeptAnswers<Subject & { readonly version: number }, Partial<Subject>>({
    read: async () => {
      reads.count += 1
      const { value } = stored
      if (reads.isHeld) await new Promise<void>((resolve) => held.push(resolve))
      if (reads.isAway) throw new Error('away')
      return value
    },
    bytesOf: () => 1,
    bytesMax: 10,
    askedMax: 10,
    pauseMs: 5_000,
    monotonicMs: time.monotonicMs,
  })
  const find = () => answers.find(ID, QUESTION)
  return { time, stored, held, reads, answers, find }
}

test('kept-answers/2: a comparison that is older than a revocation does not bring the key back', async (t) => {
  const { time, stored, held, reads, answers, find } = rig()
  await find()
  time.advance(60_000)
  reads.isHeld = true
  t.like(find(), { version: 1 })
  stored.value = undefined
  answers.forget({ channelId: channel(1), keyId: 'k' })
  const asked = find()
  for (let count = 0; count < 2; count += 1) {
    held.shift()?.()
    await turn()
  }
  t.is(await asked, undefined)
  t.is(find(), undefined)
  t.is(reads.count, 3)
})

for (const [changes, readsAgain] of [
  [1_000, false],
  [1_001, true],
] as const) {
  test(`kept-answers/2: an answer beside ${changes} changes of others is ${readsAgain ? 'read again' : 'good'}`, async (t) => {
    const { held, reads, answers, find } = rig()
    reads.isHeld = true
    const asked = find()
    for (let change = 0; change < changes; change += 1) {
      answers.forget(
        change % 2 === 0 ? { channelId: channel(2) } : { channelId: channel(1), keyId: 'other' },
      )
    }
    reads.isHeld = false
    held.shift()?.()
    t.like(await asked, { version: 1 })
    t.is(reads.count, readsAgain ? 2 : 1)
  })
}

test('kept-answers/2: one change among a thousand is not missed', async (t) => {
  const { stored, held, reads, answers, find } = rig()
  reads.isHeld = true
  const asked = find()
  answers.forget({ channelId: channel(1), keyId: 'k' })
  for (let change = 1; change < 1_000; change += 1) answers.forget({ channelId: channel(2) })
  stored.value = undefined
  reads.isHeld = false
  held.shift()?.()
  t.is(await asked, undefined)
})

test('kept-answers/2: a loss of notices beside a read makes it read again, whatever was told before', async (t) => {
  const { stored, held, reads, answers, find } = rig()
  for (let change = 0; change < 10; change += 1) answers.forget({ channelId: channel(2) })
  reads.isHeld = true
  const asked = find()
  stored.value = undefined
  answers.recheck()
  reads.isHeld = false
  held.shift()?.()
  t.is(await asked, undefined)
  t.is(reads.count, 2)
})

test('kept-answers/2: what changes with every read is not told, and not kept', async (t) => {
  const { held, reads, answers, find } = rig()
  reads.isHeld = true
  const asked = find()
  for (let count = 0; count < 3; count += 1) {
    await turn()
    answers.forget({ channelId: channel(1) })
    held.shift()?.()
  }
  t.true(isFault(await asked))
  t.is(answers.size, 0)
  t.is(reads.count, 3)
})

test('kept-answers/5: a kept answer stays while the store is away, and is asked for again after a pause', async (t) => {
  const { time, stored, reads, answers, find } = rig()
  await find()
  time.advance(60_000)
  reads.isAway = true
  t.like(await answers.ask(ID, QUESTION), { version: 1 })
  time.advance(4_999)
  t.like(answers.recent(ID), { version: 1 })
  time.advance(1)
  t.is(answers.recent(ID), undefined)
  reads.isAway = false
  stored.value = undefined
  t.like(find(), { version: 1 })
  await turn()
  t.is(find(), undefined)
})

test('kept-answers/5: a comparison that fails after a notice rejects', async (t) => {
  const { time, held, reads, answers, find } = rig()
  await find()
  time.advance(60_000)
  reads.isHeld = true
  const asked = answers.ask(ID, QUESTION)
  reads.isAway = true
  answers.forget({ channelId: channel(1) })
  held.shift()?.()
  await t.throwsAsync(async () => asked)
})
