import test from 'ava'

import type { LogPosition, LogState } from '#domain/lane'
import { LOOK_AGAIN_MS, logStateOf } from '#src/stream/log-state'

/** A log of two lanes whose ends are these, one row a look; the last row stays. */
function logOf(...rows: readonly (readonly [LogPosition, LogPosition])[]) {
  const pauses: number[] = []
  const log = {
    identity: () => Promise.resolve('log'),
    bounds: (lane: number) => {
      const row = rows[Math.min(pauses.length, rows.length - 1)]
      return Promise.resolve({ first: 1, last: row?.[lane] ?? 0 })
    },
  }
  const pause = async (delayMs: number): Promise<void> => void pauses.push(delayMs)
  return { log, pause, pauses }
}

const APPLIED = [
  { lane: 0, position: 5 },
  { lane: 1, position: 7 },
]

const ends = async (state: LogState): Promise<readonly LogPosition[]> =>
  (await state.bounds(APPLIED)).map(({ last }) => last)

test('a log tells its name, its lanes and where they end', async (t) => {
  const { log, pause, pauses } = logOf([5, 9])
  const state = await logStateOf(log, 2, pause)
  t.like(state, { identity: 'log', lanes: 2 })
  t.deepEqual(await ends(state), [5, 9])
  t.deepEqual(pauses, [])
})

test('W5: an end that is too early counts only once it stays', async (t) => {
  const late = logOf([5, 6], [5, 6], [5, 7])
  t.deepEqual(await ends(await logStateOf(late.log, 2, late.pause)), [5, 7])
  t.deepEqual(late.pauses, [LOOK_AGAIN_MS, LOOK_AGAIN_MS])

  const lost = logOf([5, 6])
  t.deepEqual(await ends(await logStateOf(lost.log, 2, lost.pause)), [5, 6])
  t.is(lost.pauses.length, 39)
})

test('W5: a log of one server is asked once', async (t) => {
  const { log, pauses } = logOf([5, 6])
  t.deepEqual(await ends(await logStateOf(log, 2)), [5, 6])
  t.deepEqual(pauses, [])
})
