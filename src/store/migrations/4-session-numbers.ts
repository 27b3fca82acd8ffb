import type { MigrationInterface, QueryRunner } from 'typeorm'

import { dialectOf } from '#src/store/dialects'

/** The sessions of each device, counted. Nodes of the version before leave the column alone. */
export class SessionNumbers1795400000000 implements MigrationInterface {
  readonly name = 'SessionNumbers1795400000000'

  async up(runner: QueryRunner): Promise<void> {
    if (await runner.hasColumn('devices', 'sessions')) return
    const { integer } = dialectOf(runner.dataSource.options.type).definitions
    await runner.query(`ALTER TABLE devices ADD COLUMN sessions ${integer} NOT NULL DEFAULT 0`)
  }

  async down(runner: QueryRunner): Promise<void> {
    if (!(await runner.hasColumn('devices', 'sessions'))) return
    await runner.query('ALTER TABLE devices DROP COLUMN sessions')
  }
}
