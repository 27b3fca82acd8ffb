// Cuts pages by their bytes: reads the sizes of rows first, then the content of those that fit.
//
// Invariants:
//   sized/1. A page ends at about PAGE_BYTES_MAX bytes of content; one item always fits. Content
//     beyond it is neither sent by the database nor held here: a row tells the size of a column
//     without its content.

import { PAGE_BYTES_MAX } from '#domain/store-ports'
import type { Executor } from '#src/store/jobs/executor'

/** A row with a place in a channel's feed. */
export interface Sequenced {
  readonly seq: number
}

/** A row whose content is not read yet. */
export interface Sized extends Sequenced {
  /** The row's key; in a table of entities it is unique within its channel. */
  readonly id: string | number
  /** Bytes of the content in UTF-8. */
  readonly bytes: number
}

/** The column that holds the content, for each table with pages. */
const CONTENT = {
  feed_entries: 'payload',
  things: 'document',
  events: 'document',
} as const

export type ContentTable = keyof typeof CONTENT

/** The columns of `Sized`. */
export const sizeColumns = (table: ContentTable): string =>
  `id, seq, octet_length(${CONTENT[table]}) AS bytes`

/** Bytes counted for the names and the other columns of an item. */
const ENVELOPE_BYTES = 400

/** Bytes that still fit a page. */
export interface RoomInBytes {
  readonly bytes: number
  /** True while the page has no item: the first one always fits. */
  readonly isEmpty: boolean
}

/** Items and bytes that still fit a page. */
export interface Room extends RoomInBytes {
  readonly items: number
}

/** The room of a new page. */
export const roomFor = (items: number, bytes: number = PAGE_BYTES_MAX): Room => ({
  items,
  bytes,
  isEmpty: true,
})

/** The number of rows that fit, in their order, and the room that they leave. (sized/1) */
export function fill(
  sizes: readonly Sized[],
  room: Room,
): { readonly count: number; readonly left: Room } {
  let { bytes, isEmpty } = room
  let count = 0
  for (const size of sizes) {
    const taken = size.bytes + ENVELOPE_BYTES
    if (count === room.items || (taken > bytes && !isEmpty)) break
    bytes -= taken
    isEmpty = false
    count += 1
  }
  return { count, left: { items: room.items - count, bytes, isEmpty } }
}

interface Content {
  readonly table: ContentTable
  /** `seq` is one of them. */
  readonly columns: string
}

/** A row of some channel whose content is wanted. */
interface Named extends Pick<Sized, 'id' | 'seq'> {
  readonly channel: number
}

/** The content of rows whose sizes are known, in the order of those. */
export async function contentOf<Row extends Sequenced>(
  executor: Executor,
  { table, columns }: Content,
  wanted: readonly Named[],
): Promise<(Row & { readonly channel: number })[]> {
  if (wanted.length === 0) return []
  const { dialect } = executor
  const isFeed = CONTENT[table] === 'payload'
  const keys = isFeed
    ? dialect.keys('k', { row_id: 'integer' })
    : dialect.keys('k', { row_channel: 'integer', row_id: 'text' })
  const condition = isFeed ? 'id = k.row_id' : 'channel = k.row_channel AND id = k.row_id'
  const rows = await executor.all<Row & { readonly channel: number }>(
    `SELECT${dialect.inOrder} channel, ${columns} FROM ${keys} CROSS JOIN ${table} ON ${condition}`,
    [JSON.stringify(wanted.map(({ channel, id }) => (isFeed ? [id] : [channel, id])))],
  )
  const bySeq = new Map(rows.map((row) => [placeOf(row), row]))
  return wanted.flatMap((row) => bySeq.get(placeOf(row)) ?? [])
}

/** No two rows of a table have the same. */
const placeOf = ({ channel, seq }: { readonly channel: number; readonly seq: number }): string =>
  `${channel} ${seq}`
