import type { ColumnTypes } from '#src/store/dialect'
import { tableOf } from './table.ts'

export type ChannelKeyRow = {
  /** SHA-256 of the key, in hex. */
  readonly keyHash: string
  readonly channel: number
  /** The channel's password hash at the time: with another one the key is void. */
  readonly passwordHash: string
  readonly keyId: string
  readonly label: string
  readonly createdAt: number
}

export const channelKeyEntity = ({ integer, text }: ColumnTypes) =>
  tableOf<ChannelKeyRow>({
    name: 'channel_keys',
    columns: {
      keyHash: { ...text(64), name: 'key_hash', primary: true },
      channel: integer,
      passwordHash: { ...text(255), name: 'password_hash' },
      keyId: { ...text(32), name: 'key_id' },
      label: text(512),
      createdAt: { ...integer, name: 'created_at' },
    },
    indices: [{ name: 'channel_keys_by_channel', columns: ['channel', 'keyId'] }],
  })
