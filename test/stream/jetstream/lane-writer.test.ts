// Method: a fake network holds back attempts and answers. The test delivers an attempt late, twice
// or never, and compares the writer's answers with the batches that the stream holds at the end.

import test from 'ava'

import type { Appended } from '#domain/lane'
import type { FakeTime } from '#test/support/fake-timers'
import { TIMEOUT_MS, heldWriter, settled } from '#test/support/held-lane'
import type { Attempt, HeldSubject } from '#test/support/held-lane'
import { seeded } from '#test/support/random'

const OUTCOME_MS = 9000
const TIMEOUT = new Error('timeout')

test('lane-writer/1: a writer finds a batch in the log whose confirmation was lost', async (t) => {
  const { subject, append, pass, outcomes, meter } = heldWriter()
  append('a')
  const [first] = subject.attempts
  if (first === undefined) return t.fail()
  subject.deliver(first, false)
  first.fail(TIMEOUT)
  await pass(100)
  subject.deliver(subject.attempts[1] ?? first, true)
  await settled()
  t.deepEqual(subject.stored, ['a'])
  t.is(outcomes.get('a'), 'appended')
  t.is(meter.total('stream_appends_retried_total'), 1)
})

test('lane-writer/4: a leader that lags behind stores one of all attempts of a batch', async (t) => {
  const { subject, append, pass, outcomes } = heldWriter()
  subject.isBehind = true
  append('a')
  subject.attempts[0]?.fail(TIMEOUT)
  await pass(100)
  for (const attempt of subject.attempts) subject.deliver(attempt, true)
  await settled()
  t.is(subject.attempts.length, 2)
  t.deepEqual(subject.stored, ['a'])
  append('b')
  for (const attempt of subject.attempts.slice(2)) subject.deliver(attempt, true)
  await settled()
  t.deepEqual(subject.stored, ['a', 'b'])
  t.deepEqual([...outcomes.values()], ['appended', 'appended'])
})

test('lane-writer/2: a writer sends a batch only after the answer to the one before', async (t) => {
  const { subject, append, outcomes } = heldWriter()
  for (const text of ['a', 'b']) append(text)
  t.deepEqual(
    subject.attempts.map(({ text }) => text),
    ['a'],
  )
  for (let number = 0; number < 2; number += 1) {
    const attempt = subject.attempts[number]
    if (attempt !== undefined) subject.deliver(attempt, true)
    await settled()
  }
  t.deepEqual(subject.stored, ['a', 'b'])
  t.deepEqual([...outcomes.values()], ['appended', 'appended'])
})

test('lane-writer/3: a writer refuses in time a batch that reached no server, and those behind it', async (t) => {
  const { subject, append, pass, outcomes } = heldWriter()
  subject.canSend = false
  for (const text of ['a', 'b']) append(text)
  await pass(TIMEOUT_MS - 50)
  t.is(outcomes.size, 0)
  await pass(100)
  t.deepEqual([...outcomes.values()], ['refused', 'refused'])
})

test('lane-writer/3: a batch that a server may have stored is unknown and never refused', async (t) => {
  const { subject, append, pass, outcomes, meter } = heldWriter()
  append('a')
  append('b')
  subject.attempts[0]?.fail(TIMEOUT)
  subject.canSend = false
  await pass(OUTCOME_MS - 50)
  t.deepEqual([...outcomes], [['b', 'refused']], 'the writer never sent it')
  await pass(100)
  t.is(outcomes.get('a'), 'unknown')
  t.is(meter.total('stream_appends_unknown_total'), 1)
  t.is(meter.total('stream_appends_found_late_total'), 0)
})

test('lane-writer/3: a writer counts once a batch of unknown outcome that it finds in the log', async (t) => {
  const { subject, late, appendNext, pass, meter } = await withUnknown()
  subject.deliver(late, false)
  await pass(2500)
  t.is(meter.total('stream_appends_found_late_total'), 1)
  await appendNext('b')
  t.deepEqual(subject.stored, ['a', 'b'])
  t.is(meter.total('stream_appends_found_late_total'), 1)
})

test('lane-writer/1: the stream never stores a batch of unknown outcome behind a later batch', async (t) => {
  const { subject, late, appendNext, pass, outcomes, meter } = await withUnknown()
  await appendNext('b')
  subject.deliver(late, false)
  await pass(2000)
  t.deepEqual(subject.stored, ['b'])
  t.deepEqual([...outcomes.values()], ['unknown', 'appended'])
  t.is(meter.total('stream_appends_found_late_total'), 0)
})

for (const [name, isLost, kind] of [
  ['a writer repeats a batch', false, 'appended'],
  ['a batch with an unanswered attempt is unknown: the purge may include it', true, 'unknown'],
] as const) {
  test(`lane-writer/3: after a purge ${name}`, async (t) => {
    const { subject, append, pass, outcomes } = heldWriter()
    for (const text of ['a', 'b']) append(text)
    const deliver = async (number: number): Promise<void> => {
      const attempt = subject.attempts[number]
      if (attempt !== undefined) subject.deliver(attempt, true)
      await pass(100)
    }
    await deliver(0)
    if (isLost) subject.attempts[1]?.fail(TIMEOUT)
    await pass(100)
    subject.isPurged = true
    await deliver(isLost ? 2 : 1)
    if (!isLost) await deliver(2)
    t.is(outcomes.get('b'), kind)
  })
}

test('lane-writer/3: a writer that closes refuses unsent batches; the one in flight is unknown', async (t) => {
  const { subject, append, writer, outcomes } = heldWriter()
  for (const text of ['a', 'b']) append(text)
  t.is(subject.attempts.length, 1)
  writer.close()
  await settled()
  t.deepEqual([...outcomes.values()], ['unknown', 'refused'])
})

for (let seed = 1; seed <= 60; seed += 1) {
  test(`lane-writer/1, lane-writer/2, lane-writer/3: answers are true whatever the network does (seed ${seed})`, async (t) => {
    const { subject, append, time, outcomes } = heldWriter()
    const random = seeded(seed)
    const floating = new Set<Attempt>()
    let seen = 0
    let appends = 0
    for (let step = 0; step < 600; step += 1) {
      if (random(8) === 0) append(`n${(appends += 1)}`)
      if (random(40) === 0) subject.canSend = !subject.canSend
      await settled()
      for (; seen < subject.attempts.length; seen += 1) {
        const attempt = subject.attempts[seen]
        if (attempt !== undefined) floating.add(attempt)
      }
      for (const attempt of floating) {
        if (random(6) > 0) continue
        if (random(3) > 0) subject.deliver(attempt, random(2) === 0)
        if (random(3) > 0) floating.delete(attempt)
        attempt.fail(TIMEOUT) // An earlier answer wins.
      }
      time.advance(50 + random(200))
    }
    subject.canSend = true
    await until(subject, { time, isOver: () => outcomes.size === appends })
    const of = (kind: Appended['kind']) =>
      [...outcomes].flatMap(([text, found]) => (found === kind ? [text] : []))
    const inOrder = subject.stored.toSorted((a, b) => Number(a.slice(1)) - Number(b.slice(1)))
    t.deepEqual(subject.stored, inOrder)
    t.is(new Set(subject.stored).size, subject.stored.length)
    for (const text of of('appended')) t.true(subject.stored.includes(text), `${text} was appended`)
    for (const text of of('refused')) t.false(subject.stored.includes(text), `${text} was refused`)
    t.true(of('appended').length > 0)
  })
}

/** A writer whose batch `a` was sent once, in an attempt without an answer; its outcome is unknown. */
async function withUnknown() {
  const rig = heldWriter()
  const { subject, append, pass, outcomes } = rig
  append('a')
  const [late] = subject.attempts
  if (late === undefined) throw new Error('nothing was sent')
  late.fail(TIMEOUT)
  subject.canSend = false
  await pass(OUTCOME_MS + 100)
  if (outcomes.get('a') !== 'unknown') throw new Error('the outcome is known')
  const appendNext = async (text: string): Promise<void> => {
    subject.canSend = true
    append(text)
    subject.deliver(subject.attempts.at(-1) ?? late, true)
    await settled()
  }
  return { ...rig, late, appendNext }
}

/** Delivers and answers every attempt until `isOver`. */
async function until(
  subject: HeldSubject,
  { time, isOver }: { readonly time: FakeTime; readonly isOver: () => boolean },
): Promise<void> {
  for (let step = 0; step < 2000 && !isOver(); step += 1) {
    await settled()
    const attempt = subject.attempts.at(-1)
    if (attempt !== undefined) subject.deliver(attempt, true)
    time.advance(50)
  }
}
