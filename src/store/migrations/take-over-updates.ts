// Takes over the updates of Things: the version before wrote them as rows, and made blocks of these
// that had no spans.

import type { QueryRunner } from 'typeorm'

import { dialectOf } from '#src/store/dialects'
import type { FeedRow, UpdateBlockRow, UpdatePlaceRow } from '#src/store/entities/feed'
import { addBlock, blocksOf } from '#src/store/feed/update-blocks'
import { UPDATE_NUMBER } from '#src/store/turns/update-numbers'
import {
  addColumn,
  createIndex,
  createTables,
  inTransaction,
  integerOf,
  isMySql,
} from './changes.ts'

const ROWS = 'thing_updates'
const TAKEN = 'former_thing_updates'
const PLACES = 'update_places'
const TAKEN_PLACES = 'former_update_places'
const ROWS_AT_ONCE = 128
/** Beyond every number that rows or blocks have, as a run of these had far fewer. */
const NUMBERS_AHEAD = 1_048_576

/** Makes blocks with spans the only form of updates. (take-over/1) */
export async function takeUpdates(runner: QueryRunner): Promise<void> {
  if (await runner.hasTable(ROWS)) {
    await runner.query(`ALTER TABLE ${ROWS} RENAME TO ${TAKEN}`) // take-over/2
  }
  await addColumn(runner, 'update_blocks', {
    name: 'is_joined',
    definition: `${integerOf(runner)} NOT NULL DEFAULT 1`,
  })
  await createIndex(runner, 'update_blocks', { name: 'update_blocks_by_time', columns: 'last_at' })
  await createIndex(runner, 'update_blocks', {
    name: 'update_blocks_to_join',
    columns: 'is_joined, id',
  })
  await addSpans(runner)
  if (!(await runner.hasTable(TAKEN))) return
  await setFirstNumber(runner)
  while (await moveRows(runner)) continue
  await runner.query(`DROP TABLE ${TAKEN}`)
}

async function addSpans(runner: QueryRunner): Promise<void> {
  if (await runner.hasColumn(PLACES, 'span')) return
  if (isMySql(runner)) {
    await runner.query(
      `ALTER TABLE ${PLACES} ADD COLUMN span bigint NOT NULL FIRST,
        DROP PRIMARY KEY, ADD PRIMARY KEY (span, channel, last_seq)`,
    )
    return
  }
  // SQLite cannot change the key of a table.
  await runner.query('DROP INDEX update_places_by_block')
  await runner.query(`ALTER TABLE ${PLACES} RENAME TO ${TAKEN_PLACES}`)
  await createTables(runner, [PLACES])
  await runner.query(
    `INSERT INTO ${PLACES} (span, channel, last_seq, last_at, block)
      SELECT block >> ${dialectFor(runner).spanBits ?? 0}, channel, last_seq, last_at, block
      FROM ${TAKEN_PLACES}`,
  )
  await runner.query(`DROP TABLE ${TAKEN_PLACES}`)
}

const dialectFor = ({ dataSource }: QueryRunner) => dialectOf(dataSource.options.type)

/** Before any row is moved: the newest id is known then. */
async function setFirstNumber(runner: QueryRunner): Promise<void> {
  const [row] = (await runner.query(
    `SELECT coalesce((SELECT max(id) FROM ${TAKEN}), 0) AS ofRows,
      coalesce((SELECT max(id) FROM update_blocks), 0) AS ofBlocks`,
  )) as { readonly ofRows: number; readonly ofBlocks: number }[]
  const newest = Math.max(Number(row?.ofRows), Number(row?.ofBlocks))
  const first = newest === 0 ? 1 : newest + NUMBERS_AHEAD
  const isKept = dialectFor(runner).onDuplicate(['name'], [])
  await runner.query(`INSERT INTO gateway_meta (name, value) VALUES (?, ?) ${isKept}`, [
    UPDATE_NUMBER,
    String(first),
  ])
}

/** Makes blocks of the oldest rows, in one transaction; false when there are none. */
async function moveRows(runner: QueryRunner): Promise<boolean> {
  const rows = (await runner.query(
    `SELECT id, channel, seq, model, action, entity_id AS entityId, op_id AS opId, state, rev,
        accepted_at AS acceptedAt, payload
      FROM ${TAKEN} ORDER BY id LIMIT ${ROWS_AT_ONCE}`,
  )) as (FeedRow & { readonly id: number })[]
  const updates = rows
    .map((item) => ({ ref: item.channel, item }))
    .toSorted((one, other) => one.ref - other.ref || one.item.seq - other.item.seq)
  const written = { blocks: [] as UpdateBlockRow[], places: [] as UpdatePlaceRow[] }
  let at = 0
  for (const block of blocksOf(updates)) {
    addBlock(written, block, { id: rows[at]?.id ?? 0, isJoined: 1, dialect: dialectFor(runner) })
    at += block.entries
  }
  await inTransaction(runner, async () => {
    for (const { id, lastAt, entries, places, isJoined, content } of written.blocks) {
      await runner.query(
        `INSERT INTO update_blocks (id, last_at, entries, places, is_joined, content)
          VALUES (?, ?, ?, ?, ?, ?)`,
        [id, lastAt, entries, places, isJoined, content],
      )
    }
    for (const { span, channel, lastSeq, lastAt, block } of written.places) {
      await runner.query(
        `INSERT INTO ${PLACES} (span, channel, last_seq, last_at, block) VALUES (?, ?, ?, ?, ?)`,
        [span, channel, lastSeq, lastAt, block],
      )
    }
    await runner.query(`DELETE FROM ${TAKEN} WHERE id <= ?`, [rows.at(-1)?.id ?? 0])
  })
  return rows.length > 0
}
