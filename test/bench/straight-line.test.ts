import test from 'ava'

import { fold, stateOf } from './denominators/straight-line-fold.ts'
import type { Effect, LoggedBatch, Submission } from './denominators/straight-line-fold.ts'
import { Turns } from './denominators/straight-line-turns.ts'

const submission = (op: string, channel: string, attrs: Submission[6]): Submission => [
  op,
  channel,
  'sensor',
  1,
  2,
  'Title',
  attrs,
]

const batchOf = (...submissions: readonly Submission[]): LoggedBatch => ({
  payload: JSON.stringify(submissions),
  count: submissions.length,
})

test('a fold counts seq by channel and rev by thing, and merges attributes', (t) => {
  const made: string[] = []
  const effects: Pick<Effect, 'op' | 'payload'>[] = []
  const turn = [
    submission('op1', 'A', { one: 1, two: 2 }),
    submission('op2', 'A', { two: 3 }),
    submission('op3', 'B', {}),
  ]
  const { applied, changed } = fold(turn, {
    made: (_, id) => made.push(id),
    effect: ({ op, payload }) => effects.push({ op, payload }),
  })
  t.deepEqual(made, ['A', 'B'])
  t.deepEqual(
    effects.map(({ op }) => op),
    ['op1', 'op2', 'op3'],
  )
  t.is(effects[1]?.payload, '{"title":"Title","attrs":{"two":3}}')
  const [first] = [...changed]
  t.like(first, { rev: 2, seq: 2 })
  t.is(first && stateOf(first), '{"title":"Title","attrs":{"one":1,"two":3}}')
  const frames = textsOf(applied.frames, applied.ends)
  t.like(JSON.parse(frames[1] ?? ''), { channel_id: 'A', seq: 2, rev: 2, op_id: 'op2' })
  t.like(JSON.parse(frames[2] ?? ''), { channel_id: 'B', seq: 1, rev: 1, op_id: 'op3' })
})

function textsOf(frames: Uint8Array, ends: Uint32Array): string[] {
  return Array.from(ends, (end, index) =>
    Buffer.from(frames.subarray(ends[index - 1] ?? 0, end)).toString(),
  )
}

test('submissions that come during a turn are the next turn', async (t) => {
  const turns: { readonly size: number; readonly batches: number }[] = []
  const written = Promise.withResolvers<void>()
  const gathered = new Turns((turn, batches) => {
    turns.push({ size: turn.length, batches })
    return turns.length === 1 ? written.promise : undefined
  })
  const thousand = batchOf(...Array.from({ length: 1_000 }, () => submission('op', 'A', {})))
  for (let batch = 0; batch < 6; batch += 1) gathered.add(thousand)
  t.deepEqual(turns, [{ size: 1_000, batches: 1 }])
  written.resolve()
  await written.promise
  await new Promise(setImmediate)
  t.deepEqual(turns.slice(1), [
    { size: 4_000, batches: 4 },
    { size: 1_000, batches: 1 },
  ])
})

test('a single batch that is larger than a turn is a turn', (t) => {
  const sizes: number[] = []
  const gathered = new Turns((turn) => void sizes.push(turn.length))
  gathered.add(batchOf(...Array.from({ length: 5_000 }, () => submission('op', 'A', {}))))
  t.deepEqual(sizes, [5_000])
})
