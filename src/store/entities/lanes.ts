import type { ColumnTypes } from '#src/store/dialect'
import { key, tableOf, withDefault } from './table.ts'
import type { RowOf } from './table.ts'

/** Facts about the whole database, by name. */
export const gatewayFactEntity = ({ text }: ColumnTypes) =>
  tableOf({
    name: 'gateway_meta',
    columns: { name: key(text(64)), value: text(255) },
  })

export const laneEntity = ({ integer, text }: ColumnTypes) =>
  tableOf({
    name: 'lanes',
    columns: {
      lane: key(integer),
      epoch: integer,
      place: integer,
      owner: withDefault(text(128), ''),
    },
  })

export type LaneRow = RowOf<typeof laneEntity>

/** The processes that share lanes, by the first of these. */
export const leaseHolderEntity = ({ integer, text }: ColumnTypes) =>
  tableOf({
    name: 'lease_holders',
    columns: { session: key(text(128)), first: integer, renewedAt: integer },
  })

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
