// Things and Events: columns for what statements ask about, one document for the rest. Each column
// that a turn writes costs it about 0.3 µs a row, so the document holds members that are only read
// whole.

import type { EntitySchemaIndexOptions } from 'typeorm'

import type { EventState, ThingState } from '#domain/entity'
import type { OperationId } from '#domain/identity'
import type { ColumnTypes, Numbered } from '#src/store/dialect'
import { tableOf } from './table.ts'

/** TypeORM cannot express a column that only the server knows. (blocks.ts) */
const byChange = (table: string, hasBlocks: boolean): EntitySchemaIndexOptions[] => [
  hasBlocks
    ? { name: `${table}_by_block`, synchronize: false }
    : { name: `${table}_by_seq`, columns: ['channel', 'seq'] },
]

export type ThingRow = {
  readonly channel: number
  readonly id: string
  readonly state: ThingState
  readonly seq: number
  /** The operation of the entry `seq`, which may outlive that entry. */
  readonly opId: OperationId | null
  readonly document: string
}

export const thingEntity = ({ integer, text, document, hasBlocks }: ColumnTypes) =>
  tableOf<ThingRow>({
    name: 'things',
    columns: {
      channel: { ...integer, primary: true },
      id: { ...text(64), primary: true },
      state: text(16),
      seq: integer,
      opId: { ...text(128), name: 'op_id', nullable: true },
      document,
    },
    indices: byChange('things', hasBlocks),
  })

export type EventRow = {
  readonly channel: number
  readonly id: string
  readonly state: EventState
  readonly seq: number
  /** The Thing that the Event is filed under. */
  readonly thingId: string | null
  readonly document: string
}

export const eventEntity = ({ integer, text, document, hasBlocks }: ColumnTypes) =>
  tableOf<EventRow>({
    name: 'events',
    columns: {
      channel: { ...integer, primary: true },
      id: { ...text(64), primary: true },
      state: text(16),
      seq: integer,
      thingId: { ...text(64), name: 'thing_id', nullable: true },
      document,
    },
    indices: byChange('events', hasBlocks),
  })

/** Ends of Things and Events in the order in which they happened, for retention. */
export type TombstoneRow = {
  readonly channel: number
  readonly model: 'thing' | 'event'
  readonly entityId: string
  /** The entry of the end; when the entity's row has another seq, it lives again. */
  readonly seq: number
  readonly endedAt: number
}

export const tombstoneEntity = ({ serial, integer, text }: ColumnTypes) =>
  tableOf<TombstoneRow & Numbered>({
    name: 'tombstones',
    columns: {
      id: serial,
      channel: integer,
      model: text(16),
      entityId: { ...text(64), name: 'entity_id' },
      seq: integer,
      endedAt: { ...integer, name: 'ended_at' },
    },
  })
