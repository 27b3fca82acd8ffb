import type { MigrationInterface, QueryRunner } from 'typeorm'

import { createTables, dropTables } from './columns.ts'
import type { ColumnDefinitions, TableDefinition } from './columns.ts'

/** The tables of version 0.1; entities/ describes each. */
export class Tables1766000000000 implements MigrationInterface {
  readonly name = 'Tables1766000000000'

  async up(runner: QueryRunner): Promise<void> {
    await createTables(runner, tables)
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropTables(runner, tables)
  }
}

function tables(types: ColumnDefinitions): readonly TableDefinition[] {
  return [...logTables(types), ...channelTables(types), ...entityTables(types), ...useTables(types)]
}

const logTables = ({
  serial,
  integer,
  text,
  document,
}: ColumnDefinitions): readonly TableDefinition[] => [
  {
    name: 'gateway_meta',
    columns: `name ${text(64)} PRIMARY KEY NOT NULL, value ${text(255)} NOT NULL`,
  },
  {
    name: 'lanes',
    columns: `lane ${integer} PRIMARY KEY NOT NULL, epoch ${integer} NOT NULL,
      place ${integer} NOT NULL`,
  },
  {
    name: 'log_batches',
    columns: `${serial}, lane ${integer} NOT NULL, submissions ${integer} NOT NULL,
      size ${integer} NOT NULL, appended_at ${integer} NOT NULL, payload ${document} NOT NULL`,
    indexes: [{ name: 'log_batches_by_lane', columns: 'lane, id, submissions, size, appended_at' }],
  },
  {
    name: 'dead_letters',
    columns: `${serial}, lane ${integer} NOT NULL, position ${integer} NOT NULL,
      item ${integer} NOT NULL, payload ${document} NOT NULL, error ${document} NOT NULL,
      at ${integer} NOT NULL`,
  },
]

const channelTables = ({
  serial,
  integer,
  text,
  document,
  beginningOf,
}: ColumnDefinitions): readonly TableDefinition[] => [
  {
    name: 'channels',
    columns: `${serial}, channel_id ${text(26)} NOT NULL, name ${text(512)} NOT NULL,
      password_hash ${text(255)} NOT NULL, created_at ${integer} NOT NULL,
      is_deleted ${integer} NOT NULL DEFAULT 0`,
    indexes: [
      { name: 'channels_by_channel_id', columns: 'channel_id', isUnique: true },
      { name: 'channels_by_is_deleted', columns: 'is_deleted' },
    ],
  },
  {
    name: 'channel_heads',
    columns: `channel ${integer} PRIMARY KEY NOT NULL, head_seq ${integer} NOT NULL,
      things ${integer} NOT NULL, open_events ${integer} NOT NULL,
      entries_floor ${integer} NOT NULL DEFAULT 0, tombstone_floor ${integer} NOT NULL DEFAULT 0`,
  },
  {
    name: 'devices',
    columns: `${serial}, device_id ${text(64)} NOT NULL, platform ${text(16)} NOT NULL,
      channel_type ${text(16)} NOT NULL, provider_token ${text(4096)},
      created_at ${integer} NOT NULL`,
    indexes: [
      { name: 'devices_by_device_id', columns: 'device_id', isUnique: true },
      {
        name: 'devices_by_provider_token',
        columns: `${beginningOf('provider_token')}, platform`,
      },
    ],
  },
  {
    name: 'subscriptions',
    columns: `channel ${integer} NOT NULL, device ${integer} NOT NULL,
      since_seq ${integer} NOT NULL, acked_seq ${integer} NOT NULL,
      acked_ahead ${document} NOT NULL, created_at ${integer} NOT NULL,
      PRIMARY KEY (channel, device)`,
    indexes: [{ name: 'subscriptions_by_device', columns: 'device' }],
  },
]

const entityTables = ({
  serial,
  integer,
  text,
  document,
}: ColumnDefinitions): readonly TableDefinition[] => [
  {
    name: 'things',
    columns: `channel ${integer} NOT NULL, id ${text(64)} NOT NULL, state ${text(16)} NOT NULL,
      seq ${integer} NOT NULL, op_id ${text(128)}, document ${document} NOT NULL,
      PRIMARY KEY (channel, id)`,
    indexes: [{ name: 'things_by_seq', columns: 'channel, seq' }],
  },
  {
    name: 'events',
    columns: `channel ${integer} NOT NULL, id ${text(64)} NOT NULL, state ${text(16)} NOT NULL,
      seq ${integer} NOT NULL, thing_id ${text(64)}, document ${document} NOT NULL,
      PRIMARY KEY (channel, id)`,
    indexes: [{ name: 'events_by_seq', columns: 'channel, seq' }],
  },
  {
    name: 'tombstones',
    columns: `${serial}, channel ${integer} NOT NULL, model ${text(16)} NOT NULL,
      entity_id ${text(64)} NOT NULL, seq ${integer} NOT NULL, ended_at ${integer} NOT NULL`,
  },
]

const useTables = (types: ColumnDefinitions): readonly TableDefinition[] => {
  const { integer, text } = types
  return [
    feedTable('feed_entries', types),
    feedTable('thing_updates', types),
    {
      name: 'operations',
      columns: `op_id ${text(128)} PRIMARY KEY NOT NULL, channel_id ${text(26)} NOT NULL,
        model ${text(16)} NOT NULL, entity_id ${text(64)} NOT NULL, status ${text(16)} NOT NULL,
        accepted_at ${integer} NOT NULL, updated_at ${integer} NOT NULL, error_code ${text(64)}`,
      indexes: [{ name: 'operations_by_accepted_at', columns: 'accepted_at' }],
      isClustered: true,
    },
    {
      name: 'claims',
      columns: `op_id ${text(128)} PRIMARY KEY NOT NULL, channel_id ${text(26)} NOT NULL,
        thing_id ${text(64)} NOT NULL, content_hash ${text(64)} NOT NULL,
        message_id ${text(64)} NOT NULL, claimed_at ${integer} NOT NULL`,
      indexes: [{ name: 'claims_by_claimed_at', columns: 'claimed_at' }],
      isClustered: true,
    },
  ]
}

const feedTable = (
  name: string,
  { serial, integer, text, document }: ColumnDefinitions,
): TableDefinition => ({
  name,
  columns: `${serial}, channel ${integer} NOT NULL, seq ${integer} NOT NULL,
    model ${text(16)} NOT NULL, action ${text(16)} NOT NULL, entity_id ${text(64)} NOT NULL,
    op_id ${text(128)} NOT NULL, state ${text(16)}, rev ${integer}, accepted_at ${integer} NOT NULL,
    payload ${document} NOT NULL`,
  indexes: [{ name: `${name}_by_seq`, columns: 'channel, seq', isUnique: true }],
})
