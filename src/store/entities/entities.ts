// Things and Events: columns for what statements ask about, one document for the rest. Each column
// that a turn writes costs it about 0.3 µs a row, so the document holds members that are only read
// whole.

import type { EventState, ThingState } from '#domain/entity'
import type { OperationId } from '#domain/identity'
import type { ColumnTypes } from '#src/store/dialect'
import { key, orNull, tableOf } from './table.ts'
import type { RowOf } from './table.ts'

/** The index by the last change. Only the server knows its column. (last-changes.ts) */
function byChange(table: string, seqsShared: number | undefined) {
  if (seqsShared === undefined) {
    return { indices: [{ name: `${table}_by_seq`, columns: ['channel', 'seq'] }] }
  }
  const name = `${table}_by_block`
  const clauses = `ADD COLUMN seq_block bigint AS (seq DIV ${seqsShared}) STORED,
    ADD KEY ${name} (channel, seq_block)`
  return { added: { name, clauses } }
}

export const thingEntity = ({ integer, text, document, seqsShared }: ColumnTypes) =>
  tableOf({
    name: 'things',
    columns: {
      channel: key(integer),
      id: key(text(64)),
      state: text<ThingState>(16),
      seq: integer,
      /** The operation of the entry `seq`, which may outlive that entry. */
      opId: orNull(text<OperationId>(128)),
      document,
    },
    ...byChange('things', seqsShared),
  })

export type ThingRow = RowOf<typeof thingEntity>

export const eventEntity = ({ integer, text, document, seqsShared }: ColumnTypes) =>
  tableOf({
    name: 'events',
    columns: {
      channel: key(integer),
      id: key(text(64)),
      state: text<EventState | 'acknowledged'>(16),
      seq: integer,
      /** The Thing that the Event is filed under. */
      thingId: orNull(text(64)),
      document,
    },
    ...byChange('events', seqsShared),
  })

export type EventRow = RowOf<typeof eventEntity>

/** Ends of Things and Events in the order in which they happened, for retention. */
export const tombstoneEntity = ({ serial, integer, text }: ColumnTypes) =>
  tableOf({
    name: 'tombstones',
    columns: {
      id: serial,
      channel: integer,
      model: text<'thing' | 'event'>(16),
      entityId: text(64),
      /** The entry of the end; when the entity's row has another seq, it lives again. */
      seq: integer,
      endedAt: integer,
    },
  })

export type TombstoneRow = RowOf<typeof tombstoneEntity>
