// The port by which a query looks at the Things of a channel, page by page.

import type { ChannelId } from '#domain/identity'
import type { StoredThing } from './document.ts'

/** Which Things come, and in which order. */
export interface ScanOrder {
  readonly by: 'thing_id' | 'changed'
  readonly isDescending: boolean
}

export interface ScanQuery extends ScanOrder {
  readonly channelId: ChannelId
  /** The id, or the seq of the last change, behind which it begins in its order. */
  readonly after?: string | number
  /** The last id; only by thing_id, ascending. */
  readonly until?: string
  /** How ids begin; only by thing_id. */
  readonly prefix?: string
  /** Things at most; a page also ends at about PAGE_BYTES_MAX of long documents. */
  readonly limit: number
}

/** A Thing with the bytes of its document in UTF-8. */
export type ScannedThing = StoredThing & { readonly bytes: number }

export interface Scanned {
  readonly things: readonly ScannedThing[]
  /** True when no Thing lies behind them. */
  readonly isLast: boolean
}

export interface ScanStore {
  scan(query: ScanQuery): Promise<Scanned>
}
