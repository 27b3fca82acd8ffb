// Joins the blocks that turns wrote, a run at a time.
//
// The blocks of a turn have few updates of each channel, or few at all. A run of many turns sorted
// by channel packs an update of 250 bytes into 35, a reader of one channel unpacks few blocks, and
// blocks are removed whole.
//
// Invariants:
//   joining/1. A run is one transaction: it removes exactly the blocks that it read, or nothing. So
//     an update is in one block, whoever else joins or removes, and whenever the process ends.
//   joining/2. A run takes the oldest blocks, which hold the least seqs of each channel, and gives
//     their updates the numbers that they had, in order: places of a channel follow one another. It
//     reads the updates of a channel in their order, late readings too. (update-numbers/2)
//   joining/3. A run holds at most RUN_BYTES_MAX in memory beyond one slice. It is read in slices,
//     each a job of its own, so a turn need not wait until the whole run was read. (gate/3, W7)
//   joining/4. While turns follow one another without a rest nothing is joined, but blocks that are
//     older than OLD_MS: then that is what there has to be time for.

import type { JoiningStore } from '#domain/retention-ports'
import { pause } from '#domain/runtime'
import { Bulk, changeIn, runAll } from '#src/store/statements/bulk'
import { RolledBack } from '#src/store/jobs/database'
import type { Database } from '#src/store/jobs/database'
import type { UpdateBlockRow, UpdatePlaceRow } from '#src/store/entities/feed'
import type { Tables } from '#src/store/entities/tables'
import { addBlock, blocksOf, updatesIn } from '#src/store/feed/update-blocks'
import type { BlockRows, UpdateOf } from '#src/store/feed/update-blocks'
import type { TierChunkRow, TierCutRow } from '#src/store/entities/tiers'
import { contributionsOf } from '#src/store/tiers/contributions'
import type { Contributions } from '#src/store/tiers/contributions'
import type { Merging } from '#src/store/tiers/merging'

/** Updates of a run: sixteen of each of a thousand channels. */
export const RUN_UPDATES = 16_384
const RUN_BLOCKS = 512
const RUN_BYTES_MAX = 8 * 2 ** 20
/** Blocks of a slice: at most 512 updates, some 2 ms. */
const SLICE_BLOCKS = 4
/** Age of the oldest block from which on a run need not be whole, and waits for no rest. */
const OLD_MS = 600_000

type Waiting = Pick<UpdateBlockRow, 'id' | 'entries' | 'lastAt'>

/** The blocks of a run that was read. */
interface Run {
  readonly blocks: readonly Waiting[]
  readonly updates: readonly UpdateOf[]
  /** The number of the newest block of each channel. */
  readonly newest: ReadonlyMap<number, number>
}

/** What takes the place of the blocks of a run. */
interface Joined extends BlockRows, Pick<Contributions, 'chunks' | 'cuts'> {}

export class Joining implements JoiningStore {
  readonly #database: Database
  readonly #blocks: Bulk<UpdateBlockRow>
  readonly #places: Bulk<UpdatePlaceRow>
  readonly #chunks: Bulk<TierChunkRow>
  readonly #cuts: Bulk<TierCutRow>
  readonly #merging: Merging | undefined

  /** Without `merging` the updates count in no tier. */
  constructor(database: Database, tables: Tables, merging?: Merging) {
    this.#database = database
    this.#merging = merging
    this.#chunks = Bulk.of(tables.tierChunks)
    this.#cuts = Bulk.of(tables.tierCuts)
    this.#blocks = Bulk.of(tables.updateBlocks)
    this.#places = Bulk.of(tables.updatePlaces)
  }

  async join(nowMs: number, isBusy = false): Promise<number> {
    const { blocks: waiting, isWhole } = await this.#waiting()
    const [oldest] = waiting
    if (oldest === undefined) return 0
    const isDue = isWhole && !isBusy // joining/4
    if (!isDue && oldest.lastAt >= nowMs - OLD_MS) return 0
    const run = await this.#run(waiting)
    const { leftOut, ...counted } = await this.#counted(run, nowMs)
    const joined = await this.#replace(run, { ...(await this.#joined(run)), ...counted })
    if (joined > 0) this.#merging?.leftOut(leftOut)
    return joined
  }

  /** joining/2: the oldest blocks, as many as a run has, and whether no more would fit into it. */
  async #waiting(): Promise<{ readonly blocks: readonly Waiting[]; readonly isWhole: boolean }> {
    const blocks = await this.#database.all<Waiting>(
      `SELECT id, entries, last_at AS lastAt FROM update_blocks
        WHERE is_joined = 0 ORDER BY id LIMIT ?`,
      [RUN_BLOCKS],
    )
    let entries = 0
    const beyond = blocks.findIndex((block) => (entries += block.entries) > RUN_UPDATES)
    if (beyond >= 0) return { blocks: blocks.slice(0, Math.max(1, beyond)), isWhole: true }
    return { blocks, isWhole: entries === RUN_UPDATES || blocks.length === RUN_BLOCKS }
  }

  /** joining/3 */
  async #run(waiting: readonly Waiting[]): Promise<Run> {
    const updates: UpdateOf[] = []
    const newest = new Map<number, number>()
    let bytes = 0
    let taken = 0
    while (taken < waiting.length && bytes < RUN_BYTES_MAX) {
      const slice = waiting.slice(taken, taken + SLICE_BLOCKS)
      const rows = await this.#database.all<Pick<UpdateBlockRow, 'id' | 'content'>>(
        `SELECT id, content FROM update_blocks WHERE is_joined = 0 AND id >= ? AND id <= ?
          ORDER BY id`,
        [slice[0]?.id ?? 0, slice.at(-1)?.id ?? 0],
      )
      if (rows.length !== slice.length) break
      for (const { id, content } of rows) {
        for (const item of updatesIn(content)) {
          bytes += item.payload.length
          newest.set(item.channel, id)
          updates.push({ ref: item.channel, item })
        }
      }
      taken += slice.length
    }
    return { blocks: waiting.slice(0, taken), updates: updates.toSorted(inOrder), newest }
  }

  /** What the run brings to the tiers. (contributions/1) */
  #counted({ updates, newest: runs }: Run, nowMs: number): Promise<Contributions> {
    const counting = this.#merging === undefined ? [] : updates
    return contributionsOf(counting, { runs, nowMs, pause: () => pause(this.#database) })
  }

  async #joined({ blocks, updates }: Run): Promise<BlockRows> {
    const { dialect } = this.#database
    const numbers = blocks.flatMap(({ id, entries }) =>
      Array.from({ length: entries }, (_, at) => id + at),
    )
    const rows: BlockRows = { blocks: [], places: [] }
    let at = 0
    for (const block of blocksOf(updates)) {
      addBlock(rows, block, { id: numbers[at] ?? 0, isJoined: 1, dialect }) // joining/2
      at += block.entries
      await pause(this.#database) // joining/3
    }
    return rows
  }

  /** joining/1: gives the number of updates. */
  #replace({ blocks, updates }: Run, joined: Joined): Promise<number> {
    return this.#database.repeatable(async (executor) => {
      const ids = blocks.map(({ id }) => id)
      // A block that another run made has the number of one of those that it removed.
      const removed = await changeIn(
        executor,
        ids,
        (list) => `DELETE FROM update_blocks WHERE is_joined = 0 AND id IN (${list})`,
      )
      if (removed !== blocks.length) return new RolledBack(0) // joining/1
      await changeIn(executor, ids, (list) => `DELETE FROM update_places WHERE block IN (${list})`)
      await runAll(executor, this.#blocks.inserts(joined.blocks, executor))
      await runAll(executor, this.#places.inserts(joined.places, executor))
      await runAll(executor, this.#chunks.inserts(joined.chunks, executor)) // contributions/1
      await runAll(executor, this.#cuts.inserts(joined.cuts, executor))
      return updates.length
    })
  }
}

/** Blocks come in the order of their seqs, so updates of a channel keep it. */
const inOrder = (one: UpdateOf, other: UpdateOf): number => one.ref - other.ref
