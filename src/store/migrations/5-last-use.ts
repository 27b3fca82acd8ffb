import type { MigrationInterface, QueryRunner } from 'typeorm'

import { columnsFor, createIndex, dropIndex, isMySql } from './columns.ts'

/**
 * Adds the times at which devices and channels were last in use. (idle.ts) Existing devices count
 * as seen now. Nodes of the version before leave the columns as they are, and retention looks
 * again.
 */
export class LastUse1796000000000 implements MigrationInterface {
  readonly name = 'LastUse1796000000000'

  async up(runner: QueryRunner): Promise<void> {
    const { integer } = columnsFor(runner)
    if (!(await runner.hasColumn('devices', 'seen_at'))) {
      await runner.query(`ALTER TABLE devices ADD COLUMN seen_at ${integer}`)
    }
    const now = isMySql(runner) ? 'unix_timestamp()' : 'unixepoch()'
    await runner.query(`UPDATE devices SET seen_at = ${now} * 1000 WHERE seen_at IS NULL`)
    for (const column of ['used_at', 'used_seq']) {
      if (await runner.hasColumn('channels', column)) continue
      await runner.query(`ALTER TABLE channels ADD COLUMN ${column} ${integer} NOT NULL DEFAULT 0`)
    }
    for (const index of INDEXES) await createIndex(runner, index)
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const index of INDEXES) await dropIndex(runner, index)
    await runner.query('ALTER TABLE devices DROP COLUMN seen_at')
    await runner.query('ALTER TABLE channels DROP COLUMN used_at')
    await runner.query('ALTER TABLE channels DROP COLUMN used_seq')
  }
}

const INDEXES = [
  { name: 'devices_by_seen_at', table: 'devices', columns: 'seen_at, created_at' },
  { name: 'channels_by_used_at', table: 'channels', columns: 'is_deleted, used_at' },
] as const
