import type { ColumnTypes, Numbered } from '#src/store/dialect'
import { tableOf } from './table.ts'

/** Facts about the whole database, by name. */
export type GatewayFactRow = {
  readonly name: string
  readonly value: string
}

export const gatewayFactEntity = ({ text }: ColumnTypes) =>
  tableOf<GatewayFactRow>({
    name: 'gateway_meta',
    columns: { name: { ...text(64), primary: true }, value: text(255) },
  })

export type LaneRow = {
  readonly lane: number
  readonly epoch: number
  readonly place: number
}

export const laneEntity = ({ integer }: ColumnTypes) =>
  tableOf<LaneRow>({
    name: 'lanes',
    columns: { lane: { ...integer, primary: true }, epoch: integer, place: integer },
  })

/** One batch of the embedded log; the id is its position. */
export type LogBatchRow = {
  readonly lane: number
  readonly submissions: number
  readonly size: number
  readonly appendedAt: number
  readonly payload: string
}

/** The index answers every question about batches that does not need their payload. */
export const logBatchEntity = ({ serial, integer, document }: ColumnTypes) =>
  tableOf<LogBatchRow & Numbered>({
    name: 'log_batches',
    columns: {
      id: serial,
      lane: integer,
      submissions: integer,
      size: integer,
      appendedAt: { ...integer, name: 'appended_at' },
      payload: document,
    },
    indices: [
      {
        name: 'log_batches_by_lane',
        columns: ['lane', 'id', 'submissions', 'size', 'appendedAt'],
      },
    ],
  })

export type DeadLetterRow = {
  readonly lane: number
  readonly position: number
  readonly item: number
  readonly payload: string
  readonly error: string
  readonly at: number
}

export const deadLetterEntity = ({ serial, integer, document }: ColumnTypes) =>
  tableOf<DeadLetterRow & Numbered>({
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
