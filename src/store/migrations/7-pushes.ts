import type { MigrationInterface, QueryRunner } from 'typeorm'

import { columnsFor, createTables } from './columns.ts'
import type { ColumnDefinitions, TableDefinition } from './columns.ts'

const COLUMNS = [
  ['devices', 'route_revision'],
  ['channel_heads', 'has_provider_routes'],
] as const

/**
 * Adds the jobs of dispatch. New columns of older tables have a default, so that nodes of the
 * version before can go on writing.
 */
export class Pushes1799000000000 implements MigrationInterface {
  readonly name = 'Pushes1799000000000'

  async up(runner: QueryRunner): Promise<void> {
    await createTables(runner, tables)
    const { integer } = columnsFor(runner)
    for (const [table, column] of COLUMNS) {
      if (await runner.hasColumn(table, column)) continue
      await runner.query(`ALTER TABLE ${table} ADD COLUMN ${column} ${integer} NOT NULL DEFAULT 0`)
    }
    await runner.query(
      `UPDATE channel_heads SET has_provider_routes = 1 WHERE channel IN (
        SELECT s.channel FROM devices d JOIN subscriptions s ON s.device = d.id
        WHERE d.channel_type <> 'private')`,
    )
  }

  async down(runner: QueryRunner): Promise<void> {
    const definitions = columnsFor(runner)
    for (const [table, column] of COLUMNS) {
      await runner.query(`ALTER TABLE ${table} DROP COLUMN ${column}`)
    }
    for (const { name } of tables(definitions)) await runner.query(`DROP TABLE ${name}`)
  }
}

const tables = ({ serial, integer, text }: ColumnDefinitions): readonly TableDefinition[] => [
  {
    name: 'push_jobs',
    columns: `${serial}, provider ${text(16)} NOT NULL, device ${integer} NOT NULL,
      route_revision ${integer} NOT NULL, channel ${integer} NOT NULL, seq ${integer} NOT NULL,
      op_id ${text(128)} NOT NULL, thing ${text(64)}, state ${text(16)} NOT NULL,
      queued_at ${integer} NOT NULL, due_at ${integer} NOT NULL, expires_at ${integer} NOT NULL,
      attempts ${integer} NOT NULL, claim ${text(64)} NOT NULL`,
    indexes: [
      { name: 'push_jobs_by_due', columns: 'provider, due_at' },
      { name: 'push_jobs_by_device', columns: 'device, state' },
      { name: 'push_jobs_by_thing', columns: 'device, channel, thing' },
      { name: 'push_jobs_by_operation', columns: 'op_id' },
    ],
  },
  {
    name: 'push_tallies',
    columns: `op_id ${text(128)} PRIMARY KEY NOT NULL, served ${integer} NOT NULL,
      failed ${integer} NOT NULL`,
    isClustered: true,
  },
]
