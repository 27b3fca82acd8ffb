// Moves updates of Things from their rows into compressed blocks, a run at a time.
//
// A turn writes rows, since a reader may want them at once and a block of a few updates would save
// nothing. A run of many turns sorted by channel packs an update of 250 bytes into 35, and its
// blocks are removed whole.
//
// Invariants:
//   gathering/1. A run is one transaction: it removes exactly the rows that it read, or nothing. So
//     an update is either a row or in a block, whoever else gathers or removes, and whenever the
//     process ends.
//   gathering/2. A run takes the oldest rows, which hold the least seqs of each channel: the places
//     of a channel follow one another.
//   gathering/3. Nodes of the version before read rows only: nothing is gathered before the time
//     that the migration left for their end. (operation-batches/3)
//   gathering/4. A run holds at most RUN_BYTES_MAX in memory beyond one row, and no other job waits
//     for more than a slice of it to be read. (W7)

import type { GatheringStore } from '#domain/retention-ports'
import { Bulk, removeById, runAll } from '#src/store/statements/bulk'
import { RolledBack } from '#src/store/jobs/database'
import type { Database } from '#src/store/jobs/database'
import type { Executor, RowsStatement } from '#src/store/jobs/executor'
import type { UpdateBlockRow, UpdatePlaceRow } from '#src/store/entities/feed'
import type { Tables } from '#src/store/entities/tables'
import { blocksOf } from '#src/store/feed/update-blocks'
import type { Block, UpdateRow } from '#src/store/feed/update-blocks'
import { compactSince } from '#src/store/turns/operation-batches'

/** Rows of a run: sixteen of each of a thousand channels. */
const RUN_ROWS = 16_384
const RUN_BYTES_MAX = 8 * 2 ** 20
const SLICE_ROWS = 1_024
/** Age of the oldest row from which on a run need not be whole. */
const OLD_MS = 600_000

const COLUMNS = `id, channel, seq, model, action, entity_id AS entityId, op_id AS opId, state, rev,
  accepted_at AS acceptedAt, payload`

export class Gathering implements GatheringStore {
  readonly #database: Database
  readonly #blocks: Bulk<UpdateBlockRow>
  readonly #places: Bulk<UpdatePlaceRow>

  constructor(database: Database, tables: Tables) {
    this.#database = database
    this.#blocks = Bulk.of(tables.updateBlocks)
    this.#places = Bulk.of(tables.updatePlaces)
  }

  async gather(nowMs: number): Promise<number> {
    if (!(await this.#isDue(nowMs))) return 0
    const updates = await this.#run()
    const inOrder = updates.toSorted(
      (one, other) => one.channel - other.channel || one.seq - other.seq,
    )
    const blocks: Block[] = []
    for (const block of blocksOf(inOrder)) {
      blocks.push(block)
      await this.#break() // gathering/4
    }
    return this.#move(updates, blocks)
  }

  #isDue(nowMs: number): Promise<boolean> {
    return this.#database.read(async (executor) => {
      const rows = await executor.all<{ id: number; at: number }>(
        `SELECT id, accepted_at AS at FROM thing_updates
          WHERE id = (SELECT min(id) FROM thing_updates)
            OR id = (SELECT max(id) FROM thing_updates) ORDER BY id`,
      )
      const [first, last] = [rows[0], rows.at(-1)]
      if (first === undefined || last === undefined) return false
      const isWhole = last.id - first.id >= RUN_ROWS
      if (!isWhole && first.at >= nowMs - OLD_MS) return false
      return (await compactSince(executor)) <= nowMs // gathering/3
    })
  }

  /** gathering/2, gathering/4: the oldest rows. */
  async #run(): Promise<readonly UpdateRow[]> {
    const updates: UpdateRow[] = []
    let bytes = 0
    while (updates.length < RUN_ROWS) {
      const after = updates.at(-1)?.id ?? 0
      const slice = await this.#database.snapshot((executor) =>
        sliceBehind(executor, after, RUN_BYTES_MAX - bytes),
      )
      for (const update of slice) {
        bytes += update.payload.length
        updates.push(update)
      }
      if (slice.length < SLICE_ROWS) break
    }
    return updates
  }

  /** gathering/1: gives the number of moved updates. */
  #move(updates: readonly UpdateRow[], blocks: readonly Block[]): Promise<number> {
    return this.#database.repeatable(async (executor) => {
      const removed = await removeById(executor, 'thing_updates', updates)
      if (removed !== updates.length) return new RolledBack(0)
      await runAll(executor, this.#inserts(executor, blocks))
      return removed
    })
  }

  *#inserts(executor: Executor, blocks: readonly Block[]): Generator<RowsStatement> {
    const rows = blocks.map(({ row }) => row).toSorted((one, other) => one.id - other.id)
    yield* this.#blocks.inserts(rows, executor)
    yield* this.#places.inserts(
      blocks.flatMap(({ places }) => places),
      executor,
    )
  }

  #break(): Promise<void> {
    return new Promise((resolve) => this.#database.soon(resolve))
  }
}

async function sliceBehind(
  executor: Executor,
  after: number,
  bytesMax: number,
): Promise<readonly UpdateRow[]> {
  const sizes = await executor.all<{ id: number; bytes: number }>(
    `SELECT id, octet_length(payload) AS bytes FROM thing_updates
      WHERE id > ? ORDER BY id LIMIT ?`,
    [after, SLICE_ROWS],
  )
  let last = after
  let bytes = 0
  for (const size of sizes) {
    bytes += size.bytes
    if (bytes > bytesMax && last > after) break
    last = size.id
  }
  return executor.all<UpdateRow>(
    `SELECT ${COLUMNS} FROM thing_updates WHERE id > ? AND id <= ? ORDER BY id`,
    [after, last],
  )
}
