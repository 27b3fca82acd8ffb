// Finds the blocks that have the updates of a channel.
//
// SQLite pays for each page that a turn changes. In an index by (channel, seq) the end of each
// channel is a page of its own, a fifth of the cost of a turn. So SQLite orders places by (span,
// channel, seq): a span is a stretch of the blocks' numbers, and new places lie in the few pages of
// the newest span. A reader looks into one span after the other; they hold a day's updates by
// default. InnoDB pays for rows: it has one span.

import type { FeedRow, UpdateBlockRow, UpdatePlaceRow } from '#src/store/entities/feed'
import type { Value } from '#src/store/dialect'
import type { Executor } from '#src/store/jobs/executor'
import { allForEach } from '#src/store/statements/gathered'
import { countOf, entriesIn, isEntry, rowsOf, spanOf, unpackedBlock } from './update-blocks.ts'
import type { UpdateRow } from './update-blocks.ts'

/** Blocks of one statement. */
const BLOCKS_AT_ONCE = 4

/** Every place of a channel is behind it: first, in each span, those of late readings alone. */
export const BEFORE_ALL = Number.MIN_SAFE_INTEGER

/** Places of a channel behind a seq, from a span on. */
interface Behind {
  readonly channel: number
  readonly after: number
  readonly firstSpan?: number
  /**
   * Those of late readings alone, the newest block first. Joining gives updates smaller numbers: so
   * what it moves meanwhile still follows, here or among the places of seqs.
   */
  readonly isLate?: boolean
}

/** The end of a SELECT, from FROM on, that finds places `p` in seq order. */
export function placesBehind(
  { dialect }: Executor,
  { channel, after, firstSpan = 0, isLate = false }: Behind,
): { readonly from: string; readonly parameters: readonly Value[]; readonly order: string } {
  const { spanBits } = dialect
  const condition = `p.channel = ? AND p.last_seq > ?${isLate ? ' AND p.last_seq < 0' : ''}`
  if (spanBits === undefined) {
    const from = `FROM update_places p WHERE p.span = 0 AND ${condition}`
    return { from, parameters: [channel, after], order: ' ORDER BY p.last_seq' }
  }
  const oldest = `max(?, (SELECT min(id) FROM update_blocks) >> ${spanBits})`
  const newest = `(SELECT max(id) FROM update_blocks) >> ${spanBits}`
  const spans = isLate
    ? `SELECT ${newest} UNION ALL SELECT span - 1 FROM spans WHERE span > ${oldest}`
    : `SELECT ${oldest} UNION ALL SELECT span + 1 FROM spans WHERE span < ${newest}`
  const from = `FROM (WITH RECURSIVE spans (span) AS (${spans}) SELECT span FROM spans) s
    CROSS JOIN update_places p ON p.span = s.span WHERE ${condition}`
  return { from, parameters: [firstSpan, channel, after], order: '' }
}

type Held = Pick<UpdatePlaceRow, 'span' | 'lastSeq' | 'lastAt'> & Pick<UpdateBlockRow, 'content'>

interface BehindSince extends Behind {
  /** Leaves out blocks of which every update was accepted before it. */
  readonly sinceMs?: number | undefined
  /** Leaves out the updates of other Things. */
  readonly entityId?: string | undefined
}

/** What a block has of a channel. */
interface InBlock {
  readonly lastSeq: number
  /** When the last update in it was accepted. */
  readonly lastAt: number
  /** Updates of the channel that it has, those that are left out among them. */
  readonly count: number
  readonly updates: readonly UpdateRow[]
}

/** The updates of a channel at places behind a seq, block by block, late readings among them. */
export async function* readingsBehind(
  executor: Executor,
  { sinceMs = 0, entityId, ...behind }: BehindSince,
): AsyncGenerator<InBlock> {
  const { channel, isLate = false } = behind
  let { after } = behind
  let firstSpan = sinceMs > 0 ? await spanSince(executor, sinceMs) : 0
  for (;;) {
    const { from, parameters, order } = placesBehind(executor, { ...behind, after, firstSpan })
    const held = await executor.all<Held>(
      `SELECT p.span, p.last_seq AS lastSeq, p.last_at AS lastAt,
          (SELECT content FROM update_blocks WHERE id = p.block) AS content
          ${from} AND p.last_at >= ?${order} LIMIT ?`,
      [...parameters, sinceMs, BLOCKS_AT_ONCE],
    )
    for (const { lastSeq, lastAt, content } of held) {
      const block = unpackedBlock(content)
      const updates = rowsOf(block, { channel, entityId })
      yield { lastSeq, lastAt, count: countOf(block, channel), updates }
    }
    const newest = held.at(-1)
    if (newest === undefined || held.length < BLOCKS_AT_ONCE) return
    after = newest.lastSeq
    if (!isLate) firstSpan = newest.span
  }
}

/** The entries of a channel's feed behind a seq, block by block. */
export async function* updatesBehind(
  executor: Executor,
  behind: Omit<BehindSince, 'isLate' | 'entityId'>,
): AsyncGenerator<readonly FeedRow[]> {
  for await (const { updates } of readingsBehind(executor, behind)) {
    yield updates.filter(isEntry).filter(({ seq }) => seq > behind.after)
  }
}

/** The first span that may have updates accepted at or after a time. (Found by halving.) */
async function spanSince(executor: Executor, sinceMs: number): Promise<number> {
  const { spanBits } = executor.dialect
  if (spanBits === undefined) return 0
  const ends = await executor.first<{ low: number | null; high: number | null }>(
    `SELECT (SELECT min(id) FROM update_blocks) >> ${spanBits} AS low,
      (SELECT max(id) FROM update_blocks) >> ${spanBits} AS high`,
  )
  const oldest = ends?.low ?? 0
  let low = oldest
  let high = ends?.high ?? 0
  // Up to `low` spans begin too early; from `high` on they may begin late enough.
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const first = await executor.first<{ lastAt: number }>(
      'SELECT last_at AS lastAt FROM update_blocks WHERE id >= ? ORDER BY id LIMIT 1',
      [middle * 2 ** spanBits],
    )
    if (first !== undefined && first.lastAt < sinceMs) low = middle
    else high = middle - 1
  }
  // A clock that goes back does so by less than a span takes.
  return Math.max(oldest, low - 1)
}

type Place = Pick<FeedRow, 'channel' | 'seq'>

/** The updates at these places, as far as there are some. Looks into the newest span first. */
export async function updatesAt(
  executor: Executor,
  places: readonly Place[],
): Promise<readonly FeedRow[]> {
  if (places.length === 0) return []
  const { dialect } = executor
  const ends = await executor.first<{ low: number | null; high: number | null }>(
    `SELECT (SELECT min(id) FROM update_blocks) AS low,
      (SELECT max(id) FROM update_blocks) AS high`,
  )
  if (typeof ends?.low !== 'number' || ends.high === null) return []
  const found: FeedRow[] = []
  let missing = places
  const oldest = spanOf(dialect, ends.low)
  for (let span = spanOf(dialect, ends.high); span >= oldest && missing.length > 0; span -= 1) {
    const updates = await updatesInSpan(executor, span, missing)
    found.push(...updates)
    const known = new Set(updates.map(keyOf))
    missing = missing.filter((place) => !known.has(keyOf(place)))
  }
  return found
}

const keyOf = ({ channel, seq }: Place): string => `${channel} ${seq}`

/** Reads each block once, however many of the places it has. */
async function updatesInSpan(
  executor: Executor,
  span: number,
  places: readonly Place[],
): Promise<readonly FeedRow[]> {
  const held = await allForEach<Pick<UpdatePlaceRow, 'block'>>(
    executor,
    `SELECT block FROM update_places WHERE span = ? AND channel = ? AND last_seq >= ?
      ORDER BY last_seq LIMIT 1`,
    places.map(({ channel, seq }) => [span, channel, seq]),
  )
  const byBlock = new Map<number, Place[]>()
  for (const [at, place] of places.entries()) {
    const block = held[at]?.[0]?.block
    if (block === undefined) continue
    const others = byBlock.get(block)
    if (others === undefined) byBlock.set(block, [place])
    else others.push(place)
  }
  const found: FeedRow[] = []
  for (const [block, wanted] of byBlock) {
    const row = await executor.first<Pick<UpdateBlockRow, 'content'>>(
      'SELECT content FROM update_blocks WHERE id = ?',
      [block],
    )
    if (row === undefined) continue
    const keys = new Set(wanted.map(keyOf))
    const [only] = wanted
    const updates = entriesIn(row.content, {
      channel: wanted.length === 1 ? only?.channel : undefined,
    })
    found.push(...updates.filter((update) => keys.has(keyOf(update))))
  }
  return found
}
