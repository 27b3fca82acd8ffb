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
import type { ColumnTypes, Numbered } from '#src/store/dialect'
import { tableOf } from './table.ts'

export type FeedRow = {
  readonly channel: number
  readonly seq: number
  readonly model: Model
  readonly action: Action
  readonly entityId: EntityId
  readonly opId: OperationId
  readonly state: string | null
  readonly rev: number | null
  readonly acceptedAt: number
  readonly payload: string
}

const feedEntity = (
  name: string,
  { serial, integer, text, document }: ColumnTypes,
  index: EntitySchemaIndexOptions,
) =>
  tableOf<FeedRow & Numbered>({
    name,
    columns: {
      id: serial,
      channel: integer,
      seq: integer,
      model: text(16),
      action: text(16),
      entityId: { ...text(64), name: 'entity_id' },
      opId: { ...text(128), name: 'op_id' },
      state: { ...text(16), nullable: true },
      rev: { ...integer, nullable: true },
      acceptedAt: { ...integer, name: 'accepted_at' },
      payload: document,
    },
    indices: [{ columns: ['channel', 'seq'], unique: true, ...index }],
  })

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
export type UpdateBlockRow = {
  /** The least id that its updates had as rows. */
  readonly id: number
  /** The greatest time of acceptance. */
  readonly lastAt: number
  readonly entries: number
  /** The number of its rows in `update_places`. */
  readonly places: number
  /** The updates, packed. (feed/update-blocks.ts) */
  readonly content: Uint8Array
}

export const updateBlockEntity = ({ integer, bytes }: ColumnTypes) =>
  tableOf<UpdateBlockRow>({
    name: 'update_blocks',
    columns: {
      id: { ...integer, primary: true },
      lastAt: { ...integer, name: 'last_at' },
      entries: integer,
      places: integer,
      content: bytes,
    },
  })

/** The part of a block that one channel has. */
export type UpdatePlaceRow = {
  readonly channel: number
  readonly lastSeq: number
  readonly lastAt: number
  readonly block: number
}

export const updatePlaceEntity = ({ integer }: ColumnTypes) =>
  tableOf<UpdatePlaceRow>({
    name: 'update_places',
    withoutRowid: true,
    columns: {
      channel: { ...integer, primary: true },
      lastSeq: { ...integer, name: 'last_seq', primary: true },
      lastAt: { ...integer, name: 'last_at' },
      block: integer,
    },
    indices: [{ name: 'update_places_by_block', columns: ['block'] }],
  })
