import type { ChannelId } from '#domain/identity'
import type { ColumnTypes, Numbered } from '#src/store/dialect'
import { tableOf } from './table.ts'

export type ChannelRow = {
  readonly channelId: ChannelId
  readonly name: string
  readonly passwordHash: string
  readonly createdAt: number
  /**
   * 0, or the time of deletion in Unix milliseconds. The row stays until retention has removed
   * everything of the channel.
   */
  readonly isDeleted: number
  /** The time at which retention last saw it in use. (idle.ts) */
  readonly usedAt: number
  /** The head at that time; USED_SINCE once a device subscribed after it. */
  readonly usedSeq: number
  /** The password hash for which the keys of `keysEpoch` are good. (store/channel-keys.ts) */
  readonly keysHash: string
  readonly keysEpoch: number
}

/** `id` is `ref` in the domain: the short name under which every other table knows the channel. */
export const channelEntity = ({ serial, integer, text }: ColumnTypes) =>
  tableOf<ChannelRow & Numbered>({
    name: 'channels',
    columns: {
      id: serial,
      channelId: { ...text(26), name: 'channel_id' },
      name: text(512),
      passwordHash: { ...text(255), name: 'password_hash' },
      createdAt: { ...integer, name: 'created_at' },
      isDeleted: { ...integer, name: 'is_deleted', default: 0 },
      usedAt: { ...integer, name: 'used_at', default: 0 },
      usedSeq: { ...integer, name: 'used_seq', default: 0 },
      keysHash: { ...text(255), name: 'keys_hash', default: '' },
      keysEpoch: { ...integer, name: 'keys_epoch', default: 0 },
    },
    indices: [
      { name: 'channels_by_channel_id', columns: ['channelId'], unique: true },
      { name: 'channels_by_is_deleted', columns: ['isDeleted'] },
      { name: 'channels_by_used_at', columns: ['isDeleted', 'usedAt'] },
    ],
  })

/**
 * The part of a channel that changes with every turn: a narrow row, apart from the part that seldom
 * does.
 */
export type ChannelHeadRow = {
  readonly channel: number
  readonly headSeq: number
  readonly things: number
  readonly openEvents: number
  /** The last Message or Event entry that retention removed. */
  readonly entriesFloor: number
  /** The last seq of a deleted Thing whose row retention removed. */
  readonly tombstoneFloor: number
  /** 1 once a device with a provider's route was among the subscribers; 0 before that. */
  readonly hasProviderRoutes: number
}

export const channelHeadEntity = ({ integer }: ColumnTypes) =>
  tableOf<ChannelHeadRow>({
    name: 'channel_heads',
    columns: {
      channel: { ...integer, primary: true },
      headSeq: { ...integer, name: 'head_seq' },
      things: integer,
      openEvents: { ...integer, name: 'open_events' },
      entriesFloor: { ...integer, name: 'entries_floor', default: 0 },
      tombstoneFloor: { ...integer, name: 'tombstone_floor', default: 0 },
      hasProviderRoutes: { ...integer, name: 'has_provider_routes', default: 0 },
    },
  })
