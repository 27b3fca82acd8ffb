import type { MigrationInterface, QueryRunner } from 'typeorm'

import { columnsFor } from './columns.ts'

/**
 * Adds keys that stand for a channel and its password. A node of the version before accepts none.
 */
export class ChannelKeys1798000000000 implements MigrationInterface {
  readonly name = 'ChannelKeys1798000000000'

  async up(runner: QueryRunner): Promise<void> {
    const { createTable, integer, text } = columnsFor(runner)
    const statements = createTable({
      name: 'channel_keys',
      columns: `key_hash ${text(64)} PRIMARY KEY NOT NULL, channel ${integer} NOT NULL,
        password_hash ${text(255)} NOT NULL, key_id ${text(32)} NOT NULL,
        label ${text(512)} NOT NULL, created_at ${integer} NOT NULL`,
      indexes: [{ name: 'channel_keys_by_channel', columns: 'channel, key_id' }],
    })
    for (const statement of statements) await runner.query(statement)
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE channel_keys')
  }
}
