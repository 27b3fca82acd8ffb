import type { MigrationInterface, QueryRunner } from 'typeorm'

import { columnsFor } from './columns.ts'

/**
 * Adds the keys that made MQTT sessions. A node of the version before names sessions by channel and
 * client id alone: those that it keeps for keys are for it alone, and end with their time.
 */
export class SessionKeys1806000000000 implements MigrationInterface {
  readonly name = 'SessionKeys1806000000000'

  async up(runner: QueryRunner): Promise<void> {
    const { text } = columnsFor(runner)
    if (await runner.hasColumn('mqtt_sessions', 'key_id')) return
    await runner.query(
      `ALTER TABLE mqtt_sessions ADD COLUMN key_id ${text(32)} NOT NULL DEFAULT ''`,
    )
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE mqtt_sessions DROP COLUMN key_id')
  }
}
