import type { MigrationInterface, QueryRunner } from 'typeorm'

import { columnsFor } from './columns.ts'

const TABLE = 'scheduled_messages'

/**
 * Adds the Messages that wait for their time. A node of the version before sends them at once, and
 * leaves those that wait to the next owner.
 */
export class Scheduled1804500000000 implements MigrationInterface {
  readonly name = 'Scheduled1804500000000'

  async up(runner: QueryRunner): Promise<void> {
    const { createTable, integer, text, document } = columnsFor(runner)
    const statements = createTable({
      name: TABLE,
      columns: `channel ${integer} NOT NULL, op_id ${text(128)} NOT NULL, lane ${integer} NOT NULL,
        due ${integer} NOT NULL, message_id ${text(32)} NOT NULL, document ${document} NOT NULL,
        PRIMARY KEY (channel, op_id)`,
      indexes: [{ name: `${TABLE}_by_due`, columns: 'lane, due, op_id, channel' }],
    })
    for (const statement of statements) await runner.query(statement)
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE ${TABLE}`)
  }
}
