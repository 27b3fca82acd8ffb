// Tiers: numbers of Things beyond the updates themselves. (src/store/tiers)

import type { ColumnTypes } from '#src/store/dialect'
import { tableOf } from './table.ts'
import type { RowOf } from './table.ts'

/** Buckets of some Things of a channel. Rows lie in the order of their commit. */
export const tierChunkEntity = ({ serial, integer, bytes }: ColumnTypes) =>
  tableOf({
    name: 'tier_chunks',
    columns: {
      id: serial,
      channel: integer,
      /** Milliseconds of its buckets; 0 for a chunk of joined updates, which no tier has yet. */
      tier: integer,
      /** When its period begins; 0 for a chunk of joined updates. */
      period: integer,
      /** How often it was merged. */
      level: integer,
      /** Its cell. */
      firstPlace: integer,
      lastPlace: integer,
      /** The number of the newest run that has updates in it: it orders chunks of one Thing. */
      run: integer,
      /** When it is merged however few others there are. */
      dueAt: integer,
      /** Before compression. */
      bytes: integer,
      content: bytes,
    },
    indices: [
      { name: 'tier_chunks_by_place', columns: ['channel', 'firstPlace', 'tier', 'period'] },
      { name: 'tier_chunks_by_due', columns: ['dueAt'] },
      { name: 'tier_chunks_by_period', columns: ['tier', 'period'] },
    ],
  })

export type TierChunkRow = RowOf<typeof tierChunkEntity>

/** Deletions of Things: chunks of earlier runs have nothing of them any more. */
export const tierCutEntity = ({ serial, integer, text }: ColumnTypes) =>
  tableOf({
    name: 'tier_cuts',
    columns: {
      id: serial,
      channel: integer,
      thingId: text(64),
      place: integer,
      /** The run that has the deletion. */
      run: integer,
      /** Chunks up to this one are rewritten without the Thing. */
      doneId: integer,
    },
    indices: [{ name: 'tier_cuts_by_thing', columns: ['channel', 'thingId'] }],
  })

export type TierCutRow = RowOf<typeof tierCutEntity>
