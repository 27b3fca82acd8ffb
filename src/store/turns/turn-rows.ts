// Turns a turn's writes into rows, with few statements a table.
//
// Invariants:
//   turn-rows/1. Late readings stand behind the entries of their turn, but for those of a Thing
//     that the turn deletes: those came before, and are gone with the deletion. (contributions/2)

import type { Event, Thing } from '#domain/entity'
import type { FeedEntry, LateReading } from '#domain/feed'
import type { OperationId } from '#domain/identity'
import type { Operation } from '#domain/operation'
import type { ChannelHead, ChannelWrites, DeadLetter, TurnWrites } from '#domain/store-ports'
import { Bulk } from '#src/store/statements/bulk'
import type { Columns } from '#src/store/statements/bulk'
import type { RowsStatement, Executor } from '#src/store/jobs/executor'
import type { Dialect } from '#src/store/dialect'
import { documentOf } from '#domain/things/document'
import { eventState, filedUnder } from './document.ts'
import type { ChannelHeadRow } from '#src/store/entities/channels'
import type { EventRow, ThingRow, TombstoneRow } from '#src/store/entities/entities'
import type { FeedRow, UpdateBlockRow, UpdatePlaceRow } from '#src/store/entities/feed'
import type { DeadLetterRow } from '#src/store/entities/lanes'
import type { OperationBatchRow, OperationRow } from '#src/store/entities/operations'
import type { Tables } from '#src/store/entities/tables'
import { addBlock, blocksOf } from '#src/store/feed/update-blocks'
import { batchRows } from './operation-batches.ts'
import { RuleRows } from './rules.ts'
import { ScheduledRows, putOff } from './scheduled.ts'

/** An item of a channel, with the store's own name of the channel. */
interface OfChannel<Item> {
  readonly ref: number
  readonly item: Item
}

/** A Thing, and the operation of its last entry if this turn made it. */
interface ThingOfChannel extends OfChannel<Thing> {
  readonly opId: OperationId | null
}

type HeadRow = Omit<ChannelHeadRow, 'entriesFloor' | 'tombstoneFloor' | 'hasProviderRoutes'>

const HEAD: Columns<HeadRow, ChannelHead> = {
  channel: ({ ref }) => ref,
  headSeq: ({ headSeq }) => headSeq,
  things: ({ things }) => things,
  openEvents: ({ openEvents }) => openEvents,
}

const THING: Columns<ThingRow, ThingOfChannel> = {
  channel: ({ ref }) => ref,
  id: ({ item }) => item.id,
  state: ({ item }) => item.state,
  seq: ({ item }) => item.seq,
  opId: ({ opId }) => opId,
  document: ({ item }) => documentOf(item),
}

const EVENT: Columns<EventRow, OfChannel<Event>> = {
  channel: ({ ref }) => ref,
  id: ({ item }) => item.id,
  state: ({ item }) => eventState(item),
  seq: ({ item }) => item.seq,
  thingId: ({ item }) => filedUnder(item),
  document: ({ item }) => documentOf(item),
}

const FEED: Columns<FeedRow, OfChannel<FeedEntry>> = {
  channel: ({ ref }) => ref,
  seq: ({ item }) => item.seq,
  model: ({ item }) => item.model,
  action: ({ item }) => item.action,
  entityId: ({ item }) => item.entityId,
  opId: ({ item }) => item.opId,
  state: ({ item }) => item.state ?? null,
  rev: ({ item }) => item.rev ?? null,
  acceptedAt: ({ item }) => item.acceptedAt,
  payload: ({ item }) => item.payload,
}

const OPERATION: Columns<OperationRow, Operation> = {
  opId: ({ opId }) => opId,
  channelId: ({ channelId }) => channelId,
  model: ({ model }) => model,
  entityId: ({ entityId }) => entityId,
  status: ({ status }) => status,
  acceptedAt: ({ acceptedAt }) => acceptedAt,
  updatedAt: ({ updatedAt }) => updatedAt,
  errorCode: ({ errorCode }) => errorCode ?? null,
}

const DEAD_LETTER: Columns<DeadLetterRow, DeadLetter> = {
  lane: ({ lane }) => lane,
  position: ({ position }) => position,
  item: ({ index }) => index,
  payload: ({ payload }) => payload,
  error: ({ error }) => error,
  at: ({ at }) => at,
}

const KEY = ['channel', 'id']

export class TurnRows {
  readonly #heads: Bulk<ChannelHead>
  readonly #things: Bulk<ThingOfChannel>
  readonly #events: Bulk<OfChannel<Event>>
  readonly #tombstones: Bulk<TombstoneRow>
  readonly #feedEntries: Bulk<OfChannel<FeedEntry>>
  readonly #updateBlocks: Bulk<UpdateBlockRow>
  readonly #updatePlaces: Bulk<UpdatePlaceRow>
  readonly #operations: Bulk<Operation>
  readonly #operationBatches: Bulk<OperationBatchRow>
  readonly #deadLetters: Bulk<DeadLetter>
  readonly #rules: RuleRows
  readonly #scheduled: ScheduledRows

  constructor(tables: Tables, dialect: Dialect) {
    const { onDuplicate } = dialect
    this.#rules = new RuleRows(tables, dialect)
    this.#scheduled = new ScheduledRows(tables)
    this.#heads = new Bulk(tables.channelHeads, HEAD, {
      // The floors belong to retention, the flag to subscriptions.
      leftOut: ['entriesFloor', 'tombstoneFloor', 'hasProviderRoutes'],
      onDuplicate: onDuplicate(['channel'], ['head_seq', 'things', 'open_events']),
    })
    this.#things = new Bulk(tables.things, THING, {
      // An entity that late data changed without effect has no new operation.
      onDuplicate: onDuplicate(KEY, ['state', 'seq', 'document'], ['op_id']),
    })
    this.#events = new Bulk(tables.events, EVENT, {
      onDuplicate: onDuplicate(KEY, ['state', 'seq', 'thing_id', 'document']),
    })
    this.#tombstones = Bulk.of(tables.tombstones)
    this.#feedEntries = new Bulk(tables.feedEntries, FEED)
    this.#updateBlocks = Bulk.of(tables.updateBlocks)
    this.#updatePlaces = Bulk.of(tables.updatePlaces)
    this.#operations = new Bulk(tables.operations, OPERATION)
    this.#operationBatches = Bulk.of(tables.operationBatches)
    this.#deadLetters = new Bulk(tables.deadLetters, DEAD_LETTER)
  }

  /** The statements that write a turn. */
  *statements(
    writes: TurnWrites,
    firstUpdate: number,
    executor: Executor,
  ): Generator<RowsStatement> {
    const parts = partsOf(writes.channels)
    yield* this.#rules.statements(parts.withRules, executor)
    yield* this.#scheduled.statements(parts.withScheduled, executor)
    yield* this.#heads.inserts(parts.heads, executor)
    yield* this.#things.inserts(parts.things, executor)
    yield* this.#events.inserts(parts.events, executor)
    yield* this.#tombstones.inserts(parts.tombstones, executor)
    yield* this.#feedEntries.inserts(parts.feedEntries, executor)
    yield* this.#updates(parts.updates, firstUpdate, executor)
    if (writes.putOff !== undefined) yield putOff(writes.putOff)
    yield* this.#operations.inserts(writes.operations, executor)
    yield* this.#operationBatches.inserts(batchRows(writes.batches ?? []), executor)
    yield* this.#deadLetters.inserts(writes.deadLetters, executor)
  }

  *#updates(
    updates: readonly OfChannel<FeedEntry | LateReading>[],
    first: number,
    executor: Executor,
  ): Generator<RowsStatement> {
    let id = first
    const written = { blocks: [] as UpdateBlockRow[], places: [] as UpdatePlaceRow[] }
    for (const block of blocksOf(updates)) {
      addBlock(written, block, { id, isJoined: 0, dialect: executor.dialect })
      id += block.entries
    }
    yield* this.#updateBlocks.inserts(written.blocks, executor)
    yield* this.#updatePlaces.inserts(written.places, executor)
  }
}

/** The number of a turn's updates of Things and of its late readings. */
export function updatesOf({ channels }: TurnWrites): number {
  let count = 0
  for (const { entries, late = [] } of channels) {
    count += late.length
    for (const { model } of entries) if (model === 'thing') count += 1
  }
  return count
}

/**
 * The writes by table, in the order of their keys: transactions of other processes then seldom
 * cross this one.
 */
function partsOf(channels: readonly ChannelWrites[]) {
  const parts = {
    withRules: [] as ChannelWrites[],
    withScheduled: [] as ChannelWrites[],
    heads: [] as ChannelHead[],
    things: [] as ThingOfChannel[],
    events: [] as OfChannel<Event>[],
    tombstones: [] as TombstoneRow[],
    feedEntries: [] as OfChannel<FeedEntry>[],
    updates: [] as OfChannel<FeedEntry | LateReading>[],
  }
  for (const channel of channels.toSorted(byRef)) {
    const { head, things, events, entries, late = [] } = channel
    const { ref } = head
    if (channel.rules !== undefined) parts.withRules.push(channel)
    if (channel.scheduled !== undefined) parts.withScheduled.push(channel)
    if (entries.length > 0) parts.heads.push(head)
    for (const item of inOrder(things)) {
      parts.things.push({ ref, item, opId: operationOf(item, entries) })
      if (item.state === 'deleted') parts.tombstones.push(tombstoneRow('thing', { ref, item }))
    }
    for (const item of inOrder(events)) {
      parts.events.push({ ref, item })
      if (item.state === 'closed') parts.tombstones.push(tombstoneRow('event', { ref, item }))
    }
    for (const item of late.length === 0 ? entries : inPlace(entries, late)) {
      const table = item.model === 'thing' ? parts.updates : parts.feedEntries
      table.push({ ref, item })
    }
  }
  return parts
}

/** The items of a channel in the order in which readers count them. */
function inPlace(
  entries: readonly FeedEntry[],
  late: readonly LateReading[],
): readonly (FeedEntry | LateReading)[] {
  /** When each Thing that was deleted was created again. */
  const createdAt = new Map<string, number>()
  for (const { model, action, entityId, acceptedAt } of entries) {
    if (model !== 'thing') continue
    if (action === 'delete') createdAt.set(entityId, Infinity)
    else if (createdAt.get(entityId) === Infinity) createdAt.set(entityId, acceptedAt)
  }
  const isEnded = ({ entityId, acceptedAt }: LateReading): boolean =>
    acceptedAt < (createdAt.get(entityId) ?? -Infinity)
  // turn-rows/1
  return [...late.filter(isEnded), ...entries, ...late.filter((one) => !isEnded(one))]
}

const byRef = (one: ChannelWrites, other: ChannelWrites): number => one.head.ref - other.head.ref

function inOrder<Item extends Thing | Event>(items: readonly Item[]): readonly Item[] {
  return items.length < 2 ? items : items.toSorted((one, other) => (one.id < other.id ? -1 : 1))
}

/** The entries follow one another, so a seq tells where its entry stands. */
function operationOf({ seq }: Thing, entries: readonly FeedEntry[]): OperationId | null {
  return entries[seq - (entries[0]?.seq ?? 0)]?.opId ?? null
}

const tombstoneRow = (
  model: TombstoneRow['model'],
  { ref, item: { id, seq, changedAt } }: OfChannel<Thing | Event>,
): TombstoneRow => ({ channel: ref, model, entityId: id, seq, endedAt: changedAt })
