// Removes periods of tiers that are past their time, and Things that were deleted.
//
// Invariants:
//   tier-removal/1. A Thing that was deleted is written out of every chunk of an earlier run, a few
//     at a time; its deletion is forgotten behind the last of them. Until then readers and merges
//     step over what is left of it. (merging/2)

import { TIERS, TIER_MS } from '#domain/history/series'
import type { RetentionLimits } from '#domain/retention-ports'
import type { TierChunkRow, TierCutRow } from '#src/store/entities/tiers'
import type { Executor } from '#src/store/jobs/executor'
import { allIn, removeById } from '#src/store/statements/bulk'
import { Buckets } from './buckets.ts'
import { beginsOf } from './cells.ts'
import { addChunk, writeChunk } from './chunk.ts'
import { isCompressed } from './chunk-rows.ts'

/** Removes at most `maxRows` chunks of periods that are past their time; returns how many. */
export async function removeTierPeriods(
  executor: Executor,
  before: RetentionLimits['tiers'],
  maxRows: number,
): Promise<number> {
  let removed = 0
  for (const tier of TIERS) {
    const left = maxRows - removed
    if (left === 0) break
    const old = await executor.all<{ id: number }>(
      'SELECT id FROM tier_chunks WHERE tier = ? AND period < ? LIMIT ?',
      [TIER_MS[tier], before[tier], left],
    )
    removed += await removeById(executor, 'tier_chunks', old)
  }
  return removed
}

type Numbered<Row> = Row & { readonly id: number }

/** Chunks that one step reads: some 200 KB. */
const CHUNKS_AT_ONCE = 8

/** Works off the first deletion of a Thing; returns 0 when there is none. (tier-removal/1) */
export async function removeCutThings(
  executor: Executor,
  _before: RetentionLimits,
  maxRows: number,
): Promise<number> {
  const cut = await executor.first<Numbered<TierCutRow>>(
    `SELECT id, channel, thing_id AS thingId, place, run, done_id AS doneId FROM tier_cuts
      ORDER BY id LIMIT 1${executor.dialect.forUpdate}`,
  )
  if (cut === undefined) return 0
  const chunks = await chunksOf(executor, cut, Math.min(maxRows, CHUNKS_AT_ONCE))
  for (const chunk of chunks) await writeWithout(executor, chunk, cut)
  const last = chunks.at(-1)
  if (last === undefined) return removeById(executor, 'tier_cuts', [cut])
  await executor.run('UPDATE tier_cuts SET done_id = ? WHERE id = ?', [last.id, cut.id])
  return chunks.length
}

type Chunk = Numbered<Pick<TierChunkRow, 'tier' | 'level' | 'content'>>

/** The next chunks of earlier runs that may have the Thing. */
async function chunksOf(
  executor: Executor,
  { channel, place, run, doneId }: TierCutRow,
  limit: number,
): Promise<readonly Chunk[]> {
  const begins = beginsOf(place)
  const all = await executor.all<{ id: number }>(
    `SELECT id FROM tier_chunks
      WHERE channel = ? AND first_place IN (${begins.map(() => '?').join(', ')})
        AND last_place >= ? AND run < ? AND id > ?`,
    [channel, ...begins, place, run, doneId],
  )
  const next = all.map(({ id }) => id).toSorted((one, other) => one - other)
  const chunks = await allIn<Chunk>(
    executor,
    next.slice(0, limit),
    (list) => `SELECT id, tier, level, content FROM tier_chunks WHERE id IN (${list})`,
  )
  return chunks.toSorted((one, other) => one.id - other.id)
}

async function writeWithout(executor: Executor, chunk: Chunk, { thingId }: TierCutRow) {
  const buckets = new Buckets(chunk.tier || TIER_MS['5m'])
  let isThere = false
  addChunk(buckets, chunk.content, (thing) => {
    isThere ||= thing === thingId
    return thing !== thingId
  })
  if (!isThere) return
  const things = buckets.counted()
  if (things.length === 0) {
    await removeById(executor, 'tier_chunks', [chunk])
    return
  }
  const { content, bytes } = writeChunk(buckets, things, { isCompressed: isCompressed(chunk) })
  await executor.run('UPDATE tier_chunks SET content = ?, bytes = ? WHERE id = ?', [
    content,
    bytes,
    chunk.id,
  ])
}
