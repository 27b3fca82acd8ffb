import type { MigrationInterface, QueryRunner } from 'typeorm'

import { columnsFor, createIndex, isMySql } from './columns.ts'

const INDEXES = [
  { name: 'channel_keys_by_age', table: 'channel_keys', columns: 'channel, id' },
  { name: 'channel_keys_by_epoch', table: 'channel_keys', columns: 'channel, epoch' },
]

/**
 * Returns keys a number, an epoch and rights, and channels the epoch of their keys. A node of the
 * version before takes no key that is made from here on, and leaves it alone: it names no hash.
 */
export class KeyRights1802000000000 implements MigrationInterface {
  readonly name = 'KeyRights1802000000000'

  async up(runner: QueryRunner): Promise<void> {
    const { integer, text } = columnsFor(runner)
    const columns = [
      ['keys_hash', `${text(255)} NOT NULL DEFAULT ''`],
      ['keys_epoch', `${integer} NOT NULL DEFAULT 0`],
    ]
    for (const [column, type] of columns) {
      if (await runner.hasColumn('channels', String(column))) continue
      await runner.query(`ALTER TABLE channels ADD COLUMN ${column} ${type}`)
    }
    if (!(await runner.hasColumn('channel_keys', 'epoch'))) {
      for (const statement of rebuilt(runner)) await runner.query(statement)
    }
    for (const index of INDEXES) await createIndex(runner, index)
  }

  /** Keys with rights have no place in the table of before. */
  async down(runner: QueryRunner): Promise<void> {
    for (const statement of undone(runner)) await runner.query(statement)
    for (const column of ['keys_hash', 'keys_epoch']) {
      await runner.query(`ALTER TABLE channels DROP COLUMN ${column}`)
    }
  }
}

const KEPT = 'key_hash, channel, password_hash, key_id, label, created_at'
const ADDED = ['epoch', 'scopes', 'thing_prefix', 'expires_at', 'last_used_on']

function undone(runner: QueryRunner): readonly string[] {
  const { createTable, integer, text } = columnsFor(runner)
  const withoutRights = 'DELETE FROM channel_keys WHERE password_hash IS NULL'
  if (isMySql(runner)) {
    return [
      withoutRights,
      `ALTER TABLE channel_keys ${INDEXES.map(({ name }) => `DROP KEY ${name}, `).join('')}
        DROP KEY channel_keys_by_hash, DROP COLUMN id, DROP COLUMN ${ADDED.join(', DROP COLUMN ')},
        MODIFY password_hash ${text(255)} NOT NULL, ADD PRIMARY KEY (key_hash)`,
    ]
  }
  const before = createTable({
    name: 'channel_keys',
    columns: `key_hash ${text(64)} PRIMARY KEY NOT NULL, channel ${integer} NOT NULL,
      password_hash ${text(255)} NOT NULL, key_id ${text(32)} NOT NULL,
      label ${text(512)} NOT NULL, created_at ${integer} NOT NULL`,
    indexes: [{ name: 'channel_keys_by_channel', columns: 'channel, key_id' }],
  })
  return [
    withoutRights,
    'ALTER TABLE channel_keys RENAME TO channel_keys_before',
    'DROP INDEX channel_keys_by_channel',
    ...before,
    `INSERT INTO channel_keys (${KEPT}) SELECT ${KEPT} FROM channel_keys_before`,
    'DROP TABLE channel_keys_before',
  ]
}

/** The statements that bring the table into its new form, with its rows. */
function rebuilt(runner: QueryRunner): readonly string[] {
  const { serial, integer, text } = columnsFor(runner)
  const added = [
    `epoch ${integer} NOT NULL DEFAULT 0`,
    `scopes ${text(64)} NOT NULL DEFAULT 'send read'`,
    `thing_prefix ${text(128)} NOT NULL DEFAULT ''`,
    `expires_at ${integer} NOT NULL DEFAULT 0`,
    `last_used_on ${integer} NOT NULL DEFAULT 0`,
  ]
  if (isMySql(runner)) {
    return [
      `ALTER TABLE channel_keys DROP PRIMARY KEY, ADD COLUMN ${serial} FIRST,
        MODIFY password_hash ${text(255)} NULL, ADD COLUMN ${added.join(', ADD COLUMN ')},
        ADD UNIQUE KEY channel_keys_by_hash (key_hash)`,
    ]
  }
  return [
    'ALTER TABLE channel_keys RENAME TO channel_keys_before',
    'DROP INDEX channel_keys_by_channel',
    `CREATE TABLE channel_keys (${serial}, key_hash ${text(64)} NOT NULL,
      channel ${integer} NOT NULL, password_hash ${text(255)}, key_id ${text(32)} NOT NULL,
      label ${text(512)} NOT NULL,
      created_at ${integer} NOT NULL, ${added.join(', ')})`,
    `INSERT INTO channel_keys (${KEPT})
      SELECT ${KEPT} FROM channel_keys_before ORDER BY created_at, key_id`,
    'DROP TABLE channel_keys_before',
    'CREATE UNIQUE INDEX channel_keys_by_hash ON channel_keys (key_hash)',
    'CREATE INDEX channel_keys_by_channel ON channel_keys (channel, key_id)',
  ]
}
