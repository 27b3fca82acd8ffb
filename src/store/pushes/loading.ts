// Loads the entry in the feed and the present route of each push job.
//
// Invariants:
//   W6. A job whose entry cannot be read is set aside: the others of its claim go on.

import type { FeedEntry } from '#domain/feed'
import type { ChannelId } from '#domain/identity'
import type { Push } from '#domain/push'
import type { ProviderName, Platform } from '#domain/push/providers'
import type { Executor } from '#src/store/jobs/executor'
import { FEED_COLUMNS, entryFrom } from '#src/store/feed/deliverables'
import type { StoredEntry } from '#src/store/feed/deliverables'
import { updatesAt } from '#src/store/feed/update-places'
import { eventFrom, thingFrom } from '#src/store/turns/document'
import type { EventRow, ThingRow } from '#src/store/entities/entities'
import type { PushJobRow } from '#src/store/entities/pushes'
import type { Numbered } from '#src/store/dialect'

/** A job, from its own row. */
export type Job = Omit<DueJob, 'state'>

/** A job that is due, or was when it was found. */
export type DueJob = Numbered & Omit<PushJobRow, 'provider' | 'opId' | 'dueAt' | 'claim'>

export interface Loaded {
  readonly pushes: readonly Push[]
  /** Jobs whose channel, subscription or route is gone. */
  readonly unreachable: readonly number[]
  /** Jobs whose entry retention has removed. */
  readonly outlived: readonly number[]
  /** Jobs whose entry cannot be read. (W6) */
  readonly unreadable: readonly number[]
}

interface Target {
  readonly id: number
  readonly channelId: ChannelId
  readonly platform: Platform
  readonly token: string
  readonly revision: number
}

/** Loads pushes in the order of the jobs. Pushes of one entry share it. */
export async function loadPushes(
  executor: Executor,
  provider: ProviderName,
  jobs: readonly Job[],
): Promise<Loaded> {
  const targets = await targetsOf(executor, provider, jobs)
  const reachable = jobs.filter(({ id }) => targets.has(id))
  const entries = await entriesOf(executor, reachable, targets)
  const damaged = new Set([...entries].flatMap(([key, entry]) => (isReadable(entry) ? [] : [key])))
  const readable = reachable.filter((job) => !damaged.has(keyOf(job)))
  const unreadable = reachable.flatMap((job) => (damaged.has(keyOf(job)) ? [job.id] : [])) // W6
  const titles = await titlesOf(executor, readable, entries)
  const pushes: Push[] = []
  const outlived: number[] = []
  for (const job of readable) {
    const target = targets.get(job.id)
    const entry = entries.get(keyOf(job))
    if (target === undefined || entry === undefined) {
      outlived.push(job.id)
      continue
    }
    const { platform, token, revision } = target
    const entityTitle = titles.get(keyOf(job))
    pushes.push({
      id: job.id,
      provider,
      route: { device: job.device, platform, token, revision },
      entry,
      ...(entityTitle !== undefined && { entityTitle }),
      // A new route begins without the failures of the old one.
      attempts: revision === job.routeRevision ? job.attempts : 0,
      expiresAt: job.expiresAt,
      queuedAt: job.queuedAt,
    })
  }
  const unreachable = jobs.flatMap(({ id }) => (targets.has(id) ? [] : [id]))
  return { pushes, unreachable, outlived, unreadable }
}

const keyOf = ({ channel, seq }: Pick<Job, 'channel' | 'seq'>): string => `${channel} ${seq}`

/** The routes by job, for devices that are still subscribed to a channel that still exists. */
async function targetsOf(
  executor: Executor,
  provider: ProviderName,
  jobs: readonly Job[],
): Promise<ReadonlyMap<number, Target>> {
  const rows = await executor.all<Target>(
    `SELECT${executor.dialect.inOrder} k.id, c.channel_id AS channelId, d.platform,
        d.provider_token AS token, d.route_revision AS revision
      FROM ${executor.dialect.keys('k', { id: 'integer', channel: 'integer', device: 'integer' })}
      CROSS JOIN channels c ON c.id = k.channel AND c.is_deleted = 0
      CROSS JOIN subscriptions s ON s.channel = k.channel AND s.device = k.device
      CROSS JOIN devices d ON d.id = k.device AND d.channel_type = ?`,
    [JSON.stringify(jobs.map(({ id, channel, device }) => [id, channel, device])), provider],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

type Place = Pick<Job, 'channel' | 'seq'>
type Found = StoredEntry & Place

async function entriesOf(
  executor: Executor,
  jobs: readonly Job[],
  targets: ReadonlyMap<number, Target>,
): Promise<ReadonlyMap<string, FeedEntry>> {
  const channelIds = new Map(
    jobs.flatMap(({ id, channel }) => {
      const target = targets.get(id)
      return target === undefined ? [] : [[channel, target.channelId] as const]
    }),
  )
  const places = (of: readonly Job[]): readonly Place[] => [
    ...new Map(of.map((job) => [keyOf(job), job])).values(),
  ]
  const rows = [
    ...(await entriesAt(executor, places(jobs.filter(({ thing }) => thing === null)))),
    ...(await updatesAt(executor, places(jobs.filter(({ thing }) => thing !== null)))),
  ]
  const entries = new Map<string, FeedEntry>()
  for (const { channel, ...row } of rows) {
    const channelId = channelIds.get(channel)
    if (channelId !== undefined) {
      entries.set(keyOf({ channel, seq: row.seq }), entryFrom(channelId, row))
    }
  }
  return entries
}

const COLUMNS = `f.channel, ${FEED_COLUMNS.replaceAll(/\bseq\b/g, 'f.seq')}`

async function entriesAt(executor: Executor, places: readonly Place[]): Promise<readonly Found[]> {
  if (places.length === 0) return []
  return executor.all<Found>(
    `SELECT${executor.dialect.inOrder} ${COLUMNS}
      FROM ${executor.dialect.keys('k', { channel: 'integer', seq: 'integer' })}
      CROSS JOIN feed_entries f ON f.channel = k.channel AND f.seq = k.seq`,
    [JSON.stringify(places.map(({ channel, seq }) => [channel, seq]))],
  )
}

/** The present titles of Events and Things, for entries without a title. */
async function titlesOf(
  executor: Executor,
  jobs: readonly Job[],
  entries: ReadonlyMap<string, FeedEntry>,
): Promise<ReadonlyMap<string, string>> {
  const untitled = new Map<string, { readonly channel: number; readonly entry: FeedEntry }>()
  for (const job of jobs) {
    const entry = entries.get(keyOf(job))
    if (entry === undefined || entry.model === 'message' || hasTitle(entry)) continue
    untitled.set(keyOf(job), { channel: job.channel, entry })
  }
  const titles = new Map<string, string>()
  for (const model of ['thing', 'event'] as const) {
    const wanted = [...untitled].filter(([, { entry }]) => entry.model === model)
    if (wanted.length === 0) continue
    const rows = await executor.all<(ThingRow | EventRow) & { readonly channel: number }>(
      `SELECT${executor.dialect.inOrder} e.channel, e.id, e.state, e.seq, e.document
        FROM ${executor.dialect.keys('k', { channel: 'integer', id: 'text' })}
        CROSS JOIN ${model}s e ON e.channel = k.channel AND e.id = k.id`,
      [JSON.stringify(wanted.map(([, { channel, entry }]) => [channel, entry.entityId]))],
    )
    const byEntity = new Map(rows.map((row) => [`${row.channel} ${row.id}`, titleIn(row)]))
    for (const [key, { channel, entry }] of wanted) {
      const title = byEntity.get(`${channel} ${entry.entityId}`)
      if (title !== undefined) titles.set(key, title)
    }
  }
  return titles
}

function hasTitle({ payload }: FeedEntry): boolean {
  if (!payload.includes('"title"')) return false
  const { title } = JSON.parse(payload) as { readonly title?: unknown }
  return typeof title === 'string' && title !== ''
}

/** W6: a provider reads the payload again, as an object. */
function isReadable({ payload }: FeedEntry): boolean {
  try {
    const content: unknown = JSON.parse(payload)
    return typeof content === 'object' && content !== null && !Array.isArray(content)
  } catch {
    return false
  }
}

/** Returns the title of an entity. A push goes without one when the entity cannot be read. (W6) */
function titleIn(row: ThingRow | EventRow): string | undefined {
  let title: unknown
  try {
    const { fields } = isThing(row) ? thingFrom(row) : eventFrom(row)
    title = fields.values['title']
  } catch {
    return undefined
  }
  return typeof title === 'string' && title !== '' ? title : undefined
}

const isThing = (row: ThingRow | EventRow): row is ThingRow =>
  ['active', 'archived', 'deleted'].includes(row.state)
