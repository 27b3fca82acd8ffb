// Submissions that wait because the database refuses the rows of their channel. (W6)

import type { ChannelId } from '#domain/identity'
import type { Unparked, Waiting } from '#domain/parked'
import type { Database } from '#src/store/jobs/database'
import type { Numbered } from '#src/store/dialect'
import type { ParkedRow } from '#src/store/entities/lanes'
import type { RowsStatement } from '#src/store/jobs/executor'

const URGENT = { isUrgent: true }

/** The number of waiting submissions by channel, for a lane. */
export function parkedIn(
  database: Database,
  lane: number,
): Promise<ReadonlyMap<ChannelId, number>> {
  return database.read(async (executor) => {
    const rows = await executor.all<{ channelId: ChannelId; waiting: number }>(
      `SELECT channel_id AS channelId, count(*) AS waiting FROM parked_submissions
        WHERE lane = ? GROUP BY channel_id`,
      [lane],
    )
    return new Map(rows.map(({ channelId, waiting }) => [channelId, waiting]))
  }, URGENT)
}

/** The oldest waiting submissions of a channel. */
export function waitingFor(
  database: Database,
  channelId: ChannelId,
  max: number,
): Promise<readonly Waiting[]> {
  return database.read(async (executor) => {
    const rows = await executor.all<Pick<ParkedRow, 'position' | 'item' | 'payload'> & Numbered>(
      `SELECT id, position, item, payload FROM parked_submissions
          WHERE channel_id = ? ORDER BY id LIMIT ?`,
      [channelId, max],
    )
    return rows.map(({ item, ...row }) => ({ ...row, index: item }))
  }, URGENT)
}

/** True when any channel of any lane is parked. */
export async function isAnyParked(database: Database): Promise<boolean> {
  const sql = 'SELECT id FROM parked_submissions ORDER BY channel_id, id LIMIT 1'
  return (await database.first(sql)) !== undefined
}

/**
 * The statements that take applied submissions out of the table, and their records, which the turn
 * writes anew.
 */
export function* unpark({ channelId, throughId, opIds }: Unparked): Generator<RowsStatement> {
  yield {
    sql: 'DELETE FROM parked_submissions WHERE channel_id = ? AND id <= ?',
    rows: 1,
    values: [channelId, throughId],
  }
  for (const opId of opIds) {
    yield { sql: 'DELETE FROM operations WHERE op_id = ?', rows: 1, values: [opId] }
  }
}
