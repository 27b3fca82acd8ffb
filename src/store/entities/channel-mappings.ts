// What topics of a channel's own become, and the newest ones that nothing maps.

import type { ColumnTypes } from '#src/store/dialect'
import { tableOf } from './table.ts'

export type ChannelMappingsRow = {
  readonly channel: number
  /** A list as JSON. */
  readonly mappings: string
  /** A list as JSON. */
  readonly unmapped: string
}

export const channelMappingsEntity = ({ integer, document }: ColumnTypes) =>
  tableOf<ChannelMappingsRow>({
    name: 'channel_mappings',
    columns: { channel: { ...integer, primary: true }, mappings: document, unmapped: document },
  })
