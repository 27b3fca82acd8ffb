import type { MigrationInterface, QueryRunner } from 'typeorm'

import { columnsFor, isMySql } from './columns.ts'

const TABLE = 'operation_batches'
const COMPACT_SINCE = 'compact_since'
/** Milliseconds for which nodes of the version before may go on. */
const GRACE_MS = 3_600_000

/**
 * Adds the records of batches. A node of the version before does not find operations in them: in a
 * cluster that has applied something, they are written an hour after this step only.
 */
export class Compact1803000000000 implements MigrationInterface {
  readonly name = 'Compact1803000000000'

  async up(runner: QueryRunner): Promise<void> {
    const { createTable, serial, integer, text, bytes } = columnsFor(runner)
    const statements = createTable({
      name: TABLE,
      columns: `${serial}, first_op ${text(46)} NOT NULL, last_at ${integer} NOT NULL,
        operations ${integer} NOT NULL, content ${bytes} NOT NULL`,
      indexes: [{ name: `${TABLE}_by_op`, columns: 'first_op, last_at', isUnique: true }],
    })
    for (const statement of statements) await runner.query(statement)
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
    await runner.query(`DROP TABLE ${TABLE}`)
    await runner.query('DELETE FROM gateway_meta WHERE name = ?', [COMPACT_SINCE])
  }
}
