import test from 'ava'

import type { LogPosition, LogState } from '#domain/lane'
import { CHECK_PAUSE_MS, logStateOf } from '#src/stream/log-state'

/** Makes a log of two lanes that gives one row of ends at each check; the last row stays. */
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

test('the state of a log has its name, its lanes and their ends', async (t) => {
  const { log, pause, pauses } = logOf([5, 9])
  const state = await logStateOf(log, 2, pause)
  t.like(state, { identity: 'log', lanes: 2 })
  t.deepEqual(await ends(state), [5, 9])
  t.deepEqual(pauses, [])
})

test('W5: the state has an end that is too early only if that stays', async (t) => {
  const late = logOf([5, 6], [5, 6], [5, 7])
  t.deepEqual(await ends(await logStateOf(late.log, 2, late.pause)), [5, 7])
  t.deepEqual(late.pauses, [CHECK_PAUSE_MS, CHECK_PAUSE_MS])

  const lost = logOf([5, 6])
  t.deepEqual(await ends(await logStateOf(lost.log, 2, lost.pause)), [5, 6])
  t.is(lost.pauses.length, 39)
})

test('W5: the state of a log on one server needs one read', async (t) => {
  const { log, pauses } = logOf([5, 6])
  t.deepEqual(await ends(await logStateOf(log, 2)), [5, 6])
  t.deepEqual(pauses, [])
})
