// MQTT sessions that outlive their connection, and what their clients may publish again.

import type { Exchange } from '#domain/mqtt/sessions'
import type { ColumnTypes } from '#src/store/dialect'
import { tableOf } from './table.ts'

export type MqttSessionRow = {
  /** The session is a device of its own. */
  readonly device: number
  readonly channel: number
  readonly subscriptions: string
  /** Null while it has a connection, and for a session without an end. */
  readonly expiresAt: number | null
}

export const mqttSessionEntity = ({ integer, document }: ColumnTypes) =>
  tableOf<MqttSessionRow>({
    name: 'mqtt_sessions',
    columns: {
      device: { ...integer, primary: true },
      channel: integer,
      subscriptions: document,
      expiresAt: { ...integer, name: 'expires_at', nullable: true },
    },
    indices: [
      { name: 'mqtt_sessions_by_channel', columns: ['channel'] },
      { name: 'mqtt_sessions_by_end', columns: ['expiresAt'] },
    ],
  })

export type MqttExchangeRow = { readonly device: number } & {
  readonly [Field in keyof Exchange]: Exchange[Field]
}

export const mqttExchangeEntity = ({ integer, text }: ColumnTypes) =>
  tableOf<MqttExchangeRow>({
    name: 'mqtt_exchanges',
    columns: {
      device: { ...integer, primary: true },
      slot: { ...integer, primary: true },
      packetId: { ...integer, name: 'packet_id' },
      opId: { ...text(128), name: 'op_id' },
      digest: text(32),
      qos: integer,
    },
  })
