// Loads the entry in the feed and the present route of each push job.
//
// Invariants:
//   W6. A job whose entry cannot be read is set aside: the others of its claim go on.

import type { FeedEntry } from '#domain/feed'
import type { ChannelId } from '#domain/identity'
import type { Push, PushClaim } from '#domain/push'
import { entrySeverity } from '#domain/push/entry-text'
import { isFiltered, presentFieldsOf, pushableOf } from '#domain/push/preferences'
import type { PreferenceReader, Preferences, Pushable } from '#domain/push/preferences'
import type { ProviderName, Platform } from '#domain/push/providers'
import { jsonOf, recordOf } from '#domain/record'
import type { Fields, Severity } from '#domain/submission'
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
  /** Jobs that the preferences of their devices leave out. */
  readonly filtered: readonly number[]
}

interface Loading {
  readonly jobs: readonly Job[]
  readonly preferences: PreferenceReader
}

/** Where the pushes of a subscription go: read once, however many of them a claim has. */
interface Target {
  readonly channelId: ChannelId
  readonly platform: Platform
  readonly token: string
  readonly revision: number
  /** Undefined for none. */
  readonly preferences: Preferences | undefined
}

type Subscription = Pick<Job, 'channel' | 'device'>
/** `notify`: JSON of the preferences; null for none. */
type TargetRow = Omit<Target, 'preferences'> & Subscription & { readonly notify: string | null }
/** By job. */
type Targets = ReadonlyMap<number, Target>

/** Loads pushes in the order of the jobs. Pushes of one entry share it. */
export async function loadPushes(
  executor: Executor,
  { provider, nowMs }: Pick<PushClaim, 'provider' | 'nowMs'>,
  { jobs, preferences }: Loading,
): Promise<Loaded> {
  const targets = await targetsOf(executor, provider, { jobs, preferences })
  const reachable = jobs.filter(({ id }) => targets.has(id))
  const entries = await entriesOf(executor, reachable, targets)
  const damaged = new Set([...entries].flatMap(([key, { content }]) => (content ? [] : [key])))
  const readable = reachable.filter((job) => !damaged.has(keyOf(job)))
  const unreadable = reachable.flatMap((job) => (damaged.has(keyOf(job)) ? [job.id] : [])) // W6
  const present = await presentOf(executor, readable, { entries, targets })
  const wishes = new Wishes(preferences, nowMs)
  const pushes: Push[] = []
  const outlived: number[] = []
  const filtered: number[] = []
  for (const job of readable) {
    const target = targets.get(job.id)
    const loaded = entries.get(keyOf(job))
    if (target === undefined || loaded === undefined) {
      outlived.push(job.id)
      continue
    }
    const { platform, token, revision } = target
    const fields = present.get(keyOf(job))
    const severity = entrySeverity(loaded.entry, loaded.content ?? {}, fields)
    const wish = target.preferences && wishes.of(target.preferences, loaded, { severity, fields })
    if (wish === 'none') {
      filtered.push(job.id)
      continue
    }
    const entityTitle = titleIn(fields)
    pushes.push({
      id: job.id,
      provider,
      route: { device: job.device, platform, token, revision },
      entry: loaded.entry,
      ...(entityTitle !== undefined && { entityTitle }),
      severity,
      // A new route begins without the failures of the old one.
      attempts: revision === job.routeRevision ? job.attempts : 0,
      expiresAt: job.expiresAt,
      queuedAt: job.queuedAt,
      isPassive: wish === 'passive',
    })
  }
  const unreachable = jobs.flatMap(({ id }) => (targets.has(id) ? [] : [id]))
  return { pushes, unreachable, outlived, unreadable, filtered }
}

const keyOf = ({ channel, seq }: Pick<Job, 'channel' | 'seq'>): string => `${channel} ${seq}`

/** The targets by job, for devices that are still subscribed to a channel that still exists. */
async function targetsOf(
  executor: Executor,
  provider: ProviderName,
  { jobs, preferences }: Loading,
): Promise<Targets> {
  const wanted = new Map(jobs.map((job) => [pairOf(job), [job.channel, job.device]]))
  const rows = await executor.all<TargetRow>(
    `SELECT${executor.dialect.inOrder} k.channel, k.device, c.channel_id AS channelId, d.platform,
        d.provider_token AS token, d.route_revision AS revision, s.notify
      FROM ${executor.dialect.keys('k', { channel: 'integer', device: 'integer' })}
      CROSS JOIN channels c ON c.id = k.channel AND c.is_deleted = 0
      CROSS JOIN subscriptions s ON s.channel = k.channel AND s.device = k.device
      CROSS JOIN devices d ON d.id = k.device AND d.channel_type = ?`,
    [JSON.stringify([...wanted.values()]), provider],
  )
  const byPair = new Map<string, Target>()
  for (const { notify, ...row } of rows) {
    const wish = notify === null ? undefined : preferences.read(notify)
    byPair.set(pairOf(row), { ...row, preferences: wish })
  }
  const targets = new Map<number, Target>()
  for (const job of jobs) {
    const target = byPair.get(pairOf(job))
    if (target !== undefined) targets.set(job.id, target)
  }
  return targets
}

const pairOf = ({ channel, device }: Subscription): string => `${channel} ${device}`

type Place = Pick<Job, 'channel' | 'seq'>
type FoundEntry = StoredEntry & Place

interface LoadedEntry {
  readonly entry: FeedEntry
  /** W6: undefined for a payload that is not an object: a provider reads it again, as one. */
  readonly content: Fields | undefined
}
type Entries = ReadonlyMap<string, LoadedEntry>

async function entriesOf(
  executor: Executor,
  jobs: readonly Job[],
  targets: Targets,
): Promise<Entries> {
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
  const entries = new Map<string, LoadedEntry>()
  for (const { channel, ...row } of rows) {
    const channelId = channelIds.get(channel)
    if (channelId === undefined) continue
    const content = recordOf(jsonOf(row.payload)) as Fields | undefined
    entries.set(keyOf({ channel, seq: row.seq }), { entry: entryFrom(channelId, row), content })
  }
  return entries
}

const COLUMNS = `f.channel, ${FEED_COLUMNS.replaceAll(/\bseq\b/g, 'f.seq')}`

async function entriesAt(
  executor: Executor,
  places: readonly Place[],
): Promise<readonly FoundEntry[]> {
  if (places.length === 0) return []
  return executor.all<FoundEntry>(
    `SELECT${executor.dialect.inOrder} ${COLUMNS}
      FROM ${executor.dialect.keys('k', { channel: 'integer', seq: 'integer' })}
      CROSS JOIN feed_entries f ON f.channel = k.channel AND f.seq = k.seq`,
    [JSON.stringify(places.map(({ channel, seq }) => [channel, seq]))],
  )
}

interface Found {
  readonly entries: Entries
  readonly targets: Targets
}

/**
 * The present fields of Events and Things, by the place of the entry: for entries without a title,
 * and for those of Events without a severity, or that preferences look at.
 */
async function presentOf(
  executor: Executor,
  jobs: readonly Job[],
  { entries, targets }: Found,
): Promise<ReadonlyMap<string, Fields>> {
  const wanted = new Map<string, { readonly channel: number; readonly entry: FeedEntry }>()
  for (const job of jobs) {
    const { entry, content } = entries.get(keyOf(job)) ?? {}
    if (entry === undefined || entry.model === 'message') continue
    const saysNone = content === undefined || !('severity' in content)
    const isWeighed = entry.model === 'event' && (saysNone || targets.get(job.id)?.preferences)
    if (isWeighed || titleIn(content) === undefined)
      wanted.set(keyOf(job), { channel: job.channel, entry })
  }
  const present = new Map<string, Fields>()
  for (const model of ['thing', 'event'] as const) {
    const places = [...wanted].filter(([, { entry }]) => entry.model === model)
    if (places.length === 0) continue
    const rows = await executor.all<(ThingRow | EventRow) & { readonly channel: number }>(
      `SELECT${executor.dialect.inOrder} e.channel, e.id, e.state, e.seq, e.document
        FROM ${executor.dialect.keys('k', { channel: 'integer', id: 'text' })}
        CROSS JOIN ${model}s e ON e.channel = k.channel AND e.id = k.id`,
      [JSON.stringify(places.map(([, { channel, entry }]) => [channel, entry.entityId]))],
    )
    const byEntity = new Map(rows.map((row) => [`${row.channel} ${row.id}`, fieldsIn(row)]))
    for (const [key, { channel, entry }] of places) {
      const fields = byEntity.get(`${channel} ${entry.entityId}`)
      if (fields !== undefined) present.set(key, fields)
    }
  }
  return present
}

type Wish = 'none' | 'passive' | 'loud'

/** How devices want entries: each entry and each pair is looked at once, however many devices. */
class Wishes {
  readonly #reader: PreferenceReader
  readonly #nowMs: number
  readonly #ofEntry = new Map<
    FeedEntry,
    { readonly pushable: Pushable; readonly by: Map<Preferences, Wish> }
  >()

  constructor(reader: PreferenceReader, nowMs: number) {
    this.#reader = reader
    this.#nowMs = nowMs
  }

  of(
    preferences: Preferences,
    { entry, content }: LoadedEntry,
    { severity, fields }: { readonly severity: Severity; readonly fields: Fields | undefined },
  ): Wish {
    const ofEntry = this.#ofEntry.get(entry) ?? {
      pushable: pushableOf(entry, content ?? {}, fields),
      by: new Map<Preferences, Wish>(),
    }
    const known = ofEntry.by.get(preferences)
    if (known !== undefined) return known
    const wish = this.#wishFor(preferences, ofEntry.pushable, severity)
    ofEntry.by.set(preferences, wish)
    this.#ofEntry.set(entry, ofEntry)
    return wish
  }

  /** The end of a critical Event reaches who had its beginning, but breaks no quiet hours. */
  #wishFor(preferences: Preferences, pushable: Pushable, severity: Severity): Wish {
    if (isFiltered(preferences, pushable)) return 'none'
    return this.#reader.isQuiet(preferences, severity, this.#nowMs) ? 'passive' : 'loud'
  }
}

/** The fields of an entity. A push goes without them when the entity cannot be read. (W6) */
function fieldsIn(row: ThingRow | EventRow): Fields | undefined {
  try {
    if (isThing(row)) return thingFrom(row).fields.values
    return presentFieldsOf(eventFrom(row))
  } catch {
    return undefined
  }
}

function titleIn(fields: Fields | undefined): string | undefined {
  const title = fields?.['title']
  return typeof title === 'string' && title !== '' ? title : undefined
}

const isThing = (row: ThingRow | EventRow): row is ThingRow =>
  ['active', 'archived', 'deleted'].includes(row.state)
