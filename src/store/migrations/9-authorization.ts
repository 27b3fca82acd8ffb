import type { MigrationInterface, QueryRunner } from 'typeorm'

import { columnsFor } from './columns.ts'

const TABLES = ['authorization_records', 'authorization_secrets', 'bindings', 'bind_sessions']

/**
 * Records of the authorization server, and the channels that are bound to its grants. A node of the
 * version before has no such server.
 */
export class Authorization1800000000000 implements MigrationInterface {
  readonly name = 'Authorization1800000000000'

  async up(runner: QueryRunner): Promise<void> {
    const { createTable, integer, text, document } = columnsFor(runner)
    const statements = [
      createTable({
        name: 'authorization_records',
        columns: `model ${text(40)} NOT NULL, id_hash ${text(64)} NOT NULL,
          grant_id ${text(64)} NOT NULL, uid ${text(64)} NOT NULL, payload ${document} NOT NULL,
          consumed_at ${integer} NOT NULL, expires_at ${integer} NOT NULL,
          PRIMARY KEY (model, id_hash)`,
        indexes: [
          { name: 'authorization_records_by_grant', columns: 'grant_id' },
          { name: 'authorization_records_by_uid', columns: 'uid' },
          { name: 'authorization_records_by_end', columns: 'expires_at' },
        ],
      }),
      createTable({
        name: 'authorization_secrets',
        columns: `purpose ${text(40)} NOT NULL, period ${integer} NOT NULL,
          secret ${document} NOT NULL, PRIMARY KEY (purpose, period)`,
      }),
      createTable({
        name: 'bindings',
        columns: `grant_id ${text(64)} NOT NULL, channel ${integer} NOT NULL,
          password_hash ${text(255)} NOT NULL, client_name ${text(512)} NOT NULL,
          bound_at ${integer} NOT NULL, PRIMARY KEY (grant_id, channel)`,
        indexes: [{ name: 'bindings_by_channel', columns: 'channel, grant_id' }],
      }),
      createTable({
        name: 'bind_sessions',
        columns: `bind_session ${text(32)} PRIMARY KEY NOT NULL, secret_hash ${text(64)} NOT NULL,
          grant_id ${text(64)} NOT NULL, client_name ${text(512)} NOT NULL,
          channel ${integer} NOT NULL, expires_at ${integer} NOT NULL`,
        indexes: [
          { name: 'bind_sessions_by_secret', columns: 'secret_hash', isUnique: true },
          { name: 'bind_sessions_by_end', columns: 'expires_at' },
        ],
      }),
    ]
    for (const statement of statements.flat()) await runner.query(statement)
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES.toReversed()) await runner.query(`DROP TABLE ${table}`)
  }
}
