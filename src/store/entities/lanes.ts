import type { ChannelId } from '#domain/identity'
import type { ColumnTypes } from '#src/store/dialect'
import { key, tableOf } from './table.ts'
import type { RowOf } from './table.ts'

/** Facts about the whole database, by name. */
export const gatewayFactEntity = ({ text }: ColumnTypes) =>
  tableOf({
    name: 'gateway_meta',
    columns: { name: key(text(64)), value: text(255) },
  })

export type GatewayFactRow = RowOf<typeof gatewayFactEntity>

export const laneEntity = ({ integer }: ColumnTypes) =>
  tableOf({
    name: 'lanes',
    columns: { lane: key(integer), epoch: integer, place: integer },
  })

export type LaneRow = RowOf<typeof laneEntity>

/** The index answers every question about batches that does not need their payload. */
export const logBatchEntity = ({ serial, integer, document }: ColumnTypes) =>
  tableOf({
    name: 'log_batches',
    columns: {
      id: serial,
      lane: integer,
      submissions: integer,
      size: integer,
      appendedAt: integer,
      payload: document,
    },
    indices: [
      { name: 'log_batches_by_lane', columns: ['lane', 'id', 'submissions', 'size', 'appendedAt'] },
    ],
  })

/** One batch of the embedded log; the id is its position. */
export type LogBatchRow = RowOf<typeof logBatchEntity>

export const deadLetterEntity = ({ serial, integer, document }: ColumnTypes) =>
  tableOf({
    name: 'dead_letters',
    columns: {
      id: serial,
      lane: integer,
      position: integer,
      item: integer,
      payload: document,
      error: document,
      at: integer,
    },
  })

export type DeadLetterRow = RowOf<typeof deadLetterEntity>

/** Rows lie in the order in which they were parked. */
export const parkedEntity = ({ serial, integer, text, document }: ColumnTypes) =>
  tableOf({
    name: 'parked_submissions',
    columns: {
      id: serial,
      channelId: text<ChannelId>(26),
      lane: integer,
      position: integer,
      item: integer,
      payload: document,
      error: document,
    },
    indices: [
      { name: 'parked_submissions_by_channel', columns: ['channelId', 'id'] },
      { name: 'parked_submissions_by_lane', columns: ['lane', 'channelId'] },
    ],
  })

export type ParkedRow = RowOf<typeof parkedEntity>
