import type { MigrationInterface, QueryRunner } from 'typeorm'

import { createTables, dropTables } from './columns.ts'
import type { ColumnDefinitions, TableDefinition } from './columns.ts'

/**
 * Adds MQTT sessions that outlive their connection. A node of the version before keeps none, and
 * takes no part in those of other nodes.
 */
export class MqttSessions1805000000000 implements MigrationInterface {
  readonly name = 'MqttSessions1805000000000'

  async up(runner: QueryRunner): Promise<void> {
    await createTables(runner, tables)
  }

  async down(runner: QueryRunner): Promise<void> {
    await dropTables(runner, tables)
  }
}

const tables = ({ integer, text, document }: ColumnDefinitions): readonly TableDefinition[] => [
  {
    name: 'mqtt_sessions',
    columns: `device ${integer} PRIMARY KEY NOT NULL, channel ${integer} NOT NULL,
      subscriptions ${document} NOT NULL, expires_at ${integer}`,
    indexes: [
      { name: 'mqtt_sessions_by_channel', columns: 'channel' },
      { name: 'mqtt_sessions_by_end', columns: 'expires_at' },
    ],
  },
  {
    name: 'mqtt_exchanges',
    columns: `device ${integer} NOT NULL, slot ${integer} NOT NULL, packet_id ${integer} NOT NULL,
      op_id ${text(128)} NOT NULL, digest ${text(32)} NOT NULL, qos ${integer} NOT NULL,
      PRIMARY KEY (device, slot)`,
    isClustered: true,
  },
]
