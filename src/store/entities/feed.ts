// The feed in two tables of one shape. Messages and Events are delivered entry by entry and live
// long; updates of Things are conflated for devices that are behind, and live short. With two
// tables, catching up never steps over a million updates to find ten Messages, and retention
// empties each table from its old end.
//
// Rows lie in the order of their commit, with an index to (channel, seq): 61-114 thousand
// submissions a second, against 32-107 thousand when rows lie by (channel, seq).

import type { EntitySchemaIndexOptions } from 'typeorm'

import type { EntityId, OperationId } from '#domain/identity'
import type { Action, Model } from '#domain/submission'
import type { ColumnTypes } from '#src/store/dialect'
import { key, orNull, tableOf } from './table.ts'
import type { RowOf } from './table.ts'

const feedEntity = (
  name: string,
  { serial, integer, text, document }: ColumnTypes,
  index: EntitySchemaIndexOptions,
) =>
  tableOf({
    name,
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
    indices: [{ columns: ['channel', 'seq'], unique: true, ...index }],
  })

export type FeedRow = RowOf<typeof feedEntity>

/** Messages and Events. */
export const feedEntryEntity = (types: ColumnTypes) =>
  feedEntity('feed_entries', types, { name: 'feed_entries_by_seq' })

export const thingUpdateEntity = (types: ColumnTypes) =>
  feedEntity(
    'thing_updates',
    types,
    // TypeORM cannot express the span in front of the columns. (spans.ts)
    types.hasSpans
      ? { name: 'thing_updates_by_span', synchronize: false }
      : { name: 'thing_updates_by_seq' },
  )

/** A block of updates of Things, of one channel or of several, in the order of channel and seq. */
export const updateBlockEntity = ({ integer, bytes }: ColumnTypes) =>
  tableOf({
    name: 'update_blocks',
    columns: {
      /** The least id that its updates had as rows. */
      id: key(integer),
      /** The greatest time of acceptance. */
      lastAt: integer,
      entries: integer,
      /** The number of its rows in `update_places`. */
      places: integer,
      /** The updates, packed. (feed/update-blocks.ts) */
      content: bytes,
    },
  })

export type UpdateBlockRow = RowOf<typeof updateBlockEntity>

/** The part of a block that one channel has. */
export const updatePlaceEntity = ({ integer }: ColumnTypes) =>
  tableOf({
    name: 'update_places',
    withoutRowid: true,
    columns: {
      channel: key(integer),
      lastSeq: key(integer),
      lastAt: integer,
      block: integer,
    },
    indices: [{ name: 'update_places_by_block', columns: ['block'] }],
  })

export type UpdatePlaceRow = RowOf<typeof updatePlaceEntity>
