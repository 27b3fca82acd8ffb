// Goal: the heap of a thread follows its load, and nothing is collected while it works.

import test from 'ava'

import { ofThisThread, returnMemoryWhenQuiet } from '#src/process/heap'

const MIB = 2 ** 20

/** Makes V8 enlarge the young generation: what is new survives for a while. */
function growYoungGeneration(): void {
  let kept: object[] = []
  for (let made = 0; made < 3_000_000; made += 1) {
    kept.push({ made })
    if (kept.length === 100_000) kept = []
  }
}

test('the growth of the heap during a load goes back to the system', async (t) => {
  const heap = ofThisThread()
  await heap.giveBack()
  const before = heap.bytes()
  growYoungGeneration()
  const grown = heap.bytes() - before
  t.true(grown > 4 * MIB, `it grew by ${grown} bytes`)
  await heap.giveBack()
  t.true(heap.bytes() - before < grown / 4)
})

test('a thread that worked has used its time', (t) => {
  const heap = ofThisThread()
  growYoungGeneration()
  t.true(heap.utilization() > 0.5)
})

type Window = readonly [utilization: number, mebibytes: number, isCollected: boolean]

const QUIET_MINUTE: readonly Window[] = Array.from({ length: 11 }, () => [0, 100, false])

const LIVES: readonly (readonly [title: string, windows: readonly Window[]])[] = [
  [
    'after the start, in the first quiet window',
    [
      [0.5, 60, false],
      [0.01, 60, true],
    ],
  ],
  [
    'again when the heap has grown by a quarter',
    [[0, 60, true], ...QUIET_MINUTE, [0, 24, false], [0, 25, true]],
  ],
  ['again after a load', [[0, 60, true], ...QUIET_MINUTE, [0.9, 200, false], [0, 200, true]]],
  ['at most once a minute', [[0, 60, true], ...QUIET_MINUTE, [0, 100, true], [0, 100, false]]],
]

for (const [title, windows] of LIVES) {
  test(`memory is given back: ${title}`, async (t) => {
    let [utilization, bytes, collected] = [0, 0, 0]
    let turn = (): void => t.fail('no window')
    const every = (_: number, window: () => void) => {
      turn = window
      return () => undefined
    }
    const giveBack = async (): Promise<void> => {
      collected += 1
      bytes = 20 * MIB
    }
    returnMemoryWhenQuiet(
      { every },
      { utilization: () => utilization, bytes: () => bytes, giveBack },
    )
    for (const [index, [share, mebibytes, isCollected]] of windows.entries()) {
      ;[utilization, bytes, collected] = [share, mebibytes * MIB, 0]
      turn()
      await Promise.resolve()
      t.is(collected, isCollected ? 1 : 0, `window ${index}`)
    }
  })
}
