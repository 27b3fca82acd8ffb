import type { MigrationInterface, QueryRunner } from 'typeorm'

import { columnsFor } from './columns.ts'

/**
 * Adds a count of the sessions of each device. Nodes of the version before leave the column alone.
 */
export class SessionNumbers1795400000000 implements MigrationInterface {
  readonly name = 'SessionNumbers1795400000000'

  async up(runner: QueryRunner): Promise<void> {
    if (await runner.hasColumn('devices', 'sessions')) return
    const { integer } = columnsFor(runner)
    await runner.query(`ALTER TABLE devices ADD COLUMN sessions ${integer} NOT NULL DEFAULT 0`)
  }

  async down(runner: QueryRunner): Promise<void> {
    if (!(await runner.hasColumn('devices', 'sessions'))) return
    await runner.query('ALTER TABLE devices DROP COLUMN sessions')
  }
}
