// The log that this database follows, the owners of its lanes, and the places up to which they are
// applied.
//
// Invariants:
//   W2. A lane moves only from the place and under the epoch that its owner knows; a commit that
//       finds another of either writes nothing at all.
//   W5. The log and the number of lanes are bound at the first start; others are refused from then
//       on, and so is a log that does not hold the place up to which it was applied. The places
//       are read first and the bounds after them: other nodes append and apply meanwhile.

import { LANES_MAX, LogMismatch, positionOf } from '#domain/lane'
import type { AppliedTo, LanePlace, Lease, LogBounds, LogState } from '#domain/lane'
import type { LaneMove } from '#domain/store-ports'
import type { Database } from '#src/store/jobs/database'
import type { LaneRow } from '#src/store/entities/lanes'
import type { RowsStatement, Executor } from '#src/store/jobs/executor'

const LOG = 'log'
const LANES = 'lanes'
const LAST_DURABLE = 'settled'
const IDEMPOTENT = { isIdempotent: true }
const URGENT = { isUrgent: true, isIdempotent: true }

/** Binds the database to a log, or throws LogMismatch with a sentence that says what to do. (W5) */
export async function bindLog(
  database: Database,
  { identity, lanes, bounds }: LogState,
): Promise<void> {
  const applied = await database.durable(async (executor) => {
    const boundLanes = await factFor(executor, LANES, String(lanes))
    if (boundLanes !== String(lanes)) {
      throw new LogMismatch(
        `the database was made with ${boundLanes} lanes and SERVICE_LANES is ${lanes}: ` +
          `set SERVICE_LANES to ${boundLanes}, which is fixed for the life of a database`,
      )
    }
    const boundLog = await factFor(executor, LOG, identity)
    if (boundLog !== identity) {
      throw new LogMismatch(
        `the database follows the log ${boundLog} and was given the log ${identity}: ` +
          'connect it to its own log, or start with an empty database',
      )
    }
    return appliedTo(executor)
  }, IDEMPOTENT)
  refuseLostEntries(applied, await bounds(applied))
}

async function appliedTo(executor: Executor): Promise<readonly AppliedTo[]> {
  const rows = await executor.all<{ lane: number; place: LanePlace }>(
    'SELECT lane, place FROM lanes WHERE lane < ?',
    [LANES_MAX],
  )
  return rows.map(({ lane, place }) => ({ lane, position: positionOf(place) }))
}

function refuseLostEntries(applied: readonly AppliedTo[], bounds: readonly LogBounds[]): void {
  for (const { lane, position } of applied) {
    const { first, last } = bounds[lane] ?? { first: 0, last: 0 }
    if (position > last) {
      throw new LogMismatch(
        `the log of lane ${lane} ends at ${last} and the database has applied it up to ` +
          `${position}: the log has lost entries or is an older copy; ` +
          'restore both from the same moment',
      )
    }
    // The log keeps the entry at the applied position: a database that does not find it is an older
    // copy.
    if (position > 0 && first > position) {
      throw new LogMismatch(
        `the log of lane ${lane} begins at ${first} and the database has applied it up to ` +
          `${position}: the batches between were purged as applied, so the database is an older ` +
          'copy; restore a newer one',
      )
    }
  }
}

/**
 * Writes something durably: earlier commits stand in front of it in the same file and reach the
 * disk with it. (W4)
 */
export function writeDurably(database: Database): Promise<void> {
  return database.durable((executor) => setFact(executor, LAST_DURABLE, ''), IDEMPOTENT)
}

/** Keeps a fact under a name; the last caller decides it. */
export async function setFact(executor: Executor, name: string, value: string): Promise<void> {
  const end = executor.dialect.onDuplicate(['name'], ['value'])
  await executor.run(`INSERT INTO gateway_meta (name, value) VALUES (?, ?) ${end}`, [name, value])
}

/** The fact that the database keeps under a name; the first caller decides it. */
export async function factFor(executor: Executor, name: string, first: string): Promise<string> {
  const { dialect } = executor
  await executor.run(
    `INSERT INTO gateway_meta (name, value) VALUES (?, ?) ${dialect.onDuplicate(['name'], [])}`,
    [name, first],
  )
  const row = await executor.first<{ value: string }>(
    'SELECT value FROM gateway_meta WHERE name = ?',
    [name],
  )
  return row?.value ?? first
}

export function takeLane(
  database: Database,
  { lane, epoch }: Lease,
): Promise<LanePlace | 'fenced'> {
  return database.durable(async (executor) => {
    const { forUpdate, onDuplicate } = executor.dialect
    // A missing row cannot be locked: between two owners the later epoch could lose.
    await executor.run(
      `INSERT INTO lanes (lane, epoch, place) VALUES (?, 0, 0)
        ${onDuplicate(['lane'], [])}`,
      [lane],
    )
    const held = await executor.first<Pick<LaneRow, 'epoch' | 'place'>>(
      `SELECT epoch, place FROM lanes WHERE lane = ?${forUpdate}`,
      [lane],
    )
    if (held === undefined || held.epoch > epoch) return 'fenced' // W2
    await executor.run('UPDATE lanes SET epoch = ? WHERE lane = ?', [epoch, lane])
    return held.place
  }, URGENT)
}

export async function lastEpoch(database: Database): Promise<number> {
  const sql = 'SELECT max(epoch) AS epoch FROM lanes'
  const row = await database.first<{ epoch: number | null }>(sql, [], URGENT)
  return row?.epoch ?? 0
}

const MOVE = 'UPDATE lanes SET place = ? WHERE lane = ? AND epoch = ? AND place = ?'

/** Moves each lane that stands at the place which its owner knows; other lanes are fenced. (W2) */
export function* laneMoves(moves: readonly LaneMove[]): Generator<RowsStatement> {
  const inOrder = moves.toSorted((one, other) => one.lane - other.lane)
  for (const { lane, epoch, from, to } of inOrder) {
    yield { sql: MOVE, rows: 1, values: [to, lane, epoch, from], mustChange: 1 }
  }
}

/**
 * The lanes that do not stand at the place which their owner knows. Places and epochs only grow: a
 * reason that fenced a lane before still does.
 */
export function fencedLanes(
  database: Database,
  moves: readonly LaneMove[],
): Promise<readonly number[]> {
  return database.read(async (executor) => {
    const rows = await executor.all<Omit<LaneRow, 'owner'>>(
      'SELECT lane, epoch, place FROM lanes WHERE lane < ?',
      [LANES_MAX],
    )
    const byLane = new Map(rows.map((row) => [row.lane, row]))
    const fenced = moves.filter(({ lane, epoch, from }) => {
      const row = byLane.get(lane)
      return row?.epoch !== epoch || row.place !== from
    })
    return fenced.map(({ lane }) => lane)
  }, URGENT)
}
