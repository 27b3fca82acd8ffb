import type { ColumnTypes, Numbered } from '#src/store/dialect'
import { tableOf } from './table.ts'

export type ChannelKeyRow = {
  /** SHA-256 of the key, in hex. */
  readonly keyHash: string
  readonly channel: number
  /**
   * Of a key that an older version made, with epoch 0: the channel's password hash at the time. It
   * is void with another one. Null for any other key, so that an older version neither takes nor
   * removes it.
   */
  readonly passwordHash: string | null
  readonly keyId: string
  readonly label: string
  readonly createdAt: number
  /** The key is void when the channel's keys have another one. */
  readonly epoch: number
  /** Between spaces. */
  readonly scopes: string
  readonly thingPrefix: string
  /** 0 for never. */
  readonly expiresAt: number
  /** A UTC day, in days since 1970. */
  readonly lastUsedOn: number
}

export const channelKeyEntity = ({ serial, integer, text }: ColumnTypes) =>
  tableOf<ChannelKeyRow & Numbered>({
    name: 'channel_keys',
    columns: {
      id: serial,
      keyHash: { ...text(64), name: 'key_hash' },
      channel: integer,
      passwordHash: { ...text(255), name: 'password_hash', nullable: true },
      keyId: { ...text(32), name: 'key_id' },
      label: text(512),
      createdAt: { ...integer, name: 'created_at' },
      epoch: { ...integer, default: 0 },
      scopes: { ...text(64), default: 'send read' },
      thingPrefix: { ...text(128), name: 'thing_prefix', default: '' },
      expiresAt: { ...integer, name: 'expires_at', default: 0 },
      lastUsedOn: { ...integer, name: 'last_used_on', default: 0 },
    },
    indices: [
      { name: 'channel_keys_by_hash', columns: ['keyHash'], unique: true },
      { name: 'channel_keys_by_channel', columns: ['channel', 'keyId'] },
      { name: 'channel_keys_by_age', columns: ['channel', 'id'] },
      { name: 'channel_keys_by_epoch', columns: ['channel', 'epoch'] },
    ],
  })
