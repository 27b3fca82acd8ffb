// The seams between the stages. Stages meet only here and in src/server.ts.
//
// Every method answers with a value; it rejects only for a defect or for a store that does not answer.
// Everything that crosses a port is plain data: the same ports work over a MessagePort.

import type { ChannelCredentials, ChannelInfo, NewChannel } from './channel.ts'
import type { ChannelType, Device, Platform } from './device.ts'
import type { Event, Thing } from './entity.ts'
import type { Fault } from './fault.ts'
import type {
  Acknowledgement,
  Announcement,
  CatchUpPage,
  CatchUpRequest,
  FeedEntry,
  Position,
} from './feed.ts'
import type { ChannelId, DeviceId, OperationId } from './identity.ts'
import type {
  Appended,
  Batch,
  LanePlace,
  Lease,
  LogEntry,
  LogPosition,
  StoredBatch,
} from './lane.ts'
import type { Claim, ClaimOutcome, Operation } from './operation.ts'
import type { Model, Submission } from './submission.ts'

/** Milliseconds since the epoch. The only clock anybody may ask. */
export type NowMs = () => number

// ---- stream ----------------------------------------------------------------------------------------

/** Where ingress hands a submission that passed every check. */
export interface SubmissionSink {
  /**
   * Resolves to `accepted` once the submission is durable (W1), or to a fault (submission_not_accepted,
   * server_busy, with retryAfterMs) when it is nowhere. Never rejects.
   */
  accept(submission: Submission): Promise<Answer<{ readonly kind: 'accepted' }>>
  /** The record of an operation that was accepted here and is not known to be applied yet. */
  find(opId: OperationId): Operation | undefined
}

/** The writing side of the log. */
export interface LogWriter {
  /** Resolves after the batch is durable (W1), or was refused and is nowhere. Never rejects. */
  append(batch: Batch): Promise<Appended>
}

/** The reading side of the log, for the owner of lanes. */
export interface LogReader {
  /** Names this log; a database remembers which one it follows. (W5) */
  identity(): Promise<string>
  /** First position still kept and last position of a lane; 0 and 0 when it never had any. */
  bounds(lane: number): Promise<{ readonly first: LogPosition; readonly last: LogPosition }>
  /** Entries of a lane behind a position in order, at most `maxCount` submissions but at least one entry. */
  read(lane: number, after: LogPosition, maxCount: number): Promise<readonly LogEntry[]>
  /** Calls `wake` whenever a lane may have something new. Gives the way to stop. */
  watch(wake: (lane: number) => void): () => void
  /** Forgets entries up to `through` that were appended before `olderThanMs`. Small bounded step. (W4) */
  purge(
    lane: number,
    through: LogPosition,
    olderThanMs: number,
  ): Promise<{ readonly purged: number }>
}

/** The table in which the embedded log keeps its batches. */
export interface LogTable {
  /** Appends in one durable transaction (fsync before it answers); gives their positions in order. */
  append(batches: readonly Batch[], nowMs: number): Promise<readonly LogPosition[]>
  read(lane: number, after: LogPosition, maxCount: number): Promise<readonly StoredBatch[]>
  bounds(lane: number): Promise<{ readonly first: LogPosition; readonly last: LogPosition }>
  /** Bytes of payload held, over all lanes. */
  bytes(): Promise<number>
  /** Deletes what is up to `through` and was appended before `olderThanMs`, oldest first. */
  purge(
    lane: number,
    through: LogPosition,
    olderThanMs: number,
    maxRows: number,
  ): Promise<{ readonly rows: number; readonly bytes: number }>
  /** A random name, made when the database was. */
  identity(): Promise<string>
}

/** The right to apply lanes. */
export interface LaneLeases {
  /**
   * The leases this process holds now, from the first one on and after each change. When `changed`
   * gives a promise, a lane that is missing from the list goes to another process only after it, within
   * a bound: so a turn that is under way may end. Gives the way to leave, which releases everything.
   */
  watch(changed: (leases: readonly Lease[]) => void | Promise<void>): Promise<() => Promise<void>>
}

// ---- bus -------------------------------------------------------------------------------------------

/** What every process should know soon; losing one costs time, never truth. */
export type Notice =
  | { readonly kind: 'applied'; readonly lane: number; readonly position: LogPosition }
  | { readonly kind: 'credentials-changed'; readonly channelId: ChannelId }
  | { readonly kind: 'channel-deleted'; readonly channelId: ChannelId }
  | { readonly kind: 'subscribed'; readonly channelId: ChannelId; readonly deviceId: DeviceId }
  | { readonly kind: 'unsubscribed'; readonly channelId: ChannelId; readonly deviceId: DeviceId }
  /** A device has one session per carrier: older ones on other nodes end. */
  | {
      readonly kind: 'session-opened'
      readonly deviceId: DeviceId
      readonly carrier: string
      readonly sessionId: string
      readonly openedAt: number
    }

/** Hints between processes. The feed is the truth, the bus a hint with payload. */
export interface Bus {
  /** Tells whoever listens to the channels, in per-channel order. */
  announce(announcements: readonly Announcement[]): void
  /** Interest in one channel. Gives the way to end it. */
  listen(channelId: ChannelId, listener: (announcement: Announcement) => void): () => void
  notify(notice: Notice): void
  onNotice(listener: (notice: Notice) => void): () => void
}

// ---- store: the side of the actors -----------------------------------------------------------------

/** What a turn must see before it decides. */
export interface TurnNeeds {
  readonly channels: readonly ChannelId[]
  readonly things: readonly EntityKey[]
  readonly events: readonly EntityKey[]
  /** Client-chosen op_ids that may have been applied before. */
  readonly operations: readonly OperationId[]
}

export interface EntityKey {
  readonly channelId: ChannelId
  readonly id: string
}

/** A channel as its actor keeps it. */
export interface ChannelHead {
  readonly channelId: ChannelId
  /** The store's own short name of the channel. */
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
  /** Which of the asked operations exist already. */
  readonly operations: readonly OperationId[]
}

/** Everything one turn writes; one transaction. (W2) */
export interface TurnWrites {
  readonly lanes: readonly LaneMove[]
  readonly channels: readonly ChannelHead[]
  readonly things: readonly (Thing & { readonly ref: number })[]
  readonly events: readonly (Event & { readonly ref: number })[]
  readonly feed: readonly (FeedEntry & { readonly ref: number })[]
  readonly operations: readonly Operation[]
  readonly deadLetters: readonly DeadLetter[]
}

/** The move of a lane's position by its owner; fails when epoch or position is another. */
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
  readonly at: number
}

export type Committed =
  | { readonly kind: 'committed' }
  /** Another owner or an unknown earlier commit moved these lanes; nothing was written. */
  | { readonly kind: 'fenced'; readonly lanes: readonly number[] }

export interface TurnStore {
  /** Takes a lane over: raises its epoch to the lease's and gives the position to read from. */
  takeLane(lease: Lease): Promise<LanePlace | 'fenced'>
  /** The greatest epoch of any lane; 0 when none was ever taken. */
  lastEpoch(): Promise<number>
  /** One grouped read for a whole turn. */
  load(needs: TurnNeeds): Promise<TurnState>
  commit(writes: TurnWrites): Promise<Committed>
  /** Binds the database to a log and to a number of lanes, or throws LogMismatch. (W5) */
  bindLog(identity: string, lanes: number): Promise<void>
}

/** Removes what has outlived its retention, one small step a call. Gives how much a step removed. */
export interface RetentionStore {
  step(before: RetentionLimits, maxRows: number): Promise<number>
}

/** Unix milliseconds; what is older goes. */
export interface RetentionLimits {
  readonly operations: number
  readonly messagesAndEvents: number
  readonly thingUpdates: number
  /** Deleted Things and closed Events, by the accepted_at of their end. */
  readonly tombstones: number
}

// ---- store: the side of ingress and sessions --------------------------------------------------------

export interface ChannelStore {
  credentials(channelId: ChannelId): Promise<ChannelCredentials | undefined>
  create(channel: NewChannel): Promise<void>
  rename(channelId: ChannelId, channelName: string): Promise<boolean>
  /** Replaces the hash only while `previousHash` is in force, so that a lost race changes nothing. */
  changePassword(channelId: ChannelId, previousHash: string, passwordHash: string): Promise<boolean>
  delete(channelId: ChannelId): Promise<boolean>
  info(channelId: ChannelId): Promise<ChannelInfo | undefined>
  exists(channelId: ChannelId): Promise<boolean>
}

export interface DeviceStore {
  find(deviceId: DeviceId): Promise<Device | undefined>
  create(deviceId: DeviceId, platform: Platform, nowMs: number): Promise<void>
  remove(deviceId: DeviceId): Promise<void>
  setRoute(
    deviceId: DeviceId,
    channelType: ChannelType,
    providerToken: string | undefined,
  ): Promise<boolean>
  /** Every device of the platform with this token falls back to private. */
  retireToken(platform: Platform, providerToken: string): Promise<void>
}

export type Subscribed =
  | { readonly kind: 'subscribed'; readonly channelName: string; readonly isNew: boolean }
  | { readonly kind: 'full' }
  | { readonly kind: 'no-channel' }
  | { readonly kind: 'no-device' }

export interface SubscriptionStore {
  /** Exact at SUBSCRIBERS_MAX under any concurrency. Subscribing again changes nothing. */
  subscribe(deviceId: DeviceId, channelId: ChannelId, nowMs: number): Promise<Subscribed>
  unsubscribe(deviceId: DeviceId, channelId: ChannelId): Promise<boolean>
  /** Unsubscribes from every channel that is not listed; gives those it left. */
  keepOnly(deviceId: DeviceId, channelIds: readonly ChannelId[]): Promise<readonly ChannelId[]>
  isSubscribed(deviceId: DeviceId, channelId: ChannelId): Promise<boolean>
  /** Where the device stands in each of its channels, ordered by channel_id. */
  positions(deviceId: DeviceId): Promise<readonly Position[]>
  position(deviceId: DeviceId, channelId: ChannelId): Promise<Position | undefined>
  /** Moves positions forward, never back. One multi-row write. */
  acknowledge(acknowledgements: readonly Acknowledgement[]): Promise<void>
  /**
   * Acknowledges single entries in any order. The position moves once everything before is
   * acknowledged; what is ahead is kept, at most ACKED_AHEAD_MAX a channel. Gives how many were new.
   */
  acknowledgeEntries(
    deviceId: DeviceId,
    entries: readonly { readonly channelId: ChannelId; readonly seq: number }[],
  ): Promise<number>
}

export const ACKED_AHEAD_MAX = 1_000

export interface Page<Item> {
  readonly items: readonly Item[]
  /** Where the next page begins; absent on the last one. */
  readonly next?: number
}

export interface EntityQuery {
  readonly channelId: ChannelId
  readonly state?: string
  readonly thingId?: string
  /** Entities changed before this seq; absent: from the newest. */
  readonly before?: number
  readonly limit: number
}

export interface HistoryQuery {
  readonly channelId: ChannelId
  readonly afterSeq?: number
  readonly sinceMs?: number
  readonly model?: Model
  readonly entityId?: string
  readonly limit: number
}

export interface ReadStore {
  thing(channelId: ChannelId, id: string): Promise<Thing | undefined>
  event(channelId: ChannelId, id: string): Promise<Event | undefined>
  /** Newest change first. */
  things(query: EntityQuery): Promise<Page<Thing>>
  events(query: EntityQuery): Promise<Page<Event>>
  /** In seq order. A page may be short of `limit` and still have a next one. */
  history(query: HistoryQuery): Promise<Page<FeedEntry>>
  catchUp(request: CatchUpRequest): Promise<CatchUpPage>
  /** What a device has not acknowledged over all its channels, single acknowledgements left out. */
  pull(
    deviceId: DeviceId,
    limit: number,
  ): Promise<{ readonly items: readonly FeedEntry[]; readonly hasMore: boolean }>
}

export interface OperationStore {
  find(opId: OperationId): Promise<Operation | undefined>
  /** Atomic over all nodes. A fresh claim is durable when this answers. (decisions.md 6) */
  claim(claim: Claim, expiredBefore: number): Promise<ClaimOutcome>
}

/** How deep a dependency is and how well it is. */
export interface Readiness {
  readonly name: string
  readonly ready: boolean
  readonly detail: string
}

/** Something that can be asked whether it is fit for work. */
export interface Probe {
  readiness(): Promise<Readiness>
}

/** A refusal or an answer. */
export type Answer<Value> = Value | Fault
