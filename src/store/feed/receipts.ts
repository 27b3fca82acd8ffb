// Reads who got an entry: one statement for all subscribers. (Specification: Receipts)
//
// No index has the operations and entities of a feed. So finding an entry steps over PAGES_MAX
// pages at most, or over as many of the newest Messages and Events as one page may. Each page is a
// job of its own, as for any other reader: an entry never changes, and who got it is read in one
// snapshot behind them. (paging/1)

import { SUBSCRIBERS_MAX } from '#domain/channel'
import type { FeedEntry } from '#domain/feed'
import { presentFieldsOf, pushableOf } from '#domain/push/preferences'
import type { Preferences } from '#domain/push/preferences'
import { receiptState } from '#domain/push/receipts'
import type { EntryReceipts, ReceiptQuery } from '#domain/push/receipts'
import { recordFrom } from '#domain/record'
import type { Fields } from '#domain/submission'
import type { DeviceRow, SubscriptionRow } from '#src/store/entities/devices'
import type { EventRow } from '#src/store/entities/entities'
import type { PushState } from '#src/store/entities/pushes'
import type { Database } from '#src/store/jobs/database'
import type { Executor } from '#src/store/jobs/executor'
import { SCANNED_MAX } from '#src/store/statements/paging'
import { eventFrom } from '#src/store/turns/document'
import { channelOf } from './channel-of.ts'
import { FEED_COLUMNS, entryFrom } from './deliverables.ts'
import type { StoredEntry } from './deliverables.ts'
import { history } from './history.ts'
import { updatesAt } from './update-places.ts'

const PAGES_MAX = 8
const PAGE_MAX = 200

/** The receipts of an entry; undefined when there is no such entry. */
export async function receiptsOf(
  database: Database,
  query: ReceiptQuery,
): Promise<EntryReceipts | undefined> {
  const { channelId, operation } = query
  const sought =
    operation === undefined ? undefined : await entryOf(database, { ...query, operation })
  if (operation !== undefined && sought === undefined) return undefined
  return database.snapshot(async (executor) => {
    const channel = await channelOf(executor, channelId)
    if (channel === undefined) return undefined
    const entry = sought ?? (await newestOf(executor, channel, query))
    return entry && receiptsFor(executor, channel, { entry, providers: query.providers })
  })
}

async function receiptsFor(
  executor: Executor,
  channel: number,
  { entry, providers }: Pick<EntryReceipts, 'entry'> & Pick<ReceiptQuery, 'providers'>,
): Promise<EntryReceipts> {
  const own = recordFrom(entry.payload) as Fields
  const pushable = pushableOf(entry, own, await presentOf(executor, channel, entry))
  const rows = await subscribersOf(executor, channel, entry)
  const subscribers = rows.map(({ deviceId, label, platform, channelType, ...row }) => ({
    deviceId,
    platform,
    channelType,
    ...(label !== null && { label }),
    state: receiptState(
      {
        isLater: row.sinceSeq >= entry.seq,
        isAcknowledged: hasAcknowledged(row, entry.seq),
        job: jobIn(row.state),
        preferences: JSON.parse(row.notify ?? '{}') as Preferences,
        hasProvider: providers.some((name) => name === channelType),
      },
      pushable,
    ),
  }))
  return { entry, subscribers }
}

const hasAcknowledged = (
  { ackedSeq, ackedAhead }: Pick<SubscriptionRow, 'ackedSeq' | 'ackedAhead'>,
  seq: number,
): boolean => ackedSeq >= seq || (JSON.parse(ackedAhead) as readonly number[]).includes(seq)

function jobIn(state: PushState | null): 'open' | 'failed' | 'pushed' | undefined {
  if (state === null) return undefined
  return state === 'failed' || state === 'pushed' ? state : 'open'
}

type Row = Pick<DeviceRow, 'deviceId' | 'label' | 'platform' | 'channelType'> &
  Pick<SubscriptionRow, 'sinceSeq' | 'ackedSeq' | 'ackedAhead' | 'notify'> & {
    readonly state: PushState | null
  }

const subscribersOf = (
  executor: Executor,
  channel: number,
  { opId, seq }: FeedEntry,
): Promise<readonly Row[]> =>
  executor.all<Row>(
    `SELECT d.device_id AS deviceId, d.label, d.platform, d.channel_type AS channelType,
        s.since_seq AS sinceSeq, s.acked_seq AS ackedSeq, s.acked_ahead AS ackedAhead, s.notify,
        (SELECT j.state FROM push_jobs j${executor.dialect.byIndex('push_jobs_by_operation')}
          WHERE j.op_id = ? AND j.device = s.device AND j.channel = s.channel AND j.seq = ?
        ) AS state
      FROM subscriptions s
      JOIN devices d ON d.id = s.device
      WHERE s.channel = ? ORDER BY s.created_at, d.id LIMIT ${SUBSCRIBERS_MAX}`,
    [opId, seq, channel],
  )

/** The present fields of the entry's Event. */
async function presentOf(
  executor: Executor,
  channel: number,
  { model, entityId }: FeedEntry,
): Promise<Fields | undefined> {
  if (model !== 'event') return undefined
  const row = await executor.first<Omit<EventRow, 'channel'>>(
    'SELECT id, state, seq, document FROM events WHERE channel = ? AND id = ?',
    [channel, entityId],
  )
  return row && presentFieldsOf(eventFrom(row))
}

/** The entry that an operation made, among those accepted since. */
async function entryOf(
  database: Database,
  { channelId, entityId, operation: { opId, acceptedAt } }: Required<ReceiptQuery>,
): Promise<FeedEntry | undefined> {
  let afterSeq = 0
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const wanted = { channelId, entityId, sinceMs: acceptedAt, afterSeq, limit: PAGE_MAX }
    const { items, next } = await history(database, wanted)
    const found = items.find((entry) => entry.opId === opId)
    if (found !== undefined || next === undefined) return found
    afterSeq = next
  }
  return undefined
}

/** The newest entry of a Message, Event or Thing. */
async function newestOf(
  executor: Executor,
  channel: number,
  { channelId, entityId }: ReceiptQuery,
): Promise<FeedEntry | undefined> {
  const known = await executor.first<{ seq: number | null }>(
    `SELECT max(seq) AS seq FROM (
      SELECT seq FROM things WHERE channel = ? AND id = ?
      UNION ALL SELECT seq FROM events WHERE channel = ? AND id = ?
      UNION ALL SELECT seq FROM (
        SELECT seq, entity_id FROM feed_entries WHERE channel = ? ORDER BY seq DESC LIMIT ?
      ) newest WHERE entity_id = ?) found`,
    [channel, entityId, channel, entityId, channel, SCANNED_MAX, entityId],
  )
  const seq = known?.seq ?? undefined
  if (seq === undefined) return undefined
  const row = await executor.first<StoredEntry>(
    `SELECT ${FEED_COLUMNS} FROM feed_entries WHERE channel = ? AND seq = ?`,
    [channel, seq],
  )
  const [found = row] = await updatesAt(executor, [{ channel, seq }])
  return found && entryFrom(channelId, found)
}
