import test from 'ava'
import * as fc from 'fast-check'

import { operationIdFrom } from '#domain/identity'
import type { OperationId } from '#domain/identity'
import type { Submission } from '#domain/submission'
import { Unapplied, factsOf } from '#src/stream/unapplied'
import { acceptedOperation, event, message, opId, thing } from '#test/support/submissions'

const NOW = 1_763_684_000_123
const hexOf = (number: number): string => number.toString(16).padStart(32, '0')
let made = 0

/** Makes a submission with an op_id from the gateway. */
function own(acceptedAt: number): Submission {
  made += 1
  const id = operationIdFrom(acceptedAt, hexOf(made))
  return thing('update', 'pump', { opId: id, acceptedAt })
}

/** Makes a Message whose op_id its client chose. */
const claimed = (id: string, acceptedAt: number): Submission =>
  message({ opId: id, acceptedAt, claims: true })

/** Gives a letter for each submission: f when the index finds it. */
const found = (unapplied: Unapplied, submissions: readonly Submission[]): string =>
  submissions.map(({ opId: id }) => (unapplied.find(id)?.opId === id ? 'f' : '-')).join('')

const valuesOf = ({ channelId, model, entityId, acceptedAt }: Submission) => [
  channelId,
  model,
  entityId,
  acceptedAt,
]

const LANES = 3

test('a search by op_id finds the facts of an operation, whoever made the op_id', (t) => {
  const unapplied = new Unapplied(LANES)
  const mine = operationIdFrom(NOW, hexOf(0xabc))
  const submissions = [
    event('create', 'e-1', { opId: mine, acceptedAt: NOW }),
    claimed('order-1', NOW + 1),
  ]
  unapplied.remember(1, 1, submissions.map(factsOf))
  for (const submission of submissions) {
    t.deepEqual(unapplied.find(submission.opId), acceptedOperation(submission))
  }
  t.is(unapplied.size, 2)
  for (const other of [operationIdFrom(NOW, hexOf(0xabd)), opId('order-2'), opId('order')]) {
    t.is(unapplied.find(other), undefined, other)
  }
})

test('a notice removes applied operations with either kind of op_id and keeps later ones', (t) => {
  const unapplied = new Unapplied(LANES)
  const [first, second, third] = [
    [own(NOW), claimed('a', NOW), own(NOW + 1)],
    [claimed('b', NOW), own(NOW)],
    [own(NOW), claimed('c', NOW)],
  ] as const
  unapplied.remember(0, 3, first)
  unapplied.remember(0, 5, second)
  unapplied.remember(1, 3, third)
  t.is(unapplied.size, 7)
  unapplied.applied(0, 4)
  t.is(found(unapplied, [...first, ...second, ...third]), '---ffff')
  t.is(unapplied.size, 4)
  unapplied.applied(0, 5)
  unapplied.applied(1, 3)
  t.is(found(unapplied, [...second, ...third]), '----')
  t.is(unapplied.size, 0)
})

test('unapplied/1: a search distinguishes batches of the same millisecond', (t) => {
  const unapplied = new Unapplied(LANES)
  const batches = [[own(NOW), own(NOW)], [own(NOW)], [own(NOW), own(NOW)]] as const
  unapplied.remember(0, 1, batches[0])
  unapplied.remember(0, 2, batches[1])
  unapplied.remember(2, 1, batches[2])
  t.is(found(unapplied, batches.flat()), 'fffff')
  unapplied.applied(0, 1)
  t.is(found(unapplied, batches.flat()), '--fff')
})

test('unapplied/1: a search finds every operation after the clock went back', (t) => {
  const unapplied = new Unapplied(LANES)
  const batches = [
    [own(NOW), own(NOW - 5_000), own(NOW - 2_000)],
    [own(NOW - 9_000), own(NOW + 1), own(NOW - 4_000)],
    [own(NOW - 7_000)],
  ] as const
  for (const [at, batch] of batches.entries()) unapplied.remember(0, at + 1, batch)
  t.is(found(unapplied, batches.flat()), 'fffffff')
})

test('unapplied/1: a search finds each of many batches until its notice, whatever the clock does', (t) => {
  const unapplied = new Unapplied(LANES)
  // The clock goes forwards, then back by more than all of that, and forwards again.
  const submissions = Array.from({ length: 300 }, (_, at) =>
    at % 7 === 0 ? claimed(`c-${at}`, NOW) : own(NOW + 10 * at - (at >= 100 ? 5_000 : 0)),
  )
  for (const [at, each] of submissions.entries()) unapplied.remember(1, at + 1, [each])
  for (const applied of [0, 1, 63, 64, 65, 100, 128, 129, 299, 300]) {
    unapplied.applied(1, applied)
    const expected = '-'.repeat(applied) + 'f'.repeat(300 - applied)
    t.is(found(unapplied, submissions), expected)
    t.is(unapplied.size, 300 - applied)
  }
  unapplied.remember(1, 301, [own(NOW)])
  t.is(unapplied.size, 1)
})

test('unapplied/1: a search finds an op_id that a client chose in the form of the gateway', (t) => {
  const unapplied = new Unapplied(LANES)
  const texts = [NOW - 86_400_000, NOW - 1, NOW, NOW + 1, 0].map(
    (time) => operationIdFrom(time, hexOf(7)) as string,
  )
  // These only begin like an op_id of the gateway, with the time of acceptance or another time.
  texts.push(`${NOW.toString(16).padStart(13, '0')}-mine`, '0000000000000-')
  const submissions = texts.map((text) => claimed(text, NOW))
  unapplied.remember(0, 1, [...submissions, own(NOW)])
  t.is(found(unapplied, submissions), 'fffffff')
  t.is(unapplied.size, submissions.length + 1)
  unapplied.applied(0, 1)
  t.is(found(unapplied, submissions), '-------')
  t.is(unapplied.size, 0)
})

test('a Message that a client sent twice is one operation, which ends with the first', (t) => {
  for (const text of ['order-1', operationIdFrom(NOW, hexOf(7))]) {
    const unapplied = new Unapplied(LANES)
    const submission = claimed(text, NOW)
    unapplied.remember(0, 1, [submission])
    unapplied.remember(0, 2, [submission])
    t.is(unapplied.size, 1)
    unapplied.applied(0, 1)
    t.is(unapplied.find(submission.opId), undefined)
    t.is(unapplied.size, 0)
  }
})

test('a search marks a repeat that may be applied already', (t) => {
  const unapplied = new Unapplied(LANES)
  const submission = message({ opId: 'order-1', acceptedAt: NOW, claims: true })
  unapplied.remember(0, 1, [submission])
  t.is(unapplied.find(submission.opId)?.isRepeat, undefined)
  unapplied.applied(0, 1)
  unapplied.remember(0, 2, [{ ...factsOf(submission), isRepeat: true }])
  t.like(unapplied.find(submission.opId), { status: 'accepted', isRepeat: true })
})

test('unapplied/2: the index ignores a batch that is applied already', (t) => {
  const unapplied = new Unapplied(LANES)
  unapplied.applied(0, 2)
  const [before, at, behind] = [
    [own(NOW), claimed('a', NOW)],
    [own(NOW), claimed('b', NOW)],
    [own(NOW), claimed('c', NOW)],
  ] as const
  unapplied.remember(0, 1, before)
  unapplied.remember(0, 2, at)
  t.is(unapplied.size, 0)
  unapplied.applied(0, 1) // An older notice changes nothing.
  unapplied.remember(0, 2, at)
  t.is(unapplied.size, 0)
  unapplied.remember(0, 3, behind)
  t.is(found(unapplied, [...before, ...at, ...behind]), '----ff')
})

test('the index ignores batches and notices of a lane that does not exist', (t) => {
  const unapplied = new Unapplied(LANES)
  unapplied.remember(0, 1, [own(NOW)])
  unapplied.remember(LANES, 1, [own(NOW)])
  unapplied.applied(LANES, 9)
  t.is(unapplied.size, 1)
})

test('W7: the facts of a submission leave its content out', (t) => {
  for (const submission of [own(NOW), claimed('a', NOW), event('create', 'e')]) {
    const { opId: _, channelId, model, entityId, acceptedAt, ...rest } = factsOf(submission)
    t.deepEqual([channelId, model, entityId, acceptedAt], valuesOf(submission))
    t.deepEqual(rest, model === 'message' ? { claimed: true } : {})
  }
})

test('a search finds the same operations as a list of all unapplied ones', (t) => {
  const time = fc.integer({ min: NOW - 3, max: NOW + 3 })
  const id = fc.oneof(
    time.map((ms): string => operationIdFrom(ms, hexOf(ms % 2))),
    fc.constantFrom('a', 'b', `${NOW.toString(16).padStart(13, '0')}-x`),
  )
  const step = fc.oneof(
    fc.record({
      lane: fc.nat(LANES - 1),
      batch: fc.array(fc.record({ id: fc.option(id), at: time }), { minLength: 1, maxLength: 4 }),
    }),
    fc.record({ lane: fc.nat(LANES - 1), applied: fc.nat(6) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const unapplied = new Unapplied(LANES)
      const kept: { lane: number; position: number; opId: OperationId }[] = []
      const seen = new Set<string>()
      const applied = Array.from({ length: LANES }, () => 0)
      for (const [at, each] of steps.entries()) {
        const { lane } = each
        if ('batch' in each) {
          const batch = each.batch
            .map((one) => (one.id === null ? own(one.at) : claimed(one.id, one.at)))
            .filter((one) => !seen.has(one.opId) && seen.add(one.opId))
          unapplied.remember(lane, at + 1, batch)
          const position = at + 1
          if (position <= (applied[lane] ?? 0)) continue
          kept.push(...batch.map((one) => ({ lane, position, opId: one.opId })))
        } else {
          const position = Math.max(applied[lane] ?? 0, each.applied)
          applied[lane] = position
          unapplied.applied(lane, each.applied)
          const left = kept.filter((one) => one.lane !== lane || one.position > position)
          kept.splice(0, kept.length, ...left)
        }
        const names = new Set<string>(kept.map((one) => one.opId))
        t.is(unapplied.size, names.size)
        for (const text of seen) t.is(unapplied.find(opId(text)) !== undefined, names.has(text))
      }
    }),
    { numRuns: 300 },
  )
})
