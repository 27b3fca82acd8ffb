// turn-records/1, turn-records/2: which operations share a record.

import test from 'ava'

import { TurnRecords } from '#actors/turn-records'
import type { Item, Turn } from '#actors/turn-item'
import type { Submission } from '#domain/submission'
import type { Operation } from '#domain/operation'
import { operationOf } from '#machines/decide'
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

type Ends = (submission: Submission) => Operation

/** The records of items, decided in their order, and of what followed from them. */
function recordsOf(
  items: readonly Item[],
  {
    end = operationOf,
    caused = [],
    ...turn
  }: Partial<Turn> & { readonly end?: Ends; readonly caused?: readonly Submission[] } = {},
): TurnRecords {
  const records = new TurnRecords(turn, undefined, undefined)
  for (const item of items) {
    const submission = item.submission as Submission
    records.add(item, submission, end(submission))
  }
  records.caused(caused.map((one) => operationOf(one)))
  return records
}

test('turn-records/1: operations that ended at once are told by batch, in the order of the log', (t) => {
  const [one, two, three] = [thing('update', 'a'), message(), thing('update', 'b')]
  const items = itemsOf([[one, two], [three]])
  const { operations, batches } = recordsOf(items)
  t.deepEqual(operations, [])
  t.deepEqual(
    batches.map((batch) => batch.map(({ opId }) => opId)),
    [[one.opId, two.opId], [three.opId]],
  )
})

const ALONE: readonly [why: string, submission: Submission, end: typeof operationOf][] = [
  ['was refused', thing('update', 'a'), (each) => operationOf(each, 'thing_deleted')],
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
    const { operations, batches } = recordsOf(items, {
      end: (each) => (each === submission ? end(each) : operationOf(each)),
    })
    t.deepEqual(operations, [end(submission)])
    t.deepEqual(batches, [[operationOf(beside)]])
  })
}

test('turn-records/2: what rules decided has a record apart from the batch that caused it', (t) => {
  const [one, two, ofRule] = [thing('update', 'a'), thing('update', 'b'), event('create', 'warm')]
  const { operations, batches } = recordsOf(itemsOf([[one], [two]]), { caused: [ofRule] })
  t.deepEqual(operations, [])
  t.deepEqual(batches, [[operationOf(one)], [operationOf(two)], [operationOf(ofRule)]])
})

test('turn-records/1: all have one in a turn that was tried before', (t) => {
  const one = message()
  const { operations, batches } = recordsOf(itemsOf([[one]]), { isCareful: true })
  t.deepEqual([operations, batches], [[operationOf(one)], []])
})

for (const isTriedAgain of [false, true]) {
  const when = isTriedAgain ? ', also in a turn that was tried before' : ''
  test(`turn-records/3: updates of Things that were sent at once leave no record${when}`, (t) => {
    const update = thing('update', 'a')
    const [other, refused] = [message(), thing('update', 'b')]
    const [created, closed] = [thing('create', 'd'), event('close', 'e')]
    const items = itemsOf([[update, other, refused, created, closed]])
    const end: Ends = (each) => operationOf(each, each === refused ? 'thing_deleted' : undefined)
    const tried = isTriedAgain ? ({ isCareful: true } as const) : {}
    const records = recordsOf(items, { leavesUpdates: true, end, ...tried })
    const ofBatch = [other, created, closed].map(end)
    t.deepEqual(records.unrecorded, [end(update)])
    const own = isTriedAgain ? [other, refused, created, closed] : [refused]
    t.deepEqual(records.operations, own.map(end))
    t.deepEqual(records.batches, isTriedAgain ? [] : [ofBatch])
  })
}
