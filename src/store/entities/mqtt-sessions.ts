// MQTT sessions that outlive their connection, and what their clients may publish again.

import type { OperationId } from '#domain/identity'
import type { ColumnTypes } from '#src/store/dialect'
import { key, orNull, tableOf, withDefault } from './table.ts'
import type { RowOf } from './table.ts'

export const mqttSessionEntity = ({ integer, text, document }: ColumnTypes) =>
  tableOf({
    name: 'mqtt_sessions',
    columns: {
      /** The session is a device of its own. */
      device: key(integer),
      channel: integer,
      subscriptions: document,
      /**
       * Null for a session without an end, and while it has a connection unless its key expires.
       */
      expiresAt: orNull(integer),
      /** The key that made it; empty for the password of the channel. */
      keyId: withDefault(text(32), ''),
    },
    indices: [
      { name: 'mqtt_sessions_by_channel', columns: ['channel'] },
      { name: 'mqtt_sessions_by_end', columns: ['expiresAt'] },
    ],
  })

export type MqttSessionRow = RowOf<typeof mqttSessionEntity>

export const mqttExchangeEntity = ({ integer, text }: ColumnTypes) =>
  tableOf({
    name: 'mqtt_exchanges',
    withoutRowid: true,
    columns: {
      device: key(integer),
      slot: key(integer),
      packetId: integer,
      opId: text<OperationId>(128),
      digest: text(32),
      qos: integer,
    },
  })

export type MqttExchangeRow = RowOf<typeof mqttExchangeEntity>
