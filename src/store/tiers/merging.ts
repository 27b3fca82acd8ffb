// Merges small chunks into larger ones, and makes the tiers of the chunks of joined updates.
//
// Invariants:
//   merging/1. A merge is one transaction that removes exactly the chunks that it read, or nothing:
//     so a bucket counts what it counted before, whoever else merges or removes.
//   merging/2. Nothing of a deleted Thing comes back: deletions are read before the chunks, and a
//     merge during which another deletion was joined is undone.
//   merging/3. A merge takes at most UNIT_BYTES_MAX of chunks, or those of the smallest cell; wider
//     chunks are halved first. No other job waits for more than a slice of it, or for the look at
//     one candidate. (W7)

import { TIERS, TIER_MS, firstKept } from '#domain/history/series'
import type { TierRetention } from '#domain/history/series'
import type { MergingStore } from '#domain/retention-ports'
import { pause } from '#domain/runtime'
import type { Meter } from '#domain/telemetry'
import { RolledBack } from '#src/store/jobs/database'
import type { Database } from '#src/store/jobs/database'
import type { Tables } from '#src/store/entities/tables'
import type { TierChunkRow } from '#src/store/entities/tiers'
import { Bulk, allIn, removeById, runAll } from '#src/store/statements/bulk'
import { Buckets, NONE } from './buckets.ts'
import { Candidates } from './candidates.ts'
import type { Candidate, Written } from './candidates.ts'
import { beginsOf, depthOf, halvesOf, isSmallest } from './cells.ts'
import type { Cell } from './cells.ts'
import { addChunk } from './chunk.ts'
import { JOINED, LAST_LEVEL, MERGED, groupAt, isQuiet, rowsOf } from './chunk-rows.ts'
import type { Group } from './chunk-rows.ts'
import { cutsWithin, isCutSince } from './cuts.ts'
import type { Cuts } from './cuts.ts'

const UNIT_BYTES_MAX = 2 * 2 ** 20
const UNIT_CHUNKS_MAX = 1_024
/** Chunks of a slice. */
const SLICE_CHUNKS = 8
/** Chunks of a counted slice, some 2 ms, and slices at a time: a large table over minutes. */
const COUNTED = { chunks: 500, slices: 8 }

/** A chunk whose content is not read. */
type Held = Pick<TierChunkRow, 'level' | 'run' | 'bytes' | 'dueAt'> & Cell & { readonly id: number }

interface Unit {
  readonly group: Group
  readonly cell: Cell
  readonly level: number
  readonly chunks: readonly Held[]
}

export class Merging implements MergingStore {
  readonly #database: Database
  readonly #chunks: Bulk<TierChunkRow>
  readonly #leftOut: (by?: number) => void
  readonly #candidates = new Candidates()
  #countedId = 0 // candidates/3

  constructor(database: Database, tables: Tables, meter: Meter) {
    this.#database = database
    this.#chunks = Bulk.of(tables.tierChunks)
    this.#leftOut = meter.counter('tier_readings_left_out_total', {})
    meter.gauge('tier_merges_waiting', {}, () => this.#candidates.size)
  }

  /** Counts readings that a run of joining left out of the tiers. */
  leftOut(readings: number): void {
    this.#leftOut(readings)
  }

  async merge(nowMs: number, kept: TierRetention): Promise<number> {
    if (this.#candidates.found.size === 0) await this.#count()
    for (const [name, candidate] of this.#candidates.found) {
      const merged = await this.#mergeAt(candidate, nowMs, kept)
      if (merged > 0) return merged
      this.#candidates.drop(name)
      await pause(this.#database) // merging/3
    }
    const due = await this.#database.first<Candidate>(
      `SELECT channel, tier, period, first_place AS firstPlace, last_place AS lastPlace
        FROM tier_chunks WHERE due_at <= ? ORDER BY due_at LIMIT 1`,
      [nowMs],
    )
    return due === undefined ? 0 : this.#mergeAt(due, nowMs, kept)
  }

  /** Takes note of chunks that were written since, some slices at a time. (candidates/3) */
  async #count(): Promise<void> {
    for (let slice = 0; slice < COUNTED.slices; slice += 1) {
      const chunks = await this.#database.all<Written & Pick<Held, 'id'>>(
        `SELECT id, channel, tier, period, level, run, first_place AS firstPlace,
          last_place AS lastPlace FROM tier_chunks WHERE id > ? ORDER BY id LIMIT ?`,
        [this.#countedId, COUNTED.chunks],
      )
      this.#candidates.written(chunks)
      this.#countedId = chunks.at(-1)?.id ?? this.#countedId
      if (chunks.length < COUNTED.chunks) return
      await pause(this.#database)
    }
  }

  async #mergeAt(candidate: Candidate, nowMs: number, kept: TierRetention): Promise<number> {
    const { channel, tier, period } = candidate
    const group = { channel, tier, period }
    const cell = await this.#widest(candidate)
    if (cell === undefined) return 0
    const cuts = await cutsWithin(this.#database, channel, cell) // merging/2: before the chunks
    const chunks = await this.#within(candidate, cell)
    const isDue = candidate.level === undefined
    if (!isDue && depthOf(chunks) < MERGED) return 0
    const wide = chunks.filter((one) => sizeOf(one) === sizeOf(cell))
    const bytes = chunks.reduce((sum, chunk) => sum + chunk.bytes, 0)
    const isTooLarge = bytes > UNIT_BYTES_MAX || chunks.length > UNIT_CHUNKS_MAX
    if (isTooLarge && !isSmallest(cell)) return this.#halve(group, wide, cuts) // merging/3
    const above = Math.max(...chunks.map(({ level }) => level)) + 1
    const level = isDue && tier !== JOINED.tier ? LAST_LEVEL : Math.min(above, LAST_LEVEL - 1)
    const unit = { group, cell, level, chunks }
    const buckets = await this.#gathered(unit, cuts)
    const rows = await this.#rowsOf(unit, buckets, { nowMs, kept })
    return this.#replace(unit, rows, { cuts, leftOut: buckets.leftOut })
  }

  /** The widest cell of a chunk that holds a candidate. */
  async #widest({ channel, tier, period, level, ...cell }: Candidate): Promise<Cell | undefined> {
    const ofLevel = level === undefined ? '' : ' AND level = ?'
    const begins = beginsOf(cell.firstPlace)
    return this.#database.first<Cell>(
      `SELECT first_place AS firstPlace, last_place AS lastPlace FROM tier_chunks
        WHERE channel = ? AND tier = ? AND period = ?
          AND first_place IN (${begins.map(() => '?').join(', ')}) AND last_place >= ?${ofLevel}
        ORDER BY first_place, last_place DESC LIMIT 1`,
      [channel, tier, period, ...begins, cell.lastPlace, ...(level === undefined ? [] : [level])],
    )
  }

  #within({ channel, tier, period, level }: Candidate, cell: Cell): Promise<readonly Held[]> {
    const ofLevel = level === undefined ? '' : ' AND level = ?'
    return this.#database.all<Held>(
      `SELECT id, level, run, bytes, due_at AS dueAt, first_place AS firstPlace,
          last_place AS lastPlace FROM tier_chunks
        WHERE channel = ? AND tier = ? AND period = ? AND first_place >= ? AND first_place <= ?
          ${ofLevel} ORDER BY first_place, last_place DESC LIMIT ?`,
      [
        channel,
        tier,
        period,
        cell.firstPlace,
        cell.lastPlace,
        ...(level === undefined ? [] : [level]),
        UNIT_CHUNKS_MAX + 1,
      ],
    )
  }

  /** merging/3: the buckets of chunks, in the order of their runs. (buckets/1) */
  async #gathered({ group, chunks }: Unit, { runs }: Cuts): Promise<Buckets> {
    const buckets = new Buckets(group.tier === JOINED.tier ? TIER_MS['5m'] : group.tier)
    const inOrder = chunks.toSorted((one, other) => one.run - other.run || one.id - other.id)
    for (let start = 0; start < inOrder.length; start += SLICE_CHUNKS) {
      const slice = inOrder.slice(start, start + SLICE_CHUNKS)
      const contents = await this.#contents(slice)
      for (const { id, run } of slice) {
        const content = contents.get(id)
        if (content === undefined) continue // Removed meanwhile: the transaction will tell.
        addChunk(buckets, content, (thing) => run >= (runs.get(thing) ?? 0)) // merging/2
        await pause(this.#database)
      }
    }
    return buckets
  }

  async #contents(slice: readonly Held[]): Promise<ReadonlyMap<number, Uint8Array>> {
    const rows = await this.#database.read((executor) =>
      allIn<{ id: number; content: Uint8Array }>(
        executor,
        slice.map(({ id }) => id),
        (list) => `SELECT id, content FROM tier_chunks WHERE id IN (${list})`,
      ),
    )
    return new Map(rows.map(({ id, content }) => [id, content]))
  }

  async #rowsOf(
    { group, cell: within, level, chunks }: Unit,
    buckets: Buckets,
    { nowMs, kept }: { readonly nowMs: number; readonly kept: TierRetention },
  ): Promise<TierChunkRow[]> {
    const run = Math.max(...chunks.map((chunk) => chunk.run))
    const isJoined = group.tier === JOINED.tier
    const groups = isJoined
      ? await this.#tiersOf(buckets, group.channel, { nowMs, kept })
      : [{ group, buckets }]
    const rows: TierChunkRow[] = []
    for (const { group: of, buckets: some } of groups) {
      const isWhole = isJoined && isQuiet(of, nowMs) && (await this.#isFirst(of, within))
      const target = { ...of, level: isWhole ? LAST_LEVEL : level, run, within, nowMs }
      for (const row of rowsOf(some, target)) {
        rows.push(row)
        await pause(this.#database)
      }
    }
    return rows
  }

  /** True where a group has nothing in a cell. What comes at the same time is merged when due. */
  async #isFirst(group: Group, cell: Cell): Promise<boolean> {
    if ((await this.#widest({ ...group, ...cell })) !== undefined) return false
    return (await this.#within({ ...group, ...cell }, cell)).length === 0
  }

  /** The buckets of every tier, by period, of what was joined; without what is past its time. */
  async #tiersOf(
    joined: Buckets,
    channel: number,
    { nowMs, kept }: { readonly nowMs: number; readonly kept: TierRetention },
  ): Promise<readonly { readonly group: Group; readonly buckets: Buckets }[]> {
    const groups = new Map<string, { readonly group: Group; readonly buckets: Buckets }>()
    const tiers = TIERS.map((tier) => ({ tier, first: firstKept(tier, kept, nowMs) }))
    for (const [thing, list] of joined.things) {
      for (const [place, series] of list.entries()) {
        const attr = joined.nameOf(joined.attrOf(series))
        let bucket = joined.firstOf(series)
        for (; bucket !== NONE; bucket = joined.nextOf(bucket)) {
          const at = joined.beginOf(bucket)
          for (const { tier, first } of tiers) {
            if (at < first) continue
            const group = groupAt(channel, tier, at)
            const key = `${tier} ${group.period}`
            let found = groups.get(key)
            if (found === undefined) {
              groups.set(key, (found = { group, buckets: new Buckets(group.tier) }))
            }
            const { buckets } = found
            const into = buckets.seriesIn(buckets.seriesOf(thing), attr, place)
            buckets.add(into, joined.numbers, bucket)
          }
        }
      }
      await pause(this.#database)
    }
    return [...groups.values()]
  }

  /** merging/1: gives the number of chunks that were merged; 0 when nothing was. */
  async #replace(
    { group, chunks }: Pick<Unit, 'group' | 'chunks'>,
    rows: readonly TierChunkRow[],
    { cuts, leftOut }: { readonly cuts: Cuts; readonly leftOut: number },
  ): Promise<number> {
    const merged = await this.#database.repeatable(async (executor) => {
      const removed = await removeById(executor, 'tier_chunks', chunks)
      if (removed !== chunks.length) return new RolledBack(0) // merging/1
      if (await isCutSince(executor, group.channel, cuts)) return new RolledBack(0) // merging/2
      await runAll(executor, this.#chunks.inserts(rows, executor))
      return chunks.length
    })
    if (merged > 0) this.#leftOut(leftOut)
    return merged
  }

  /** merging/3: writes chunks again as one for each half of their cell. */
  async #halve(group: Group, chunks: readonly Held[], cuts: Cuts): Promise<number> {
    const rows: TierChunkRow[] = []
    for (const chunk of chunks) {
      const { level, run, dueAt } = chunk
      const buckets = await this.#gathered({ group, cell: chunk, level, chunks: [chunk] }, cuts)
      for (const within of halvesOf(chunk)) {
        const target = { ...group, level, run, within, nowMs: 0 }
        for (const row of rowsOf(buckets, target)) rows.push({ ...row, dueAt })
      }
    }
    return this.#replace({ group, chunks }, rows, { cuts, leftOut: 0 })
  }
}

const sizeOf = ({ firstPlace, lastPlace }: Cell): number => lastPlace - firstPlace
