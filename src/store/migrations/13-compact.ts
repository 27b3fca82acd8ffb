import type { MigrationInterface, QueryRunner } from 'typeorm'

import { createTables, dropTables, isMySql } from './columns.ts'
import type { ColumnDefinitions, TableDefinition } from './columns.ts'

const COMPACT_SINCE = 'compact_since'
/** Milliseconds for which nodes of the version before may go on. */
const GRACE_MS = 3_600_000

/**
 * Adds the records of batches and the blocks of updates. A node of the version before does not find
 * anything in them: in a cluster that has applied something, they are written from an hour after
 * this step on.
 */
export class Compact1803000000000 implements MigrationInterface {
  readonly name = 'Compact1803000000000'

  async up(runner: QueryRunner): Promise<void> {
    await createTables(runner, tables)
    if (!isMySql(runner)) return
    await runner.query(
      `INSERT INTO gateway_meta (name, value)
        SELECT ?, floor(unix_timestamp() * 1000) + ${GRACE_MS} FROM DUAL
        WHERE EXISTS (SELECT 1 FROM lanes WHERE place > 0)
        ON DUPLICATE KEY UPDATE name = name`,
      [COMPACT_SINCE],
    )
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropTables(runner, tables)
    await runner.query('DELETE FROM gateway_meta WHERE name = ?', [COMPACT_SINCE])
  }
}

const tables = ({
  serial,
  integer,
  text,
  bytes,
}: ColumnDefinitions): readonly TableDefinition[] => [
  {
    name: 'operation_batches',
    columns: `${serial}, first_op ${text(46)} NOT NULL, last_at ${integer} NOT NULL,
      operations ${integer} NOT NULL, content ${bytes} NOT NULL`,
    indexes: [{ name: 'operation_batches_by_op', columns: 'first_op, last_at', isUnique: true }],
  },
  {
    name: 'update_blocks',
    columns: `id ${integer} PRIMARY KEY NOT NULL, last_at ${integer} NOT NULL,
      entries ${integer} NOT NULL, places ${integer} NOT NULL, content ${bytes} NOT NULL`,
  },
  {
    name: 'update_places',
    columns: `channel ${integer} NOT NULL, last_seq ${integer} NOT NULL,
      last_at ${integer} NOT NULL, block ${integer} NOT NULL, PRIMARY KEY (channel, last_seq)`,
    indexes: [{ name: 'update_places_by_block', columns: 'block' }],
    isClustered: true,
  },
]
