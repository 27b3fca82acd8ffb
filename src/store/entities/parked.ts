import type { ChannelId } from '#domain/identity'
import type { ColumnTypes, Numbered } from '#src/store/dialect'
import { tableOf } from './table.ts'

/** Rows lie in the order in which they were parked. */
export type ParkedRow = {
  readonly channelId: ChannelId
  readonly lane: number
  readonly position: number
  readonly item: number
  readonly payload: string
  readonly error: string
}

export const parkedEntity = ({ serial, integer, text, document }: ColumnTypes) =>
  tableOf<ParkedRow & Numbered>({
    name: 'parked_submissions',
    columns: {
      id: serial,
      channelId: { ...text(26), name: 'channel_id' },
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
