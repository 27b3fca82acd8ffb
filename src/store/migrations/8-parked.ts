import type { MigrationInterface, QueryRunner } from 'typeorm'

import { columnsFor } from './columns.ts'

const TABLE = 'parked_submissions'

/**
 * Adds the submissions that wait while the database refuses the rows of their channel. A node of
 * the version before parks nothing: its lane waits, as before.
 */
export class Parked1799500000000 implements MigrationInterface {
  readonly name = 'Parked1799500000000'

  async up(runner: QueryRunner): Promise<void> {
    const { createTable, serial, integer, text, document } = columnsFor(runner)
    const statements = createTable({
      name: TABLE,
      columns: `${serial}, channel_id ${text(26)} NOT NULL, lane ${integer} NOT NULL,
        position ${integer} NOT NULL, item ${integer} NOT NULL, payload ${document} NOT NULL,
        error ${document} NOT NULL`,
      indexes: [
        { name: `${TABLE}_by_channel`, columns: 'channel_id, id' },
        { name: `${TABLE}_by_lane`, columns: 'lane, channel_id' },
      ],
    })
    for (const statement of statements) await runner.query(statement)
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE ${TABLE}`)
  }
}
