import type { MigrationInterface, QueryRunner } from 'typeorm'

import { dialectOf } from '#src/store/dialect'
import type { ColumnDefinitions } from '#src/store/dialect'

/** The tables of version 0.1. What each is for stands in entities/. */
export class Tables1766000000000 implements MigrationInterface {
  readonly name = 'Tables1766000000000'

  async up(runner: QueryRunner): Promise<void> {
    const { definitions } = dialectOf(runner.dataSource.options.type)
    for (const statement of statements(definitions)) await runner.query(statement)
  }

  async down(runner: QueryRunner): Promise<void> {
    const { definitions } = dialectOf(runner.dataSource.options.type)
    for (const statement of statements(definitions)) {
      const [, table] = /^CREATE TABLE (\w+)/.exec(statement) ?? []
      if (table !== undefined) await runner.query(`DROP TABLE ${table}`)
    }
  }
}

function statements(types: ColumnDefinitions): readonly string[] {
  return [...logTables(types), ...channelTables(types), ...entityTables(types), ...useTables(types)]
}

const logTables = ({ serial, integer, text, document }: ColumnDefinitions): readonly string[] => [
  `CREATE TABLE gateway_meta (name ${text(64)} PRIMARY KEY NOT NULL, value ${text(255)} NOT NULL)`,
  `CREATE TABLE lanes (lane ${integer} PRIMARY KEY NOT NULL, epoch ${integer} NOT NULL,
    place ${integer} NOT NULL)`,
  `CREATE TABLE log_batches (${serial}, lane ${integer} NOT NULL, submissions ${integer} NOT NULL,
    size ${integer} NOT NULL, appended_at ${integer} NOT NULL, payload ${document} NOT NULL)`,
  `CREATE INDEX log_batches_by_lane ON log_batches (lane, id, submissions, size, appended_at)`,
  `CREATE TABLE dead_letters (${serial}, lane ${integer} NOT NULL, position ${integer} NOT NULL,
    item ${integer} NOT NULL, payload ${document} NOT NULL, error ${document} NOT NULL,
    at ${integer} NOT NULL)`,
]

const channelTables = ({
  serial,
  integer,
  text,
  document,
}: ColumnDefinitions): readonly string[] => [
  `CREATE TABLE channels (${serial}, channel_id ${text(26)} NOT NULL, name ${text(512)} NOT NULL,
    password_hash ${text(255)} NOT NULL, created_at ${integer} NOT NULL,
    is_deleted ${integer} NOT NULL DEFAULT 0)`,
  `CREATE UNIQUE INDEX channels_by_channel_id ON channels (channel_id)`,
  `CREATE INDEX channels_by_is_deleted ON channels (is_deleted)`,
  `CREATE TABLE channel_heads (channel ${integer} PRIMARY KEY NOT NULL,
    head_seq ${integer} NOT NULL, things ${integer} NOT NULL, open_events ${integer} NOT NULL,
    entries_floor ${integer} NOT NULL DEFAULT 0, tombstone_floor ${integer} NOT NULL DEFAULT 0)`,
  `CREATE TABLE devices (${serial}, device_id ${text(64)} NOT NULL, platform ${text(16)} NOT NULL,
    channel_type ${text(16)} NOT NULL, provider_token ${text(4096)},
    created_at ${integer} NOT NULL)`,
  `CREATE UNIQUE INDEX devices_by_device_id ON devices (device_id)`,
  `CREATE INDEX devices_by_provider_token ON devices (provider_token, platform)`,
  `CREATE TABLE subscriptions (channel ${integer} NOT NULL, device ${integer} NOT NULL,
    since_seq ${integer} NOT NULL, acked_seq ${integer} NOT NULL, acked_ahead ${document} NOT NULL,
    created_at ${integer} NOT NULL, PRIMARY KEY (channel, device))`,
  `CREATE INDEX subscriptions_by_device ON subscriptions (device)`,
]

const entityTables = ({
  serial,
  integer,
  text,
  document,
}: ColumnDefinitions): readonly string[] => [
  `CREATE TABLE things (channel ${integer} NOT NULL, id ${text(64)} NOT NULL,
    state ${text(16)} NOT NULL, seq ${integer} NOT NULL, op_id ${text(128)},
    document ${document} NOT NULL, PRIMARY KEY (channel, id))`,
  `CREATE INDEX things_by_seq ON things (channel, seq)`,
  `CREATE TABLE events (channel ${integer} NOT NULL, id ${text(64)} NOT NULL,
    state ${text(16)} NOT NULL, seq ${integer} NOT NULL, thing_id ${text(64)},
    document ${document} NOT NULL, PRIMARY KEY (channel, id))`,
  `CREATE INDEX events_by_seq ON events (channel, seq)`,
  `CREATE TABLE tombstones (${serial}, channel ${integer} NOT NULL, model ${text(16)} NOT NULL,
    entity_id ${text(64)} NOT NULL, seq ${integer} NOT NULL, ended_at ${integer} NOT NULL)`,
]

const useTables = (types: ColumnDefinitions): readonly string[] => {
  const { integer, text, clustered } = types
  return [
    ...feedTable('feed_entries', types),
    ...feedTable('thing_updates', types),
    `CREATE TABLE operations (op_id ${text(128)} PRIMARY KEY NOT NULL,
      channel_id ${text(26)} NOT NULL, model ${text(16)} NOT NULL,
      entity_id ${text(64)} NOT NULL, status ${text(16)} NOT NULL, accepted_at ${integer} NOT NULL,
      updated_at ${integer} NOT NULL, error_code ${text(64)})${clustered}`,
    `CREATE INDEX operations_by_accepted_at ON operations (accepted_at)`,
    `CREATE TABLE claims (op_id ${text(128)} PRIMARY KEY NOT NULL,
      channel_id ${text(26)} NOT NULL, thing_id ${text(64)} NOT NULL,
      content_hash ${text(64)} NOT NULL, message_id ${text(64)} NOT NULL,
      claimed_at ${integer} NOT NULL)${clustered}`,
    `CREATE INDEX claims_by_claimed_at ON claims (claimed_at)`,
  ]
}

const feedTable = (
  name: string,
  { serial, integer, text, document }: ColumnDefinitions,
): readonly string[] => [
  `CREATE TABLE ${name} (${serial}, channel ${integer} NOT NULL, seq ${integer} NOT NULL,
    model ${text(16)} NOT NULL, action ${text(16)} NOT NULL, entity_id ${text(64)} NOT NULL,
    op_id ${text(128)} NOT NULL, state ${text(16)}, rev ${integer}, accepted_at ${integer} NOT NULL,
    payload ${document} NOT NULL)`,
  `CREATE UNIQUE INDEX ${name}_by_seq ON ${name} (channel, seq)`,
]
