import type { MigrationInterface, QueryRunner } from 'typeorm'

import { columnsFor } from './columns.ts'

/**
 * Adds the rules of channels, and what waits for a time. A node of the version before decides
 * without rules: its turns change no watch, and the next owner takes them up as they are.
 */
export class Rules1804000000000 implements MigrationInterface {
  readonly name = 'Rules1804000000000'

  async up(runner: QueryRunner): Promise<void> {
    const { createTable, integer, text, document } = columnsFor(runner)
    const rules = createTable({
      name: 'rules',
      columns: `channel ${integer} NOT NULL, id ${text(64)} NOT NULL, version ${text(128)} NOT NULL,
        since ${integer} NOT NULL, created_at ${integer} NOT NULL, updated_at ${integer} NOT NULL,
        document ${document} NOT NULL, failures ${integer} NOT NULL DEFAULT 0,
        last_failure ${text(256)} NOT NULL DEFAULT '', PRIMARY KEY (channel, id)`,
    })
    const watches = createTable({
      name: 'watches',
      columns: `channel ${integer} NOT NULL, rule_id ${text(64)} NOT NULL,
        thing_id ${text(64)} NOT NULL, lane ${integer} NOT NULL, due ${integer},
        document ${document} NOT NULL, PRIMARY KEY (channel, rule_id, thing_id)`,
      indexes: [
        { name: 'watches_by_thing', columns: 'channel, thing_id' },
        { name: 'watches_by_due', columns: 'lane, due, rule_id, thing_id, channel' },
      ],
    })
    for (const statement of [...rules, ...watches]) await runner.query(statement)
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['watches', 'rules']) await runner.query(`DROP TABLE ${table}`)
  }
}
