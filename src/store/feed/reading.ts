// Reads the contents of a channel. Lists step over a bounded number of rows. (paging/1)

import type { Event, Thing } from '#domain/entity'
import type { CatchUpPage, CatchUpRequest, Pulled } from '#domain/feed'
import type { ChannelId, DeviceId } from '#domain/identity'
import type { EntryReceipts, ReceiptQuery } from '#domain/push/receipts'
import type { HistoryQuery, OrderedPage, OrderedQuery } from '#domain/history/ordered-reads'
import type { EntityQuery, HistoryPage, Page, ReadStore } from '#domain/store-ports'
import type { ScanQuery, Scanned } from '#domain/things/scan'
import { catchUp } from './catch-up.ts'
import { channelOf } from './channel-of.ts'
import { entitiesIn, seqBehind } from '#src/store/statements/last-changes'
import type { EntityTable } from '#src/store/statements/last-changes'
import type { Database } from '#src/store/jobs/database'
import type { Value } from '#src/store/dialect'
import { ACKNOWLEDGED, eventFrom, thingFrom } from '#src/store/turns/document'
import type { EventRow, ThingRow } from '#src/store/entities/entities'
import { history } from './history.ts'
import { openEvents } from './open-events.ts'
import { SCANNED_MAX, beginning, beginsWith, pageOf } from '#src/store/statements/paging'
import type { Filter } from '#src/store/statements/paging'
import { pull } from './pull.ts'
import { receiptsOf } from './receipts.ts'
import { scan } from './scanning.ts'
import { contentOf, fill, roomFor, sizeColumns } from '#src/store/statements/sized'
import type { Sized } from '#src/store/statements/sized'

export class Reading implements ReadStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async thing(channelId: ChannelId, id: string): Promise<Thing | undefined> {
    const row = await this.#entity<ThingRow>('things', channelId, id)
    return row === undefined ? undefined : thingFrom(row)
  }

  async event(channelId: ChannelId, id: string): Promise<Event | undefined> {
    const row = await this.#entity<EventRow>('events', channelId, id)
    return row === undefined ? undefined : eventFrom(row)
  }

  async things(query: EntityQuery): Promise<Page<Thing>> {
    const page = await this.#list<ThingRow>('things', query)
    return { ...page, items: page.items.map(thingFrom) }
  }

  async events(query: EntityQuery): Promise<Page<Event>> {
    const page = await this.#list<EventRow>('events', query)
    return { ...page, items: page.items.map(eventFrom) }
  }

  scan(query: ScanQuery): Promise<Scanned> {
    return this.#database.snapshot(async (executor) => {
      const channel = await channelOf(executor, query.channelId)
      return channel === undefined ? { things: [], isLast: true } : scan(executor, channel, query)
    })
  }

  openEventsInOrder(query: OrderedQuery): Promise<OrderedPage<Event>> {
    return this.#database.snapshot(async (executor) => {
      const channel = await channelOf(executor, query.channelId)
      return channel === undefined ? { items: [] } : openEvents(executor, channel, query)
    })
  }

  history(query: HistoryQuery): Promise<HistoryPage> {
    return history(this.#database, query)
  }

  catchUp(requests: readonly CatchUpRequest[], bytes?: number): Promise<readonly CatchUpPage[]> {
    return catchUp(this.#database, requests, bytes)
  }

  pull(deviceId: DeviceId, limit: number): Promise<Pulled> {
    return pull(this.#database, deviceId, limit)
  }

  receipts(query: ReceiptQuery): Promise<EntryReceipts | undefined> {
    return receiptsOf(this.#database, query)
  }

  #entity<Row>(table: EntityTable, channelId: ChannelId, id: string): Promise<Row | undefined> {
    return this.#database.first<Row>(
      `SELECT e.id, e.state, e.seq, e.document FROM channels c
          JOIN ${table} e ON e.channel = c.id AND e.id = ?
          WHERE c.channel_id = ? AND c.is_deleted = 0`,
      [id, channelId],
    )
  }

  #list<Row extends { readonly seq: number }>(
    table: EntityTable,
    query: EntityQuery,
  ): Promise<Page<Row>> {
    return this.#database.snapshot(async (executor) => {
      const channel = await channelOf(executor, query.channelId)
      if (channel === undefined) return { items: [] }
      const all = { table, channel, ...(query.before !== undefined && { before: query.before }) }
      const filter = filterOf(table, query)
      // paging/1
      const end = filter.sql === '' ? undefined : await seqBehind(executor, all, SCANNED_MAX)
      const found = await entitiesIn<Sized>(
        executor,
        { ...all, after: end ?? 0, filter },
        { columns: sizeColumns(table), order: 'newest first', limit: query.limit + 1 },
      )
      const { count } = fill(found, roomFor(query.limit))
      const content = { table, columns: 'id, state, seq, document' }
      const wanted = found.slice(0, count).map(({ id, seq }) => ({ channel, id, seq }))
      const rows = await contentOf<Row>(executor, content, wanted)
      return pageOf(rows, found, end === undefined ? undefined : end + 1)
    })
  }
}

/** A condition beside the channel; empty when there is none. */
function filterOf(
  table: EntityTable,
  { state, thingId, thingPrefix, isAcknowledged }: EntityQuery,
): Filter {
  const conditions: string[] = []
  const parameters: Value[] = []
  if (state === 'open') {
    conditions.push(' AND state IN (?, ?)')
    parameters.push(state, ACKNOWLEDGED)
  } else if (state !== undefined) {
    conditions.push(' AND state = ?')
    parameters.push(state)
  }
  if (isAcknowledged !== undefined) {
    conditions.push(isAcknowledged ? ' AND state = ?' : ' AND state <> ?')
    parameters.push(ACKNOWLEDGED)
  }
  if (thingId !== undefined && table === 'events') {
    conditions.push(' AND thing_id = ?')
    parameters.push(thingId)
  }
  if (thingPrefix !== undefined) {
    conditions.push(` AND ${beginsWith(table === 'things' ? 'id' : 'thing_id')}`)
    parameters.push(...beginning(thingPrefix))
  }
  return { sql: conditions.join(''), parameters }
}
