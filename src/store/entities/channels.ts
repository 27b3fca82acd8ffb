import type { ChannelId } from '#domain/identity'
import type { ColumnTypes } from '#src/store/dialect'
import { key, tableOf, withDefault } from './table.ts'
import type { RowOf } from './table.ts'

/** `id` is `ref` in the domain: the short name under which every other table knows the channel. */
export const channelEntity = ({ serial, integer, text }: ColumnTypes) =>
  tableOf({
    name: 'channels',
    columns: {
      id: serial,
      channelId: text<ChannelId>(26),
      name: text(512),
      passwordHash: text(255),
      createdAt: integer,
      /**
       * 0, or the time of deletion in Unix milliseconds. The row stays until retention has removed
       * everything of the channel.
       */
      isDeleted: withDefault(integer, 0),
      /** The time at which retention last saw it in use. (idle.ts) */
      usedAt: withDefault(integer, 0),
      /** The head at that time; USED_SINCE once a device subscribed after it. */
      usedSeq: withDefault(integer, 0),
      /** The password hash for which the keys of `keysEpoch` are good. (store/channel-keys.ts) */
      keysHash: withDefault(text(255), ''),
      keysEpoch: withDefault(integer, 0),
    },
    indices: [
      { name: 'channels_by_channel_id', columns: ['channelId'], unique: true },
      { name: 'channels_by_is_deleted', columns: ['isDeleted'] },
      { name: 'channels_by_used_at', columns: ['isDeleted', 'usedAt'] },
    ],
  })

export type ChannelRow = RowOf<typeof channelEntity>

/**
 * The part of a channel that changes with every turn: a narrow row, apart from the part that seldom
 * does.
 */
export const channelHeadEntity = ({ integer }: ColumnTypes) =>
  tableOf({
    name: 'channel_heads',
    columns: {
      channel: key(integer),
      headSeq: integer,
      things: integer,
      openEvents: integer,
      /** The last Message or Event entry that retention removed. */
      entriesFloor: withDefault(integer, 0),
      /** The last seq of a deleted Thing whose row retention removed. */
      tombstoneFloor: withDefault(integer, 0),
      /** 1 once a device with a provider's route was among the subscribers; 0 before that. */
      hasProviderRoutes: withDefault(integer, 0),
    },
  })

export type ChannelHeadRow = RowOf<typeof channelHeadEntity>

export const channelKeyEntity = ({ serial, integer, text }: ColumnTypes) =>
  tableOf({
    name: 'channel_keys',
    columns: {
      id: serial,
      /** SHA-256 of the key, in hex. */
      keyHash: text(64),
      channel: integer,
      keyId: text(32),
      label: text(512),
      createdAt: integer,
      /** The key is void when the channel's keys have another one. */
      epoch: withDefault(integer, 0),
      /** Between spaces. */
      scopes: withDefault(text(64), 'send read'),
      thingPrefix: withDefault(text(128), ''),
      /** 0 for never. */
      expiresAt: withDefault(integer, 0),
      /** A UTC day, in days since 1970. */
      lastUsedOn: withDefault(integer, 0),
    },
    indices: [
      { name: 'channel_keys_by_hash', columns: ['keyHash'], unique: true },
      { name: 'channel_keys_by_channel', columns: ['channel', 'keyId'] },
      { name: 'channel_keys_by_age', columns: ['channel', 'id'] },
      { name: 'channel_keys_by_epoch', columns: ['channel', 'epoch'] },
    ],
  })

export type ChannelKeyRow = RowOf<typeof channelKeyEntity>

/** What topics of a channel's own become, and the newest ones that nothing maps. */
export const channelMappingsEntity = ({ integer, document }: ColumnTypes) =>
  tableOf({
    name: 'channel_mappings',
    columns: {
      channel: key(integer),
      /** A list as JSON. */
      mappings: document,
      /** A list as JSON. */
      unmapped: document,
    },
  })

/** How attrs of Things are shown: what people set, and what devices say. */
export const channelPresentationEntity = ({ integer, document }: ColumnTypes) =>
  tableOf({
    name: 'channel_presentations',
    columns: {
      channel: key(integer),
      /** A list as JSON. */
      presentation: document,
      /** An object as JSON. */
      discovered: document,
    },
  })

/** What the owner of a channel has set for the hooks of monitoring tools. */
export const channelHooksEntity = ({ integer, document }: ColumnTypes) =>
  tableOf({
    name: 'channel_hooks',
    columns: {
      channel: key(integer),
      /** A list as JSON. */
      mappings: document,
      /** An object as JSON. Secrets. */
      secrets: document,
    },
  })

/** The newest Event of an alarm whose tool does not tell when it began. */
export const hookEpisodeEntity = ({ integer, text }: ColumnTypes) =>
  tableOf({
    name: 'hook_episodes',
    columns: {
      channel: key(integer),
      source: key(text(32)),
      eventId: text(64),
      /** Unix milliseconds; 0 while it is open. */
      endedAt: integer,
    },
  })

export type HookEpisodeRow = RowOf<typeof hookEpisodeEntity>
