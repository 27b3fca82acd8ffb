import test from 'ava'

import { batchRows, operationsIn } from '#src/store/turns/operation-batches'
import { acceptedOperation, thing } from '#test/support/submissions'

const at = (acceptedAt: number) => acceptedOperation(thing('update', 'lamp', { acceptedAt }))

test('operation-batches/3: the rows of a turn come in the order of their keys', (t) => {
  const batches = [[at(7_000), at(30_000)], [at(6_000)], [at(5_500), at(5_000)]]
  const rows = batchRows(batches)
  t.deepEqual(
    rows.map(({ firstOp }) => Number.parseInt(firstOp, 16)),
    [5_000, 6_000, 7_000, 30_000],
  )
  const sent = batches.flat().map((operation) => ({ ...operation, status: 'sent' as const }))
  t.deepEqual(
    rows.flatMap(operationsIn),
    sent.toSorted((one, other) => (one.opId < other.opId ? -1 : 1)),
  )
})
