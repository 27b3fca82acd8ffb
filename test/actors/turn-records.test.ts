// turn-records/1, turn-records/2: which operations share a record.

import test from 'ava'

import { recordsOf } from '#actors/turn-records'
import type { Item } from '#actors/turn-item'
import type { Submission } from '#domain/submission'
import { operationOf, waitingOperationOf } from '#machines/decide'
import { event, message, thing } from '#test/support/submissions'

const itemsOf = (batches: readonly (readonly Submission[])[]): readonly Item[] =>
  batches.flatMap((submissions, position) =>
    submissions.map((submission, index) => ({
      lane: 0,
      position,
      index,
      placeAfter: position,
      submission,
    })),
  )

test('turn-records/1: operations that ended at once are told by batch, in the order of the log', (t) => {
  const [one, two, three] = [thing('update', 'a'), message(), thing('update', 'b')]
  const items = itemsOf([[one, two], [three]])
  const decided = [three, one, two].map((each) => operationOf(each))
  const { operations, batches } = recordsOf({ items }, decided)
  t.deepEqual(operations, [])
  t.deepEqual(
    batches.map((batch) => batch.map(({ opId }) => opId)),
    [[one.opId, two.opId], [three.opId]],
  )
})

const ALONE: readonly [why: string, submission: Submission, end: typeof operationOf][] = [
  ['was refused', thing('update', 'a'), (each) => operationOf(each, 'thing_deleted')],
  ['waits with its channel', thing('update', 'a'), waitingOperationOf],
  ['has an op_id of a client', message({ opId: 'mine', claims: true }), operationOf],
  [
    'has an op_id of a client in the form of the gateway',
    message({ opId: message().opId, claims: true }),
    operationOf,
  ],
  ['has an op_id of another time', message({ opId: message().opId, acceptedAt: 7 }), operationOf],
]
for (const [why, submission, end] of ALONE) {
  test(`turn-records/1: an operation that ${why} has a record of its own`, (t) => {
    const beside = message()
    const items = itemsOf([[submission, beside]])
    const { operations, batches } = recordsOf({ items }, [end(submission), operationOf(beside)])
    t.deepEqual(operations, [end(submission)])
    t.deepEqual(batches, [[operationOf(beside)]])
  })
}

test('turn-records/2: what rules decided has a record apart from the batch that caused it', (t) => {
  const [one, two, ofRule] = [thing('update', 'a'), thing('update', 'b'), event('create', 'warm')]
  const { operations, batches } = recordsOf(
    { items: itemsOf([[one], [two]]) },
    [one, ofRule, two].map((each) => operationOf(each)),
  )
  t.deepEqual(operations, [])
  t.deepEqual(batches, [[operationOf(one)], [operationOf(two)], [operationOf(ofRule)]])
})

test('turn-records/1: all have one in a turn that was tried before', (t) => {
  const one = message()
  const turn = { items: itemsOf([[one]]), isCareful: true } as const
  const { operations, batches } = recordsOf(turn, [operationOf(one)])
  t.deepEqual([operations, batches], [[operationOf(one)], []])
})

for (const isTriedAgain of [false, true]) {
  const when = isTriedAgain ? ', also in a turn that was tried before' : ''
  test(`turn-records/3: updates of Things that were sent at once leave no record${when}`, (t) => {
    const update = thing('update', 'a')
    const [other, refused, waits] = [message(), thing('update', 'b'), thing('update', 'c')]
    const [created, closed] = [thing('create', 'd'), event('close', 'e')]
    const items = itemsOf([[update, other, refused, waits, created, closed]])
    const own = [operationOf(refused, 'thing_deleted'), waitingOperationOf(waits)]
    const ofBatch = [other, created, closed].map((each) => operationOf(each))
    const tried = isTriedAgain ? ({ isCareful: true } as const) : {}
    const turn = { items, leavesUpdates: true, ...tried } as const
    const records = recordsOf(turn, [operationOf(update), ...own, ...ofBatch])
    t.deepEqual(records.unrecorded, [operationOf(update)])
    t.deepEqual(records.operations, isTriedAgain ? [...own, ...ofBatch] : own)
    t.deepEqual(records.batches, isTriedAgain ? [] : [ofBatch])
  })
}
