// Rules of channels, and what waits for a time: watches, and sweeps of whole rules.

import type { ColumnTypes } from '#src/store/dialect'
import { key, orNull, tableOf, withDefault } from './table.ts'
import type { RowOf } from './table.ts'

export const ruleEntity = ({ integer, text, document }: ColumnTypes) =>
  tableOf({
    name: 'rules',
    columns: {
      channel: key(integer),
      id: key(text(64)),
      version: text(128),
      since: integer,
      createdAt: integer,
      updatedAt: integer,
      document,
      failures: withDefault(integer, 0),
      lastFailure: withDefault(text(256), ''),
    },
  })

export type RuleRow = RowOf<typeof ruleEntity>

export const watchEntity = ({ integer, text, document }: ColumnTypes) =>
  tableOf({
    name: 'watches',
    columns: {
      channel: key(integer),
      /** '' for a deadline of an Event. */
      ruleId: key(text(64)),
      /** '' for the sweep of a rule, the id of an Event. */
      thingId: key(text(64)),
      /** Set when it is written, so that the owner of a lane finds what is due by one index. */
      lane: integer,
      due: orNull(integer),
      document,
    },
    indices: [
      { name: 'watches_by_thing', columns: ['channel', 'thingId'] },
      { name: 'watches_by_due', columns: ['lane', 'due', 'ruleId', 'thingId', 'channel'] },
    ],
  })

export type WatchRow = RowOf<typeof watchEntity>

/** One index finds the Messages of a lane by their time. */
export const scheduledEntity = ({ integer, text, document }: ColumnTypes) =>
  tableOf({
    name: 'scheduled_messages',
    columns: {
      channel: key(integer),
      opId: key(text(128)),
      lane: integer,
      due: integer,
      messageId: text(32),
      /** Its fields. */
      document,
    },
    indices: [{ name: 'scheduled_messages_by_due', columns: ['lane', 'due', 'opId', 'channel'] }],
  })

/** A Message that waits for its time. */
export type ScheduledRow = RowOf<typeof scheduledEntity>
