// A turn's writes as rows: each table in as few statements as there are powers of two.

import type { Event, Thing } from '#domain/entity'
import type { FeedEntry } from '#domain/feed'
import type { OperationId } from '#domain/identity'
import type { TurnWrites } from '#domain/store-ports'
import { Bulk } from './bulk.ts'
import type { Session } from './session.ts'
import type { Dialect } from './dialect.ts'
import { documentOf, filedUnder } from './document.ts'
import type { ChannelHeadRow } from './entities/channels.ts'
import type { EventRow, ThingRow, TombstoneRow } from './entities/entities.ts'
import type { FeedRow } from './entities/feed.ts'
import type { DeadLetterRow } from './entities/lanes.ts'
import type { OperationRow } from './entities/operations.ts'
import type { Tables } from './entities/tables.ts'

type Referred<Item> = Item & { readonly ref: number }
type HeadRow = Omit<ChannelHeadRow, 'entriesFloor' | 'tombstoneFloor'>

const KEY = ['channel', 'id']

export class TurnRows {
  readonly #heads: Bulk<HeadRow>
  readonly #things: Bulk<ThingRow>
  readonly #events: Bulk<EventRow>
  readonly #tombstones: Bulk<TombstoneRow>
  readonly #feedEntries: Bulk<FeedRow>
  readonly #thingUpdates: Bulk<FeedRow>
  readonly #operations: Bulk<OperationRow>
  readonly #deadLetters: Bulk<DeadLetterRow>

  constructor(tables: Tables, { onDuplicate }: Dialect) {
    this.#heads = new Bulk(tables.channelHeads, {
      // The floors belong to retention.
      leftOut: ['entriesFloor', 'tombstoneFloor'],
      onDuplicate: onDuplicate(['channel'], ['head_seq', 'things', 'open_events']),
    })
    this.#things = new Bulk(tables.things, {
      // An entity that late data changed without effect has no new operation.
      onDuplicate: onDuplicate(KEY, ['state', 'seq', 'document'], ['op_id']),
    })
    this.#events = new Bulk(tables.events, {
      onDuplicate: onDuplicate(KEY, ['state', 'seq', 'thing_id', 'document']),
    })
    this.#tombstones = new Bulk(tables.tombstones)
    this.#feedEntries = new Bulk(tables.feedEntries)
    this.#thingUpdates = new Bulk(tables.thingUpdates)
    this.#operations = new Bulk(tables.operations)
    this.#deadLetters = new Bulk(tables.deadLetters)
  }

  async write(session: Session, writes: TurnWrites): Promise<void> {
    const [entries, updates] = splitFeed(writes.feed)
    await this.#heads.write(session, writes.channels.map(headRow).sort(byKey))
    await this.#things.write(session, thingRows(writes.things, updates).sort(byKey))
    await this.#events.write(session, writes.events.map(eventRow).sort(byKey))
    await this.#tombstones.write(session, tombstoneRows(writes))
    await this.#feedEntries.write(session, entries)
    await this.#thingUpdates.write(session, updates)
    await this.#operations.write(session, writes.operations.map(operationRow))
    await this.#deadLetters.write(session, writes.deadLetters.map(deadLetterRow))
  }
}

/** Rows that others lock too go in the order of their keys, so that transactions seldom cross. */
function byKey(one: Keyed, other: Keyed): number {
  if (one.channel !== other.channel) return one.channel - other.channel
  return (one.id ?? '') < (other.id ?? '') ? -1 : 1
}

interface Keyed {
  readonly channel: number
  readonly id?: string
}

const headRow = ({
  ref,
  headSeq,
  things,
  openEvents,
}: TurnWrites['channels'][number]): HeadRow => ({
  channel: ref,
  headSeq,
  things,
  openEvents,
})

function thingRows(things: readonly Referred<Thing>[], updates: readonly FeedRow[]): ThingRow[] {
  const operations = new Map<string, OperationId>()
  for (const { channel, seq, opId } of updates) operations.set(`${channel} ${seq}`, opId)
  return things.map((thing) => ({
    channel: thing.ref,
    id: thing.id,
    state: thing.state,
    seq: thing.seq,
    opId: operations.get(`${thing.ref} ${thing.seq}`) ?? null,
    document: documentOf(thing),
  }))
}

const eventRow = (event: Referred<Event>): EventRow => ({
  channel: event.ref,
  id: event.id,
  state: event.state,
  seq: event.seq,
  thingId: filedUnder(event),
  document: documentOf(event),
})

function tombstoneRows({ things, events }: TurnWrites): TombstoneRow[] {
  const rows: TombstoneRow[] = []
  for (const thing of things) {
    if (thing.state === 'deleted') rows.push(tombstoneRow('thing', thing))
  }
  for (const event of events) {
    if (event.state === 'closed') rows.push(tombstoneRow('event', event))
  }
  return rows
}

const tombstoneRow = (
  model: TombstoneRow['model'],
  { ref, id, seq, changedAt }: Referred<Thing | Event>,
): TombstoneRow => ({ channel: ref, model, entityId: id, seq, endedAt: changedAt })

function splitFeed(feed: readonly Referred<FeedEntry>[]): readonly [FeedRow[], FeedRow[]] {
  const entries: FeedRow[] = []
  const updates: FeedRow[] = []
  for (const entry of feed) (entry.model === 'thing' ? updates : entries).push(feedRow(entry))
  return [entries, updates]
}

const feedRow = (entry: Referred<FeedEntry>): FeedRow => ({
  channel: entry.ref,
  seq: entry.seq,
  model: entry.model,
  action: entry.action,
  entityId: entry.entityId,
  opId: entry.opId,
  state: entry.state ?? null,
  rev: entry.rev ?? null,
  acceptedAt: entry.acceptedAt,
  payload: entry.payload,
})

const operationRow = (operation: TurnWrites['operations'][number]): OperationRow => ({
  ...operation,
  errorCode: operation.errorCode ?? null,
})

const deadLetterRow = (letter: TurnWrites['deadLetters'][number]): DeadLetterRow => ({
  lane: letter.lane,
  position: letter.position,
  item: letter.index,
  payload: letter.payload,
  error: letter.error,
  at: letter.at,
})
