// The ports of the store. One method is one transaction; only plain data crosses.

/**
 * The name of the error with which every method rejects at once, having done nothing, when too many
 * jobs wait for the database. Errors cross threads by their name.
 */
export const STORE_BUSY = 'StoreBusy'

/**
 * The name of the error with which a method rejects when its own data is at fault: a repeat would
 * fail again, however well the database works.
 */
export const STORE_DEFECT = 'StoreDefect'

/**
 * The names of the errors with which a method rejects when the database refuses or does not answer.
 */
export const STORE_FAILURES: readonly string[] = ['StoreError', 'NoAnswer', STORE_DEFECT]

/** True when the store cannot work now, for instance with a full disk: a repeat may succeed. */
export const isOutage = (error: unknown): boolean =>
  error instanceof Error &&
  error.name !== STORE_DEFECT &&
  (error.name === STORE_BUSY || STORE_FAILURES.includes(error.name))

import type { NamedDevice, Subscriber } from './administration.ts'
import type { ChannelCredentials, ChannelInfo, NewChannel, PasswordChange } from './channel.ts'
import type { ChannelType, Device } from './device.ts'
import type { PreferenceStore, Preferences } from '#domain/push/preferences'
import type { ReceiptStore } from '#domain/push/receipts'
import type { HistoryQuery, OrderedReads } from '#domain/history/ordered-reads'
import type { Platform } from '#domain/push/providers'
import type { Event, Thing } from './entity.ts'
import type { Acknowledgement, CatchUpPage, CatchUpRequest } from './feed.ts'
import type { FeedEntry, LateReading, Position, Pulled } from './feed.ts'
import type { ChannelId, DeviceId, OperationId } from './identity.ts'
import type { LanePlace, Lease, LogPosition, LogState } from './lane.ts'
import type { Operation } from './operation.ts'
import type { DueInChannel, PutOff, RuleWrites, StoredRule, WatchOf } from './rules/stored.ts'
import type { ScheduledRead, ScheduledState, ScheduledWrites } from './rules/scheduled.ts'
import type { ScanStore } from './things/scan.ts'

/** The reads of a turn before it decides. */
export interface TurnReads {
  readonly channels: readonly ChannelId[]
  readonly things: readonly EntityKey[]
  readonly events: readonly EntityKey[]
  /** Things whose watches, with their Events, the turn may need. */
  readonly watched?: readonly EntityKey[]
  /** Messages that the turn schedules or cancels, by channel. */
  readonly scheduled?: readonly ScheduledRead[]
  /** op_ids that may have been used before. */
  readonly operations: readonly OperationId[]
}

export type EntityKey = { readonly channelId: ChannelId; readonly id: string }

/** The part of a channel that its actor keeps. */
export interface ChannelHead {
  readonly channelId: ChannelId
  /** The store's own number of the channel. */
  readonly ref: number
  readonly headSeq: number
  readonly things: number
  readonly openEvents: number
}

export interface TurnState {
  /** Channels that exist and are not deleted. */
  readonly channels: readonly ChannelHead[]
  readonly things: readonly (Thing & { readonly channelId: ChannelId })[]
  readonly events: readonly (Event & { readonly channelId: ChannelId })[]
  /** The rules of the channels that were asked for. */
  readonly rules: readonly (StoredRule & { readonly channelId: ChannelId })[]
  readonly watches: readonly (WatchOf & { readonly channelId: ChannelId })[]
  /** Absent when nothing was asked. */
  readonly scheduled?: readonly ScheduledState[]
  /** The first uses of the asked op_ids, as far as they have a record. */
  readonly operations: readonly OperationUse[]
}

/** An op_id and the submission that has its record. */
export type OperationUse = Pick<Operation, 'opId' | 'channelId' | 'model' | 'entityId'>

/** Everything one turn writes; one transaction. (W2) */
export interface TurnWrites {
  readonly lanes: readonly LaneMove[]
  readonly channels: readonly ChannelWrites[]
  readonly operations: readonly Operation[]
  /**
   * Further operations, by the batch of the log that had them: each ended at once (endedAtOnce),
   * and no client chose its op_id.
   */
  readonly batches?: readonly (readonly Operation[])[]
  readonly deadLetters: readonly DeadLetter[]
  /** What was due and is due later. */
  readonly putOff?: PutOff
}

/** The changes of a turn in one channel. */
export interface ChannelWrites {
  /** The head after the turn; unchanged when there are no entries. */
  readonly head: ChannelHead
  readonly things: readonly Thing[]
  readonly events: readonly Event[]
  /** In seq order, without holes. */
  readonly entries: readonly FeedEntry[]
  readonly late?: readonly LateReading[]
  readonly rules?: RuleWrites
  readonly scheduled?: ScheduledWrites
}

/** The move of a lane's place by its owner; fails when epoch or place is another. */
export interface LaneMove extends Lease {
  readonly from: LanePlace
  readonly to: LanePlace
}

/** A submission that could not be applied because of a defect. (W6) */
export interface DeadLetter {
  readonly lane: number
  readonly position: LogPosition
  /** Its place in the batch. */
  readonly index: number
  readonly payload: string
  readonly error: string
  /** The time of acceptance or, for an unreadable one, the time at which it was met. */
  readonly at: number
}

export type Committed =
  /** `queued`: the operations that wait for a provider; absent without any. */
  | { readonly kind: 'committed'; readonly queued?: readonly OperationId[] }
  /**
   * Another owner, or an earlier commit of unknown outcome, moved these lanes; nothing was written.
   */
  | { readonly kind: 'fenced'; readonly lanes: readonly number[] }

export interface DueLimits {
  readonly max?: number
  readonly except?: readonly ChannelId[]
}

export interface TurnStore {
  /** Takes a lane over: raises its epoch to the lease's and gives the position to read from. */
  takeLane(lease: Lease): Promise<LanePlace | 'fenced'>
  /** The greatest epoch of any lane; 0 when none was ever taken. */
  lastEpoch(): Promise<number>
  /** One grouped read for a whole turn. */
  load(reads: TurnReads): Promise<TurnState>
  commit(writes: TurnWrites): Promise<Committed>
  /**
   * Reads the Messages and deadlines of a lane that are due by a time, except those of some
   * channels; `max` rows at most, DUE_MAX when absent. Called when every earlier turn is
   * committed: the same log gives the same answer. (R7)
   */
  due(lane: number, upTo: number, limits?: DueLimits): Promise<readonly DueInChannel[]>
  /** The time at which something is due next in a lane; undefined when nothing waits. */
  nextDue(lane: number): Promise<number | undefined>
  /** The deadlines of a lane, counted up to WAITING_MAX. */
  deadlines(lane: number): Promise<number>
  /** Resolves once every commit answered so far is on the disk. (W4) */
  untilDurable(): Promise<void>
  /**
   * Binds the database to a log and its number of lanes. Throws LogMismatch for another log,
   * another number of lanes, or a log that ends before its applied position. (W5)
   */
  bindLog(log: LogState): Promise<void>
}

export interface ChannelStore {
  credentials(channelId: ChannelId): Promise<ChannelCredentials | undefined>
  create(channel: NewChannel): Promise<void>
  rename(channelId: ChannelId, channelName: string): Promise<boolean>
  /**
   * Replaces the hash only while `previousHash` is in force, so that a lost race changes nothing.
   */
  changePassword(channelId: ChannelId, change: PasswordChange): Promise<boolean>
  /** The salt that all passwords of the gateway share; the first one that is given becomes it. */
  passwordSalt(first: string): Promise<string>
  delete(channelId: ChannelId, nowMs: number): Promise<boolean>
  info(channelId: ChannelId): Promise<ChannelInfo | undefined>
  exists(channelId: ChannelId): Promise<boolean>
}

export interface DeviceStore {
  find(deviceId: DeviceId): Promise<Device | undefined>
  /**
   * The number of a session that begins: greater than those of all sessions that the device began
   * before, on whichever node. Undefined for an unknown device.
   */
  numberSession(deviceId: DeviceId): Promise<number | undefined>
  create(deviceId: DeviceId, platform: Platform, nowMs: number, label?: string): Promise<void>
  setLabel(deviceId: DeviceId, label: string): Promise<void>
  remove(deviceId: DeviceId): Promise<void>
  setRoute(
    deviceId: DeviceId,
    channelType: ChannelType,
    providerToken: string | undefined,
  ): Promise<boolean>
  /**
   * Notes that these devices have a session or a pull now. The store keeps the day, so that
   * retention can remove unused devices.
   */
  seen(deviceIds: readonly DeviceId[], nowMs: number): Promise<void>
  /** Every device of the platform with this token falls back to private. */
  retireToken(platform: Platform, providerToken: string): Promise<void>
}

export type Subscribed =
  | { readonly kind: 'subscribed'; readonly channelName: string; readonly isNew: boolean }
  | { readonly kind: 'full' | 'no-channel' | 'no-device' }

export interface SubscriptionStore extends PreferenceStore {
  /** SUBSCRIBERS_MAX holds under any concurrency. Again it changes given preferences alone. */
  subscribe(
    deviceId: DeviceId,
    channelId: ChannelId,
    nowMs: number,
    notify?: Preferences,
  ): Promise<Subscribed>
  unsubscribe(deviceId: DeviceId, channelId: ChannelId, nowMs: number): Promise<boolean>
  /** Unsubscribes from every channel that is not listed; gives those it left. */
  keepOnly(
    deviceId: DeviceId,
    channelIds: readonly ChannelId[],
    nowMs: number,
  ): Promise<readonly ChannelId[]>
  /** The device, when it is subscribed. */
  subscribed(deviceId: DeviceId, channelId: ChannelId): Promise<NamedDevice | undefined>
  /** The devices of a channel, at most SUBSCRIBERS_MAX, the one that subscribed first first. */
  subscribers(channelId: ChannelId): Promise<readonly Subscriber[]>
  /** The device's position in each of its channels, ordered by channel_id. */
  positions(deviceId: DeviceId): Promise<readonly Position[]>
  position(deviceId: DeviceId, channelId: ChannelId): Promise<Position | undefined>
  /** Moves positions forward, never back. One multi-row write. */
  acknowledge(acknowledgements: readonly Acknowledgement[]): Promise<void>
  /**
   * Acknowledges single entries in any order. The position moves once everything before is
   * acknowledged; acknowledgements ahead of it are kept, at most ACKED_AHEAD_MAX a channel. Gives
   * the number of new ones.
   */
  acknowledgeEntries(
    deviceId: DeviceId,
    entries: readonly { readonly channelId: ChannelId; readonly seq: number }[],
  ): Promise<number>
}

export const ACKED_AHEAD_MAX = 1_000

/** Bytes of content at which a page of any list ends; one item always fits. */
export const PAGE_BYTES_MAX = 2 ** 20

export interface Page<Item> {
  readonly items: readonly Item[]
  /** The cursor of the next page; absent on the last one. */
  readonly next?: number
}

/** A page of a channel's feed. */
export interface HistoryPage extends Page<FeedEntry> {
  /** The newest seq of the channel, up to which a page without `next` has looked; 0 for none. */
  readonly headSeq: number
}

export interface EntityQuery {
  readonly channelId: ChannelId
  readonly state?: string
  readonly thingId?: string
  /** Only Events that are acknowledged, or all others. */
  readonly isAcknowledged?: boolean
  /** Only Things whose id begins with it, or Events of those. */
  readonly thingPrefix?: string
  /** Only entities changed before this seq; absent to begin with the newest. */
  readonly before?: number
  readonly limit: number
}

/** Pages end at PAGE_BYTES_MAX: short of its `limit`, one may still have a next one. */
export interface ReadStore extends ReceiptStore, ScanStore, OrderedReads {
  thing(channelId: ChannelId, id: string): Promise<Thing | undefined>
  event(channelId: ChannelId, id: string): Promise<Event | undefined>
  /** Newest change first. */
  things(query: EntityQuery): Promise<Page<Thing>>
  events(query: EntityQuery): Promise<Page<Event>>
  /** In seq order. */
  history(query: HistoryQuery): Promise<HistoryPage>
  /**
   * A page of each of these channels, in one snapshot. Together they have so many bytes of content,
   * PAGE_BYTES_MAX when absent; one entry always fits. When that ends before the last channel there
   * are pages of the first ones only, of one channel at least.
   */
  catchUp(requests: readonly CatchUpRequest[], bytes?: number): Promise<readonly CatchUpPage[]>
  /** What a device has not acknowledged, over all its channels, without what it has singly. */
  pull(deviceId: DeviceId, limit: number): Promise<Pulled>
}
