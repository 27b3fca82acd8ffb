import type { MigrationInterface, QueryRunner } from 'typeorm'

import { createIndex, createTables, dropIndex, isMySql } from './columns.ts'
import type { ColumnDefinitions, TableDefinition } from './columns.ts'

const UPDATE_NUMBER = 'update_number'
/** Beyond every number that rows or blocks have, as a run of these had far fewer. */
const NUMBERS_AHEAD = 1_048_576
const ROWS_AT_ONCE = 128
const SPAN_BITS = 15

interface UpdateRow {
  readonly id: number
  readonly channel: number
  readonly seq: number
  readonly model: string
  readonly action: string
  readonly entity_id: string
  readonly op_id: string
  readonly state: string | null
  readonly rev: number | null
  readonly accepted_at: number
  readonly payload: string
}

/**
 * Makes blocks the only form of updates: places get spans, and the rows of `thing_updates` become
 * blocks. Each step may run again after an earlier run ended in it.
 */
export class UpdateBlocks1807000000000 implements MigrationInterface {
  readonly name = 'UpdateBlocks1807000000000'

  async up(runner: QueryRunner): Promise<void> {
    await addSpans(runner)
    if (!(await runner.hasColumn('update_blocks', 'is_joined'))) {
      const type = isMySql(runner) ? 'bigint' : 'integer'
      await runner.query(
        `ALTER TABLE update_blocks ADD COLUMN is_joined ${type} NOT NULL DEFAULT 1`,
      )
    }
    await createIndex(runner, {
      name: 'update_blocks_by_time',
      table: 'update_blocks',
      columns: 'last_at',
    })
    await createIndex(runner, {
      name: 'update_blocks_to_join',
      table: 'update_blocks',
      columns: 'is_joined, id',
    })
    if (!(await runner.hasTable('thing_updates'))) return
    await setFirstNumber(runner)
    while ((await moveRows(runner)) > 0) continue
    await runner.query('DROP TABLE thing_updates')
  }

  async down(runner: QueryRunner): Promise<void> {
    await createTables(runner, rowsOfUpdates)
    if (!isMySql(runner)) {
      await runner.query('DROP INDEX thing_updates_by_seq')
      const index = 'CREATE UNIQUE INDEX thing_updates_by_span ON thing_updates'
      await runner.query(`${index} (id >> ${SPAN_BITS}, channel, seq)`)
    }
    await dropSpans(runner)
    await dropIndex(runner, { name: 'update_blocks_to_join', table: 'update_blocks' })
    await dropIndex(runner, { name: 'update_blocks_by_time', table: 'update_blocks' })
    await runner.query('ALTER TABLE update_blocks DROP COLUMN is_joined')
    await runner.query('DELETE FROM gateway_meta WHERE name = ?', [UPDATE_NUMBER])
  }
}

const rowsOfUpdates = ({
  serial,
  integer,
  text,
  document,
}: ColumnDefinitions): readonly TableDefinition[] => [
  {
    name: 'thing_updates',
    columns: `${serial}, channel ${integer} NOT NULL, seq ${integer} NOT NULL,
      model ${text(16)} NOT NULL, action ${text(16)} NOT NULL, entity_id ${text(64)} NOT NULL,
      op_id ${text(128)} NOT NULL, state ${text(16)}, rev ${integer},
      accepted_at ${integer} NOT NULL, payload ${document} NOT NULL`,
    indexes: [{ name: 'thing_updates_by_seq', columns: 'channel, seq', isUnique: true }],
  },
]

async function addSpans(runner: QueryRunner): Promise<void> {
  if (await runner.hasColumn('update_places', 'span')) return
  if (isMySql(runner)) {
    await runner.query(
      `ALTER TABLE update_places ADD COLUMN span bigint NOT NULL FIRST,
        DROP PRIMARY KEY, ADD PRIMARY KEY (span, channel, last_seq)`,
    )
    return
  }
  await remakePlaces(runner, {
    columns: 'span integer NOT NULL, channel',
    key: 'span, channel',
    from: `block >> ${SPAN_BITS}, channel`,
  })
}

async function dropSpans(runner: QueryRunner): Promise<void> {
  if (isMySql(runner)) {
    await runner.query(
      `ALTER TABLE update_places DROP PRIMARY KEY, DROP COLUMN span,
        ADD PRIMARY KEY (channel, last_seq)`,
    )
    return
  }
  await remakePlaces(runner, { columns: 'channel', key: 'channel', from: 'channel' })
}

/** SQLite cannot change the key of a table. */
async function remakePlaces(
  runner: QueryRunner,
  { columns, key, from }: Readonly<Record<'columns' | 'key' | 'from', string>>,
): Promise<void> {
  await runner.query(
    `CREATE TABLE places (${columns} integer NOT NULL, last_seq integer NOT NULL,
      last_at integer NOT NULL, block integer NOT NULL, PRIMARY KEY (${key}, last_seq))
      WITHOUT ROWID`,
  )
  await runner.query(
    `INSERT INTO places SELECT ${from}, last_seq, last_at, block FROM update_places`,
  )
  await runner.query('DROP TABLE update_places')
  await runner.query('ALTER TABLE places RENAME TO update_places')
  await runner.query('CREATE INDEX update_places_by_block ON update_places (block)')
}

/** Before any row is moved: the newest id is known then. */
async function setFirstNumber(runner: QueryRunner): Promise<void> {
  const [row] = (await runner.query(
    `SELECT coalesce((SELECT max(id) FROM thing_updates), 0) AS ofRows,
      coalesce((SELECT max(id) FROM update_blocks), 0) AS ofBlocks`,
  )) as { readonly ofRows: number; readonly ofBlocks: number }[]
  const newest = Math.max(Number(row?.ofRows), Number(row?.ofBlocks))
  const first = newest === 0 ? 1 : newest + NUMBERS_AHEAD
  const isKept = isMySql(runner)
    ? 'ON DUPLICATE KEY UPDATE name = name'
    : 'ON CONFLICT (name) DO NOTHING'
  await runner.query(`INSERT INTO gateway_meta (name, value) VALUES (?, ?) ${isKept}`, [
    UPDATE_NUMBER,
    String(first),
  ])
}

/** Makes a block of the oldest rows, in one transaction; gives their number. */
async function moveRows(runner: QueryRunner): Promise<number> {
  const rows = (await runner.query(
    `SELECT * FROM thing_updates ORDER BY id LIMIT ${ROWS_AT_ONCE}`,
  )) as UpdateRow[]
  const [first] = rows
  if (first === undefined) return 0
  const ordered = rows.toSorted((one, other) => one.channel - other.channel || one.seq - other.seq)
  const byChannel = [...Map.groupBy(ordered, ({ channel }) => channel)]
  const lastAt = Math.max(...rows.map((row) => row.accepted_at))
  const span = isMySql(runner) ? 0 : Math.floor(first.id / 2 ** SPAN_BITS)
  // MySQL has ended the transaction of the migration at its first change of a table.
  const isOurs = isMySql(runner)
  if (isOurs) await runner.query('START TRANSACTION')
  await runner.query(
    `INSERT INTO update_blocks (id, last_at, entries, places, is_joined, content)
      VALUES (?, ?, ?, ?, 1, ?)`,
    [first.id, lastAt, rows.length, byChannel.length, contentOf(ordered, byChannel)],
  )
  for (const [channel, own] of byChannel) {
    await runner.query(
      `INSERT INTO update_places (span, channel, last_seq, last_at, block) VALUES (?, ?, ?, ?, ?)`,
      [span, channel, own.at(-1)?.seq, Math.max(...own.map((row) => row.accepted_at)), first.id],
    )
  }
  await runner.query('DELETE FROM thing_updates WHERE id <= ?', [rows.at(-1)?.id])
  if (isOurs) await runner.query('COMMIT')
  return rows.length
}

/** A block whose text is not compressed and whose op_ids stand in it as they are. */
function contentOf(
  rows: readonly UpdateRow[],
  byChannel: readonly (readonly [number, readonly UpdateRow[]])[],
): Buffer {
  const firstAt = rows[0]?.accepted_at ?? 0
  const columns = {
    channels: byChannel.map(([channel, { length }]) => [channel, length]),
    seqs: byChannel.flatMap(([, own]) => own.map(({ seq }, at) => seq - (own[at - 1]?.seq ?? 0))),
    models: rows.map(({ model }) => model),
    actions: rows.map(({ action }) => action),
    entities: rows.map((row) => row.entity_id),
    states: rows.map(({ state }) => state),
    revs: rows.map(({ rev }) => rev),
    times: rows.map((row) => row.accepted_at - firstAt),
    firstAt,
    opIds: rows.map((row) => row.op_id),
    lengths: rows.map(({ payload }) => payload.length),
  }
  const text = `${JSON.stringify(columns)}\n${rows.map(({ payload }) => payload).join('')}`
  return Buffer.concat([Buffer.of(0, 0), Buffer.from(text)])
}
