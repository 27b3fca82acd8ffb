// Reads what blocks that are not joined have of a Thing.
//
// There may be thousands of them, each looked through or unpacked. So they are read ahead, before
// the snapshot that they belong to, and within it only those that came meanwhile.
//
// Invariants:
//   unjoined/1. The updates are those that the snapshot has: a block that was joined meanwhile is
//     left out, a new one is read.
//   unjoined/2. Reading ahead takes a job for each slice, so that turns need not wait for all of
//     it. (gate/3, W7)
//   unjoined/3. Where there are more than a read takes, it takes the oldest of those that were
//     accepted from a time on: who goes on from where they end gets others.

import { hashOf } from '#domain/identity'
import type { UpdateBlockRow } from '#src/store/entities/feed'
import { rowsOf, unpackedBlock } from '#src/store/feed/update-blocks'
import type { UpdateRow } from '#src/store/feed/update-blocks'
import type { Reader } from '#src/store/jobs/executor'
import { allIn } from '#src/store/statements/bulk'
import type { KnownBlocks } from './known-blocks.ts'

/** Blocks that one read takes: four runs. */
export const BLOCKS_MAX = 2_048
/** Those of a slice: some 2 ms. */
const SLICE_BLOCKS = 16

type Block = Pick<UpdateBlockRow, 'id' | 'content'>

export interface Found {
  readonly updates: readonly UpdateRow[]
  /** Where there are newer blocks, which are left out: when the last one of these was accepted. */
  readonly upTo?: number
  /** True where older blocks are left out. */
  readonly isSince: boolean
}

/** Whose updates are wanted. */
interface Wanted {
  readonly channel: number
  readonly thingId: string
  /** Where not every block is taken, those are left out that were accepted before it. */
  readonly since: number
}

/** The blocks that a read takes. */
interface Taken extends Pick<Found, 'upTo' | 'isSince'> {
  readonly ids: readonly number[]
}

export class Unjoined {
  readonly #known: KnownBlocks
  readonly #wanted: Wanted
  readonly #blocksMax: number
  /** What blocks that were read have of the Thing, by their numbers. */
  readonly #read = new Map<number, readonly UpdateRow[]>()

  constructor(known: KnownBlocks, wanted: Wanted, blocksMax: number) {
    this.#known = known
    this.#wanted = wanted
    this.#blocksMax = blocksMax
  }

  /** unjoined/2 */
  async readAhead(reader: Reader): Promise<void> {
    const { ids: taken } = await this.#taken(reader)
    const ids = this.#having(taken)
    for (let start = 0; start < ids.length; start += SLICE_BLOCKS) {
      await this.#look(reader, ids.slice(start, start + SLICE_BLOCKS))
    }
  }

  /** The updates of the Thing in a snapshot, the oldest first. (unjoined/1) */
  async found(snapshot: Reader): Promise<Found> {
    const { ids, ...found } = await this.#taken(snapshot)
    await this.#look(snapshot, this.#having(ids))
    return { updates: ids.flatMap((id) => this.#read.get(id) ?? []), ...found }
  }

  /** unjoined/3 */
  async #taken(reader: Reader): Promise<Taken> {
    const most = this.#blocksMax
    const all = await this.#blocks(reader)
    const isMore = all.length > most
    const blocks = isMore ? await this.#blocks(reader, this.#wanted.since) : all
    const isSince = blocks[0] !== all[0]
    const ids = blocks.slice(0, most)
    return { ids, isSince, ...(blocks.length > most && { upTo: await lastAtOf(reader, ids) }) }
  }

  /**
   * The oldest blocks, or those that were accepted from a time on, and one more than a read takes.
   * Their numbers come as one text: to make a row of each takes ten times as long as to find it.
   */
  async #blocks(reader: Reader, since?: number): Promise<readonly number[]> {
    const accepted = since === undefined ? [] : [since]
    const [row] = await reader.all<{ ids: string | null }>(
      `SELECT ${reader.dialect.listOf('id')} AS ids FROM
        (SELECT b.id FROM update_blocks b
          WHERE b.is_joined = 0 AND EXISTS
            (SELECT 1 FROM update_places p WHERE p.block = b.id AND p.channel = ?)
          ${since === undefined ? '' : 'AND b.last_at >= ?'}
          ORDER BY b.id LIMIT ?) oldest`,
      [this.#wanted.channel, ...accepted, this.#blocksMax + 1],
    )
    const ids = JSON.parse(row?.ids ?? '[]') as number[]
    return ids.toSorted((one, other) => one - other)
  }

  /** Those of the blocks that may have the Thing, and were not read. */
  #having(ids: readonly number[]): readonly number[] {
    const thing = hashOf(this.#wanted.thingId)
    const having: number[] = []
    for (const id of ids) {
      if (this.#read.has(id)) continue
      if (this.#known.mayHave(id, thing)) having.push(id)
      else this.#read.set(id, NO_UPDATES)
    }
    return having
  }

  async #look(reader: Reader, ids: readonly number[]): Promise<void> {
    const { channel, thingId: entityId } = this.#wanted
    const blocks = await allIn<Block>(
      reader,
      ids,
      (list) => `SELECT id, content FROM update_blocks WHERE id IN (${list}) AND is_joined = 0`,
    )
    for (const { id, content } of blocks) {
      const block = unpackedBlock(content)
      this.#known.learn(id, block.columns.entities)
      this.#read.set(id, rowsOf(block, { channel, entityId }))
    }
  }
}

const NO_UPDATES: readonly UpdateRow[] = []

/** When the last one of the blocks was accepted. */
async function lastAtOf(reader: Reader, ids: readonly number[]): Promise<number> {
  const [last] = await reader.all<Pick<UpdateBlockRow, 'lastAt'>>(
    'SELECT last_at AS lastAt FROM update_blocks WHERE id = ?',
    [ids.at(-1) ?? 0],
  )
  return last?.lastAt ?? 0
}
