// The feed: Messages and Events as rows, updates of Things as blocks. Messages and Events are
// delivered entry by entry and live long; updates of Things are conflated for devices that are
// behind, and live short. So catching up never steps over a million updates to find ten Messages,
// and retention removes each at its own time.
//
// Rows lie in the order of their commit, with an index to (channel, seq): 61-114 thousand
// submissions a second, against 32-107 thousand when rows lie by (channel, seq).

import type { EntityId, OperationId } from '#domain/identity'
import type { Action, Model } from '#domain/submission'
import type { ColumnTypes } from '#src/store/dialect'
import { key, orNull, tableOf, withDefault } from './table.ts'
import type { RowOf } from './table.ts'

/** Messages and Events. */
export const feedEntryEntity = ({ serial, integer, text, document }: ColumnTypes) =>
  tableOf({
    name: 'feed_entries',
    columns: {
      id: serial,
      channel: integer,
      seq: integer,
      model: text<Model>(16),
      action: text<Action>(16),
      entityId: text<EntityId>(64),
      opId: text<OperationId>(128),
      state: orNull(text(16)),
      rev: orNull(integer),
      acceptedAt: integer,
      payload: document,
    },
    indices: [{ name: 'feed_entries_by_seq', columns: ['channel', 'seq'], unique: true }],
  })

/** An entry of the feed, whether a row or a block has it. */
export type FeedRow = RowOf<typeof feedEntryEntity>

/** A block of updates of Things, of one channel or of several, in the order of channel and seq. */
export const updateBlockEntity = ({ integer, bytes }: ColumnTypes) =>
  tableOf({
    name: 'update_blocks',
    columns: {
      /** The number of its first update. (update-numbers.ts) */
      id: key(integer),
      /** The greatest time of acceptance. */
      lastAt: integer,
      entries: integer,
      /** The number of its rows in `update_places`. */
      places: integer,
      /** 0 as a turn wrote it, 1 once it is made of such blocks. (joining.ts) */
      isJoined: withDefault(integer, 1),
      /** The updates, packed. (feed/update-blocks.ts) */
      content: bytes,
    },
    indices: [
      { name: 'update_blocks_by_time', columns: ['lastAt'] },
      { name: 'update_blocks_to_join', columns: ['isJoined', 'id'] },
    ],
  })

export type UpdateBlockRow = RowOf<typeof updateBlockEntity>

/**
 * The part of a block that one channel has. (feed/update-places.ts) `lastSeq` of late readings
 * alone is the number of the block below 0.
 */
export const updatePlaceEntity = ({ integer }: ColumnTypes) =>
  tableOf({
    name: 'update_places',
    withoutRowid: true,
    columns: {
      span: key(integer),
      channel: key(integer),
      lastSeq: key(integer),
      lastAt: integer,
      block: integer,
    },
    indices: [{ name: 'update_places_by_block', columns: ['block'] }],
  })

export type UpdatePlaceRow = RowOf<typeof updatePlaceEntity>
