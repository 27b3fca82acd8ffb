// Entities, feeds and operations, in memory.

import type { Event, Thing } from '#domain/entity'
import type { CatchUpPage, CatchUpRequest, FeedEntry } from '#domain/feed'
import type { ChannelId, OperationId } from '#domain/identity'
import type { HistoryQuery, OrderedPage, OrderedQuery } from '#domain/history/ordered-reads'
import type { Fields } from '#domain/submission'
import type { Claim, ClaimOutcome, Operation, OperationStore } from '#domain/operation'
import type { EntryReceipts, ReceiptQuery } from '#domain/push/receipts'
import { documentOf } from '#domain/things/document'
import type { ScanQuery, Scanned } from '#domain/things/scan'
import type { EntityQuery, HistoryPage, Page, ReadStore } from '#domain/store-ports'

export class FakeReads implements ReadStore {
  keptThings: Thing[] = []
  keptEvents: Event[] = []
  entries: FeedEntry[] = []
  next: number | undefined = undefined
  /** Keeps an open Event with these fields. */
  addEvent(id: string, values: Fields): void {
    const none = { values: {}, times: undefined }
    const times = { at: 1, stateAt: 1, changedAt: 1, rev: 1, seq: 1 }
    const fields = { values, times: undefined }
    this.keptEvents.push({ id, state: 'open', ...times, fields, attrs: none, externalIds: none })
  }

  readonly queries: (EntityQuery | HistoryQuery)[] = []

  async thing(_channelId: ChannelId, id: string): Promise<Thing | undefined> {
    return this.keptThings.find((thing) => thing.id === id)
  }

  async event(_channelId: ChannelId, id: string): Promise<Event | undefined> {
    return this.keptEvents.find((event) => event.id === id)
  }

  async things(query: EntityQuery): Promise<Page<Thing>> {
    this.queries.push(query)
    return this.#page(this.keptThings)
  }

  async events(query: EntityQuery): Promise<Page<Event>> {
    this.queries.push(query)
    return this.#page(this.keptEvents)
  }

  async scan(query: ScanQuery): Promise<Scanned> {
    const { by, isDescending, after, until, prefix = '' } = query
    const placeOf = ({ id, seq }: Thing) => (by === 'changed' ? seq : id)
    const isBehind = (thing: Thing): boolean =>
      after === undefined || (isDescending ? placeOf(thing) < after : placeOf(thing) > after)
    const things = this.keptThings
      .filter((thing) => isBehind(thing) && (by === 'changed' || thing.id.startsWith(prefix)))
      .filter(({ id }) => until === undefined || id <= until)
      .toSorted((one, other) => (placeOf(one) < placeOf(other) === isDescending ? 1 : -1))
      .slice(0, query.limit)
      .map((thing) => {
        const document = documentOf(thing)
        return { ...thing, document, bytes: Buffer.byteLength(document) }
      })
    return { things, isLast: things.length < query.limit }
  }

  async history(query: HistoryQuery): Promise<HistoryPage> {
    this.queries.push(query)
    const { channelId, afterSeq = 0, sinceMs = 0, models } = query
    const own = this.entries.filter((entry) => entry.channelId === channelId)
    const found = own.filter(
      ({ seq, acceptedAt, model }) =>
        seq > afterSeq && acceptedAt >= sinceMs && models?.includes(model) !== false,
    )
    return { ...this.#page(found), headSeq: own.at(-1)?.seq ?? 0 }
  }

  async openEventsInOrder(query: OrderedQuery): Promise<OrderedPage<Event>> {
    return inOrder(this.keptEvents, query)
  }

  receiptQueries: ReceiptQuery[] = []
  receipted: EntryReceipts | undefined = undefined

  async receipts(query: ReceiptQuery): Promise<EntryReceipts | undefined> {
    this.receiptQueries.push(query)
    return this.receipted
  }

  async catchUp(_requests: readonly CatchUpRequest[]): Promise<readonly CatchUpPage[]> {
    return [{ entries: this.entries, headSeq: this.entries.length, complete: true }]
  }

  async pull(): Promise<{ readonly items: readonly FeedEntry[]; readonly hasMore: boolean }> {
    return { items: this.entries, hasMore: this.next !== undefined }
  }

  #page<Item>(items: readonly Item[]): Page<Item> {
    return this.next === undefined ? { items } : { items, next: this.next }
  }
}

function inOrder<Item extends { readonly id: string }>(
  items: readonly Item[],
  { afterId = '', thingPrefix = '', limit }: OrderedQuery,
): OrderedPage<Item> {
  const behind = items
    .filter(({ id }) => id > afterId && id.startsWith(thingPrefix))
    .toSorted((one, other) => (one.id < other.id ? -1 : 1))
  const page = behind.slice(0, limit)
  const last = page.at(-1)
  return behind.length > limit && last ? { items: page, nextId: last.id } : { items: page }
}

export class FakeOperations implements OperationStore {
  readonly rows = new Map<OperationId, Operation>()
  readonly claims = new Map<OperationId, Claim>()

  async find(opId: OperationId): Promise<Operation | undefined> {
    return this.rows.get(opId)
  }

  async claim(claim: Claim, expiredBefore: number, isPending = false): Promise<ClaimOutcome> {
    const first = this.claims.get(claim.opId)
    if (first === undefined && isPending) return { kind: 'conflict', code: 'op_id_scope_conflict' }
    if (first === undefined || first.claimedAt < expiredBefore) {
      this.claims.set(claim.opId, claim)
      return { kind: 'fresh' }
    }
    if (first.channelId !== claim.channelId || first.thingId !== claim.thingId) {
      return { kind: 'conflict', code: 'op_id_scope_conflict' }
    }
    if (first.contentHash !== claim.contentHash) {
      return { kind: 'conflict', code: 'op_id_payload_conflict' }
    }
    return { kind: 'repeat', first, applied: this.rows.has(claim.opId) }
  }
}
