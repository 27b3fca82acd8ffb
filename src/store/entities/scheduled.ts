import type { ColumnTypes } from '#src/store/dialect'
import { tableOf } from './table.ts'

/** A Message that waits for its time. */
export type ScheduledRow = {
  readonly channel: number
  readonly opId: string
  readonly lane: number
  readonly due: number
  readonly messageId: string
  /** Its fields. */
  readonly document: string
}

/** What is due in a lane is found by one index, as are watches. */
export const scheduledEntity = ({ integer, text, document }: ColumnTypes) =>
  tableOf<ScheduledRow>({
    name: 'scheduled_messages',
    columns: {
      channel: { ...integer, primary: true },
      opId: { ...text(128), name: 'op_id', primary: true },
      lane: integer,
      due: integer,
      messageId: { ...text(32), name: 'message_id' },
      document,
    },
    indices: [{ name: 'scheduled_messages_by_due', columns: ['lane', 'due', 'opId', 'channel'] }],
  })
