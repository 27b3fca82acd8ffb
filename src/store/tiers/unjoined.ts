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

import { hashOf } from '#domain/identity'
import type { UpdateBlockRow } from '#src/store/entities/feed'
import { rowsOf, unpackedBlock } from '#src/store/feed/update-blocks'
import type { UpdateRow } from '#src/store/feed/update-blocks'
import type { Reader } from '#src/store/jobs/executor'
import { allIn } from '#src/store/statements/bulk'
import type { KnownBlocks } from './known-blocks.ts'

/** Blocks that one read takes: four runs. */
const BLOCKS_MAX = 2_048
/** Those of a slice: some 2 ms. */
const SLICE_BLOCKS = 16

type Block = Pick<UpdateBlockRow, 'id' | 'content'>

export interface Found {
  readonly updates: readonly UpdateRow[]
  /** False where there are more blocks, which are left out. */
  readonly isAll: boolean
}

export class Unjoined {
  readonly #blocks: KnownBlocks
  readonly #channel: number
  readonly #thingId: string
  /** What blocks that were read have of the Thing, by their numbers. */
  readonly #read = new Map<number, readonly UpdateRow[]>()

  constructor(blocks: KnownBlocks, channel: number, thingId: string) {
    this.#blocks = blocks
    this.#channel = channel
    this.#thingId = thingId
  }

  /** unjoined/2 */
  async readAhead(reader: Reader): Promise<void> {
    const ids = this.#having(await this.#ids(reader))
    for (let start = 0; start < ids.length; start += SLICE_BLOCKS) {
      await this.#look(reader, ids.slice(start, start + SLICE_BLOCKS))
    }
  }

  /** The updates of the Thing in a snapshot, the oldest first. (unjoined/1) */
  async found(snapshot: Reader): Promise<Found> {
    const ids = await this.#ids(snapshot)
    const oldest = ids.slice(0, BLOCKS_MAX)
    await this.#look(snapshot, this.#having(oldest))
    const updates = oldest.flatMap((id) => this.#read.get(id) ?? [])
    return { updates, isAll: ids.length <= BLOCKS_MAX }
  }

  async #ids(reader: Reader): Promise<readonly number[]> {
    const rows = await reader.all<Pick<Block, 'id'>>(
      `SELECT b.id FROM update_blocks b WHERE b.is_joined = 0 AND EXISTS
        (SELECT 1 FROM update_places p WHERE p.block = b.id AND p.channel = ?)
        ORDER BY b.id LIMIT ?`,
      [this.#channel, BLOCKS_MAX + 1],
    )
    return rows.map(({ id }) => id)
  }

  /** Those of the blocks that may have the Thing, and were not read. */
  #having(ids: readonly number[]): readonly number[] {
    const thing = hashOf(this.#thingId)
    const having: number[] = []
    for (const id of ids) {
      if (this.#read.has(id)) continue
      if (this.#blocks.mayHave(id, thing)) having.push(id)
      else this.#read.set(id, NO_UPDATES)
    }
    return having
  }

  async #look(reader: Reader, ids: readonly number[]): Promise<void> {
    const wanted = { channel: this.#channel, entityId: this.#thingId }
    const blocks = await allIn<Block>(
      reader,
      ids,
      (list) => `SELECT id, content FROM update_blocks WHERE id IN (${list}) AND is_joined = 0`,
    )
    for (const { id, content } of blocks) {
      const block = unpackedBlock(content)
      this.#blocks.learn(id, block.columns.entities)
      this.#read.set(id, rowsOf(block, wanted))
    }
  }
}

const NO_UPDATES: readonly UpdateRow[] = []
