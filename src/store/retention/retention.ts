// Removes rows past their retention, a few in each call.
//
// Invariants:
//   retention/1. A step looks only at the next rows: the old end of a table in commit order, or a
//     range of an index. Its cost follows the rows that it removes, never those that stay.
//   retention/2. Removing an entry that a device may have yet to see raises the channel's floor in
//     the same transaction, so that catching up can tell the gap. (catch-up/1, catch-up/2)
//   retention/3. A claim and the operation of the same op_id are removed in one transaction.
//       (operations/3)
//   retention/4. A step removes no more rows than it was given. Rows that are removed in pairs need
//     room for a pair.
//   retention/5. No block is removed before its updates count in the tiers, however old it is.
//
// Tables in commit order are nearly in the order of acceptance: an entry of a node whose clock is
// ahead keeps the rows behind it until its own time has come.

import type { Expired, IdleLimits, RetentionLimits, RetentionStore } from '#domain/retention-ports'
import { changeIn, removeById } from '#src/store/statements/bulk'
import type { Database } from '#src/store/jobs/database'
import type { Executor } from '#src/store/jobs/executor'
import { removeDeletedChannel } from './deleted-channels.ts'
import type { TombstoneRow } from '#src/store/entities/entities'
import type { UpdateBlockRow } from '#src/store/entities/feed'
import { removeBindSessions, removeEndedGrants } from '#src/store/assistants/ended-grants'
import { removeCutThings, removeTierPeriods } from '#src/store/tiers/removal'
import { deleteIdleChannels, removeIdleDevices } from './idle.ts'

/** Removes at most `maxRows` rows of one kind and gives how many. (retention/4) */
type Chore = (executor: Executor, before: RetentionLimits, maxRows: number) => Promise<number>

const CHORES: readonly Chore[] = [
  removeClaims,
  removeOperations,
  removalOf('operation_batches', 'last_at', 'operations'),
  // Raises no floor: a device that is behind gets each Thing whole, not its updates.
  removeUpdateBlocks,
  (executor, { tiers }, maxRows) => removeTierPeriods(executor, tiers, maxRows),
  removeCutThings,
  removeFeedEntries,
  removeTombstones,
  removalOf('dead_letters', 'at', 'operations'),
  (executor, before, maxRows) => removeEndedGrants(executor, before.authorization, maxRows),
  (executor, before, maxRows) => removeBindSessions(executor, before.bindSessions, maxRows),
  (executor, before, maxRows) => removeDeletedChannel(executor, before.deletedChannels, maxRows),
]

export class Retention implements RetentionStore {
  readonly #database: Database
  #first = 0

  constructor(database: Database) {
    this.#database = database
  }

  /** Begins each time with the next kind, so that no kind waits behind an inexhaustible one. */
  async step(before: RetentionLimits, maxRows: number): Promise<number> {
    const chores = [...CHORES.slice(this.#first), ...CHORES.slice(0, this.#first)]
    this.#first = (this.#first + 1) % CHORES.length
    let removed = 0
    for (const chore of chores) {
      const left = maxRows - removed
      if (left <= 0) break
      const job = (executor: Executor): Promise<number> => chore(executor, before, left)
      removed += await this.#database.repeatable(job, { isIdempotent: true })
    }
    return removed
  }

  async expire(limits: IdleLimits, maxRows: number): Promise<Expired> {
    const devices = await this.#database.repeatable(
      (executor) => removeIdleDevices(executor, limits, maxRows),
      { isIdempotent: true },
    )
    const channels = await this.#database.repeatable((executor) =>
      deleteIdleChannels(executor, limits, maxRows),
    )
    return { devices, channels }
  }
}

/** retention/3 */
async function removeClaims(
  executor: Executor,
  { operations }: RetentionLimits,
  maxRows: number,
): Promise<number> {
  const expired = await executor.all<{ opId: string }>(
    `SELECT op_id AS opId FROM claims WHERE claimed_at < ? ORDER BY claimed_at LIMIT ?
      ${executor.dialect.forUpdate}`,
    [operations, Math.floor(maxRows / 2)], // retention/4
  )
  return removeOf(executor, ['operations', 'claims'], expired)
}

async function removeOperations(
  executor: Executor,
  { operations }: RetentionLimits,
  maxRows: number,
): Promise<number> {
  const expired = await executor.all<{ opId: string }>(
    `SELECT op_id AS opId FROM operations WHERE accepted_at < ? ORDER BY accepted_at LIMIT ?
      ${executor.dialect.forUpdate}`,
    [operations, maxRows],
  )
  return removeOf(executor, ['operations'], expired)
}

async function removeOf(
  executor: Executor,
  tables: readonly string[],
  expired: readonly { readonly opId: string }[],
): Promise<number> {
  const ids = expired.map(({ opId }) => opId)
  let removed = 0
  for (const table of tables) {
    removed += await changeIn(
      executor,
      ids,
      (list) => `DELETE FROM ${table} WHERE op_id IN (${list})`,
    )
  }
  return removed
}

/** A row at the old end of a table in commit order. */
interface Old {
  readonly id: number
  readonly at: number
}

/**
 * retention/1: the oldest rows up to the first that is not old enough. Exactly these are removed,
 * since a turn that is not committed yet may have written ids in between. (retention/2)
 */
async function oldestOf<Row extends Old>(
  executor: Executor,
  select: string,
  { before, maxRows }: { readonly before: number; readonly maxRows: number },
): Promise<Row[]> {
  const rows = await executor.all<Row>(`${select} ORDER BY id LIMIT ?`, [maxRows])
  const young = rows.findIndex(({ at }) => at >= before)
  return young < 0 ? rows : rows.slice(0, young)
}

/** Removes the rows of a table in commit order whose time in `column` is before a limit. */
function removalOf(
  table: string,
  column: string,
  limit: Exclude<keyof RetentionLimits, 'tiers'>,
): Chore {
  const select = `SELECT id, ${column} AS at FROM ${table}`
  return async (executor, { [limit]: before }, maxRows) =>
    removeById(executor, table, await oldestOf<Old>(executor, select, { before, maxRows }))
}

/** Blocks go with their places. (retention/4) */
async function removeUpdateBlocks(
  executor: Executor,
  { thingUpdates }: RetentionLimits,
  maxRows: number,
): Promise<number> {
  // retention/5; the sum keeps the database from an index by it: most blocks are joined.
  const old = await executor.all<Pick<UpdateBlockRow, 'id' | 'places'>>(
    `SELECT id, places FROM update_blocks WHERE last_at < ? AND is_joined + 0 = 1
      ORDER BY last_at LIMIT ?`,
    [thingUpdates, maxRows],
  )
  let rows = 0
  const fitting = old.filter(({ places }) => (rows += places + 1) <= maxRows)
  const removed = await changeIn(
    executor,
    fitting.map(({ id }) => id),
    (list) => `DELETE FROM update_places WHERE block IN (${list})`,
  )
  return removed + (await removeById(executor, 'update_blocks', fitting))
}

interface OldEntry extends Old {
  readonly channel: number
  readonly seq: number
}

async function removeFeedEntries(
  executor: Executor,
  { messagesAndEvents }: RetentionLimits,
  maxRows: number,
): Promise<number> {
  const select = 'SELECT id, accepted_at AS at, channel, seq FROM feed_entries'
  const old = await oldestOf<OldEntry>(executor, select, { before: messagesAndEvents, maxRows })
  await raiseFloors(executor, 'entries_floor', old) // retention/2
  return removeById(executor, 'feed_entries', old)
}

type OldTombstone = OldEntry & Pick<TombstoneRow, 'model' | 'entityId'>

/** Removes deleted Things and closed Events, except those created again since. */
async function removeTombstones(
  executor: Executor,
  { tombstones }: RetentionLimits,
  maxRows: number,
): Promise<number> {
  const select = `SELECT id, ended_at AS at, channel, seq, model, entity_id AS entityId
    FROM tombstones`
  const limits = { before: tombstones, maxRows: Math.floor(maxRows / 2) } // retention/4
  const old = await oldestOf<OldTombstone>(executor, select, limits)
  const things: OldTombstone[] = []
  let removed = 0
  for (const tombstone of old) {
    const { model, channel, entityId, seq } = tombstone
    const { affected } = await executor.run(
      `DELETE FROM ${model === 'thing' ? 'things' : 'events'}
        WHERE channel = ? AND id = ? AND seq = ?`,
      [channel, entityId, seq],
    )
    removed += affected
    if (model === 'thing' && affected === 1) things.push(tombstone)
  }
  await raiseFloors(executor, 'tombstone_floor', things) // retention/2
  return removed + (await removeById(executor, 'tombstones', old))
}

/** retention/2 */
async function raiseFloors(
  executor: Executor,
  floor: 'entries_floor' | 'tombstone_floor',
  removed: readonly { readonly channel: number; readonly seq: number }[],
): Promise<void> {
  const floors = new Map<number, number>()
  for (const { channel, seq } of removed) {
    floors.set(channel, Math.max(seq, floors.get(channel) ?? 0))
  }
  const inOrder = [...floors].sort(([one], [other]) => one - other)
  for (const [channel, seq] of inOrder) {
    await executor.run(`UPDATE channel_heads SET ${floor} = ? WHERE channel = ? AND ${floor} < ?`, [
      seq,
      channel,
      seq,
    ])
  }
}
