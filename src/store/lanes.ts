// Which log this database follows, who applies its lanes, and how far they are applied.
//
// Invariants:
//   W2. A lane moves only from the place and under the epoch that its owner knows; a commit that
//       finds another of either writes nothing at all.
//   W5. The log and the number of lanes are bound at the first start; others are refused from then
//       on, and so is a log that ends before the place up to which it was applied.

import { LogMismatch, positionOf } from '#domain/lane'
import type { LanePlace, Lease, LogPosition, LogStanding } from '#domain/lane'
import type { LaneMove } from '#domain/store-ports'
import type { Database, Session } from './database.ts'

const LOG = 'log'
const LANES = 'lanes'
const LANES_MAX = 1_024

/** Binds the database to a log, or throws LogMismatch with a sentence that says what to do. (W5) */
export function bindLog(database: Database, { identity, ends }: LogStanding): Promise<void> {
  const lanes = ends.length
  return database.durable(async (session) => {
    const boundLanes = await factFor(session, LANES, String(lanes))
    if (boundLanes !== String(lanes)) {
      throw new LogMismatch(
        `the database was made with ${boundLanes} lanes and SERVICE_LANES is ${lanes}: ` +
          `set SERVICE_LANES to ${boundLanes}, which is fixed for the life of a database`,
      )
    }
    const boundLog = await factFor(session, LOG, identity)
    if (boundLog !== identity) {
      throw new LogMismatch(
        `the database follows the log ${boundLog} and was given the log ${identity}: ` +
          'connect it to its own log, or start with an empty database',
      )
    }
    await refuseLostEntries(session, ends)
  })
}

async function refuseLostEntries(session: Session, ends: readonly LogPosition[]): Promise<void> {
  const applied = await session.all<{ lane: number; place: LanePlace }>(
    'SELECT lane, place FROM lanes WHERE lane < ?',
    [LANES_MAX],
  )
  for (const { lane, place } of applied) {
    const end = ends[lane] ?? 0
    if (positionOf(place) <= end) continue
    throw new LogMismatch(
      `the log of lane ${lane} ends at ${end} and the database has applied it up to ` +
        `${positionOf(place)}: the log has lost entries or is an older copy; ` +
        'restore both from the same moment',
    )
  }
}

/** What the database knows under a name; the first who asks decides it. */
export async function factFor(session: Session, name: string, first: string): Promise<string> {
  const { dialect } = session
  await session.run(
    `INSERT INTO gateway_meta (name, value) VALUES (?, ?) ${dialect.onDuplicate(['name'], [])}`,
    [name, first],
  )
  const row = await session.first<{ value: string }>(
    'SELECT value FROM gateway_meta WHERE name = ?',
    [name],
  )
  return row?.value ?? first
}

export function takeLane(
  database: Database,
  { lane, epoch }: Lease,
): Promise<LanePlace | 'fenced'> {
  return database.durable(async (session) => {
    const { dialect } = session
    const held = await session.first<{ epoch: number; place: LanePlace }>(
      `SELECT epoch, place FROM lanes WHERE lane = ?${dialect.forUpdate}`,
      [lane],
    )
    if (held !== undefined && held.epoch > epoch) return 'fenced' // W2
    await session.run(
      `INSERT INTO lanes (lane, epoch, place) VALUES (?, ?, 0)
        ${dialect.onDuplicate(['lane'], ['epoch'])}`,
      [lane, epoch],
    )
    return held?.place ?? 0
  })
}

export function lastEpoch(database: Database): Promise<number> {
  return database.read(async (session) => {
    const row = await session.first<{ epoch: number | null }>(
      'SELECT max(epoch) AS epoch FROM lanes',
    )
    return row?.epoch ?? 0
  })
}

/** Moves lanes; gives those that did not stand where their owner thought. (W2) */
export async function moveLanes(session: Session, moves: readonly LaneMove[]): Promise<number[]> {
  const fenced: number[] = []
  for (const { lane, epoch, from, to } of moves) {
    const { affected } = await session.run(
      'UPDATE lanes SET place = ? WHERE lane = ? AND epoch = ? AND place = ?',
      [to, lane, epoch, from],
    )
    if (affected !== 1) fenced.push(lane)
  }
  return fenced
}
