// The behaviour of every log. Run by log-contract.test.ts on each of them.

import type { ExecutionContext } from 'ava'

import { isOfChannel } from '#actors/turn-item'
import type { Appended, Batch, LogEntry, LogPosition } from '#domain/lane'
import type { LogReader, LogWriter } from '#domain/ports'
import { encodeBatch, encodeSubmission } from '#src/schemas/batch'
import { until } from '#test/support/gateway'
import { thing } from '#test/support/submissions'

export type AnyLog = LogWriter & LogReader

/** One log with its data, in the hands of a test. */
export interface LogUnderTest {
  /** Opens it, or opens it again after `crash`. */
  open(): Promise<AnyLog>
  /** Takes away, without a farewell, whatever keeps the log's data. */
  crash(): Promise<void>
}

export interface LogLimits {
  readonly bytesMax: number
}

type Make = (t: ExecutionContext, limits: LogLimits) => Promise<LogUnderTest>
type Declare = (title: string, run: (t: ExecutionContext) => Promise<void>) => void

const ROOMY: LogLimits = { bytesMax: 64 * 2 ** 20 }
const FUTURE_MS = 4_000_000_000_000

export function logContract(declare: Declare, make: Make): void {
  const check = (
    title: string,
    run: (t: ExecutionContext, log: LogUnderTest) => Promise<void>,
    limits = ROOMY,
  ): void => declare(title, async (t) => run(t, await make(t, limits)))

  check(
    'entries of a lane are read in the order of their appends, without other lanes',
    async (t, it) => {
      const log = await it.open()
      for (const id of ['a', 'b', 'c']) {
        await appended(log, batchOf(1, [id]))
        await appended(log, batchOf(2, [`other-${id}`]))
      }
      t.deepEqual(idsOf(await readAll(log, 1, 3)), ['a', 'b', 'c'])
    },
  )

  check('reading goes on behind a position, and positions grow', async (t, it) => {
    const log = await it.open()
    const positions: LogPosition[] = []
    for (const id of ['a', 'b', 'c', 'd']) positions.push(await appended(log, batchOf(1, [id])))
    t.deepEqual(
      positions,
      positions.toSorted((a, b) => a - b),
    )
    t.is(new Set(positions).size, 4)
    t.deepEqual(idsOf(await readAll(log, 1, 2, positions[1])), ['c', 'd'])
    t.deepEqual(idsOf(await readAll(log, 1, 4)), ['a', 'b', 'c', 'd'], 'and back again')
  })

  check('a read gives at most so many submissions, but at least one entry', async (t, it) => {
    const log = await it.open()
    for (const id of ['a', 'b', 'c']) await appended(log, batchOf(1, [id, `${id}2`, `${id}3`]))
    await readAll(log, 1, 9)
    t.is((await log.read(1, 0, 1)).length, 1)
    t.is((await log.read(1, 0, 6)).length, 2)
    t.is((await log.read(1, 0, 8)).length, 2)
    t.is((await log.read(1, 0, 9)).length, 3)
  })

  check('W1: what was appended is there after a crash, at the same positions', async (t, it) => {
    const log = await it.open()
    const positions: LogPosition[] = []
    for (let number = 0; number < 50; number += 1) {
      positions.push(await appended(log, batchOf(number % 3, [`n${number}`])))
    }
    await it.crash()
    const again = await it.open()
    for (const lane of [0, 1, 2]) {
      const expected = positions.filter((_, number) => number % 3 === lane)
      const entries = await readAll(again, lane, expected.length)
      t.deepEqual(
        entries.map(({ position }) => position),
        expected,
      )
    }
    const later = await appended(again, batchOf(0, ['later']))
    t.true(later > Math.max(...positions), 'positions go on growing')
  })

  check('W5: a log has one identity for its life, and each log its own', async (t, it) => {
    const identity = await (await it.open()).identity()
    t.regex(identity, /\S/)
    await it.crash()
    t.is(await (await it.open()).identity(), identity)
    const other = await make(t, ROOMY)
    t.not(await (await other.open()).identity(), identity)
  })

  check('the bounds of a lane are its first and its last position', async (t, it) => {
    const log = await it.open()
    t.deepEqual(await log.bounds(1), { first: 0, last: 0 })
    const first = await appended(log, batchOf(1, ['a']))
    await appended(log, batchOf(1, ['b']))
    const last = await appended(log, batchOf(1, ['c']))
    await appended(log, batchOf(2, ['d']))
    t.deepEqual(await log.bounds(1), { first, last })
  })

  check('an append wakes whoever watches its lane, until the watching ends', async (t, it) => {
    const log = await it.open()
    const woken: number[] = []
    const stop = log.watch((lane) => woken.push(lane))
    await log.read(4, 0, 10)
    await appended(log, batchOf(4, ['a']))
    await until(
      () => Promise.resolve(woken),
      (lanes) => lanes.includes(4),
    )
    stop()
    woken.length = 0
    await appended(log, batchOf(4, ['b']))
    await readAll(log, 4, 2)
    t.deepEqual(woken, [])
  })

  check(
    'W4: beyond its byte bound a log refuses, and keeps what it has',
    async (t, it) => {
      const log = await it.open()
      const outcomes: Appended[] = []
      for (let number = 0; number < 40; number += 1) {
        outcomes.push(await log.append(batchOf(1, [`n${number}`], 'x'.repeat(8000))))
      }
      const kept = outcomes.filter(({ kind }) => kind === 'appended')
      const refused = outcomes.filter((outcome) => outcome.kind === 'refused')
      t.true(kept.length > 10 && refused.length > 0)
      t.true(refused.every(({ reason, retryAfterMs }) => reason === 'full' && retryAfterMs > 0))
      t.is((await readAll(log, 1, kept.length)).length, kept.length)
    },
    { bytesMax: 200_000 },
  )

  check('W4: a purge takes what is applied and old, and nothing else', async (t, it) => {
    const log = await it.open()
    const positions: LogPosition[] = []
    for (const id of ['a', 'b', 'c', 'd']) positions.push(await appended(log, batchOf(1, [id])))
    const [, , third = 0, fourth = 0] = positions
    await appended(log, batchOf(2, ['other']))
    t.deepEqual(await log.purge(1, third, 1000), { purged: 0 }, 'all are younger')
    await log.purge(1, third, FUTURE_MS)
    const { first, last } = await log.bounds(1)
    t.is(first, third, 'W5: the entry at the applied position stays')
    t.is(last, fourth)
    t.deepEqual(idsOf(await readAll(log, 1, 1, third)), ['d'])
    t.deepEqual(idsOf(await readAll(log, 2, 1)), ['other'])
  })
}

/** A batch of Thing updates with these ids. */
export function batchOf(lane: number, ids: readonly string[], note = ''): Batch {
  const parts = ids.map((id) => encodeSubmission(thing('update', id, { attrs: { note } })))
  return { lane, count: parts.length, payload: encodeBatch(parts) }
}

export async function appended(log: LogWriter, batch: Batch): Promise<LogPosition> {
  const outcome = await log.append(batch)
  if (outcome.kind === 'appended') return outcome.position
  throw new Error(`an append ended otherwise: ${JSON.stringify(outcome)}`)
}

/** Everything of a lane behind a position, once so many submissions are there. */
export function readAll(
  log: LogReader,
  lane: number,
  submissions: number,
  after: LogPosition = 0,
): Promise<readonly LogEntry[]> {
  return until(
    () => log.read(lane, after, 1_000_000),
    (entries) => idsOf(entries).length >= submissions,
  )
}

export const idsOf = (entries: readonly LogEntry[]): readonly string[] =>
  entries.flatMap(({ submissions }) =>
    submissions.map((submission) =>
      isOfChannel(submission) ? submission.entityId : submission.model,
    ),
  )
