// The ports between the stages. Stages meet only here and in src/runtime.
//
// Every method answers with a value; it rejects only after a defect or when the store does not
// answer. Only plain data crosses a port, so the same ports work over a MessagePort.

import type { Fault } from './fault.ts'
import type { Announcement } from './feed.ts'
import type { ChannelId, DeviceId, DeviceKey, OperationId } from './identity.ts'
import type {
  Appended,
  Batch,
  Lease,
  LogBounds,
  LogEntry,
  LogPosition,
  StoredBatch,
} from './lane.ts'
import type { Operation } from './operation.ts'
import type { Submission } from './submission.ts'

/** Milliseconds since the epoch. */
export type NowMs = () => number

/** Timers, for code that only has to wait. */
export interface Timers {
  /** Calls back once after a delay. Gives a function that cancels it. */
  readonly after: (delayMs: number, callback: () => void) => () => void
}

// ---- stream -------------------------------------------------------------------------------------

/** Takes submissions that passed every check. */
export interface SubmissionSink {
  /**
   * Resolves to `accepted` once the submission is durable (W1), to the fault
   * submission_not_accepted with retryAfterMs when the log does not have it, or to
   * submission_outcome_unknown when the log does not answer in time. Never rejects.
   */
  accept(submission: Submission): Promise<Answer<{ readonly kind: 'accepted' }>>
  /** The record of an operation that was accepted here and is not known to be applied yet. */
  find(opId: OperationId): Pending | undefined
}

/** An accepted operation. The operation of a repeat may be applied already, by its first use. */
export type Pending = Operation & { readonly isRepeat?: true }

/** The writing side of the log. */
export interface LogWriter {
  /**
   * Resolves once the batch is durable (W1), once the log has refused it, or once nobody can tell
   * which. Never rejects.
   */
  append(batch: Batch): Promise<Appended>
}

/** The reading side of the log, for the owner of lanes. */
export interface LogReader {
  /** The log's name; a database remembers which log it follows. (W5) */
  identity(): Promise<string>
  bounds(lane: number): Promise<LogBounds>
  /**
   * Entries of a lane behind a position in order, at most `maxCount` submissions but at least one
   * entry.
   */
  read(lane: number, after: LogPosition, maxCount: number): Promise<readonly LogEntry[]>
  /** Calls `wake` whenever a lane may have something new. Gives a function that stops it. */
  watch(wake: (lane: number) => void): () => void
  /**
   * Removes entries before `through` that were appended before `olderThanMs`, in a small bounded
   * step; the entry at `through` stays. (W4)
   */
  purge(
    lane: number,
    through: LogPosition,
    olderThanMs: number,
  ): Promise<{ readonly purged: number }>
}

/** The embedded log, for its reader in another thread. */
export interface LogSource extends Pick<LogReader, 'identity' | 'bounds' | 'purge'> {
  /**
   * Makes this process the only one whose appends the log keeps, under an epoch greater than
   * `above` and any earlier one; gives that epoch. Until then the log refuses appends. (W2)
   */
  takeOver(above: number): Promise<number>
  read(lane: number, after: LogPosition, maxCount: number): Promise<readonly StoredBatch[]>
}

/** The time and the epoch of an append to the embedded log. */
export interface Appending {
  readonly nowMs: number
  /** From takeOver. */
  readonly epoch: number
}

/** The table in which the embedded log keeps its batches. */
export interface LogTable {
  /** Raises the log's epoch above this one; gives it. Appends of earlier epochs are fenced. */
  takeOver(above: number): Promise<number>
  /**
   * Appends in one durable transaction (fsync before it answers); gives their positions in order.
   * `fenced`: the log has another epoch and kept nothing. (W2)
   */
  append(
    batches: readonly Batch[],
    appending: Appending,
  ): Promise<readonly LogPosition[] | 'fenced'>
  read(lane: number, after: LogPosition, maxCount: number): Promise<readonly StoredBatch[]>
  bounds(lane: number): Promise<LogBounds>
  /** Bytes of payload held, over all lanes. */
  bytes(): Promise<number>
  /** Deletes batches up to `through` that were appended before `olderThanMs`, oldest first. */
  purge(
    lane: number,
    through: LogPosition,
    olderThanMs: number,
    maxRows: number,
  ): Promise<{ readonly rows: number; readonly bytes: number }>
  /** A random name, made together with the database. */
  identity(): Promise<string>
}

/** The right to apply lanes. */
export interface LaneLeases {
  /**
   * The leases this process holds now, from the first one on and after each change. When `changed`
   * gives a promise, a lane that is missing from the list goes to another process only after it,
   * within a bound: so that a running turn can end. Gives a function that releases everything.
   */
  watch(changed: (leases: readonly Lease[]) => void | Promise<void>): Promise<() => Promise<void>>
  /** The database refused a lease: it knows a later epoch of the lane. */
  fenced(lease: Lease): void
}

/** What the nodes of a cluster agree on in the database: a row a lane, and a row a holder. */
export interface LeaseTable {
  /** Adds or renews the row of a holder, by the database's clock. It names one run of a process. */
  renew(session: string): Promise<void>
  /** Adds the rows of lanes that are not there yet. */
  view(): Promise<LeaseView>
  /** Takes lanes, each under its next epoch. True when it took any. */
  take(session: string, taking: LeaseTaking): Promise<boolean>
  /** Releases those of these lanes that the holder owns. */
  release(session: string, lanes: readonly number[]): Promise<void>
  /** Removes the row of a holder: nobody owns its lanes any more. */
  leave(session: string): Promise<void>
}

export interface LeaseTaking {
  /** Taken are those that no holder owns and that no transaction has locked. */
  readonly lanes: readonly number[]
  /** Removed before are those of these holders that have not renewed their row for `deadMs`. */
  readonly dead: readonly string[]
  readonly deadMs: number
}

export interface LeaseView {
  readonly holders: readonly LeaseHolder[]
  /** One a lane, in their order. */
  readonly rows: readonly LeaseRow[]
}

export interface LeaseHolder {
  readonly session: string
  /** Milliseconds since the last renewal, by the database's clock. */
  readonly ageMs: number
}

export interface LeaseRow extends Lease {
  /** The session of its owner; it counts as long as this is a holder. */
  readonly owner: string
}

// ---- sessions -----------------------------------------------------------------------------------

/** The credentials with which a device begins a session. All of them are secret. */
export interface SessionCredentials {
  readonly deviceKey: DeviceKey
  readonly gatewayToken: string | undefined
}

/** The address of a device, and its Authorization header; '' without one. */
interface SessionPeer {
  readonly address: string
  readonly authorization: string
}

/**
 * Returns the device that may begin a session, or the refusal. The store need not know the device.
 */
export type SessionAdmission = (
  credentials: SessionCredentials,
  peer: SessionPeer,
) => Answer<DeviceId>

// ---- bus ----------------------------------------------------------------------------------------

/** The reach of a channel's rules: how many of them one update may set off, at most. */
export type Reach = readonly [channelId: ChannelId, rules: number]

/** Sessions tell their devices the new name. */
export interface ChannelRenamed {
  readonly kind: 'channel-renamed'
  readonly channelId: ChannelId
  readonly channelName: string
}

/** A hint to every process. A lost one costs time, never truth. */
export type Notice =
  | {
      readonly kind: 'applied'
      readonly lane: number
      readonly position: LogPosition
      /** Channels with more than FEW_RULES, or with changed rules; absent without any. */
      readonly reaches?: readonly Reach[]
    }
  /** A lane has a new owner: the one before may have died between a commit and its announcement. */
  | { readonly kind: 'lane-taken'; readonly lane: number }
  /** A node shares in the lanes from now on, or has given some up. */
  | { readonly kind: 'leases-changed' }
  /** Another password, or the end of one key when it names that: other credentials stay good. */
  | {
      readonly kind: 'credentials-changed'
      readonly channelId: ChannelId
      readonly keyId?: string
    }
  | { readonly kind: 'channel-deleted'; readonly channelId: ChannelId }
  | ChannelRenamed
  | { readonly kind: 'mappings-changed'; readonly channelId: ChannelId }
  | { readonly kind: 'subscribed'; readonly channelId: ChannelId; readonly deviceId: DeviceId }
  | { readonly kind: 'unsubscribed'; readonly channelId: ChannelId; readonly deviceId: DeviceId }
  /** There are new jobs for dispatch. */
  | { readonly kind: 'pushes-queued' }
  /** The providers that a node makes pushes for, with commas. */
  | { readonly kind: 'providers'; readonly node: string; readonly providers: string }
  /**
   * A device has one session per carrier: those with a lesser number (DeviceStore.numberSession) on
   * other nodes end.
   */
  | {
      readonly kind: 'session-opened'
      readonly deviceId: DeviceId
      readonly carrier: string
      readonly number: number
    }

/** Hints between processes. The feed is the truth, the bus a hint with payload. */
export interface Bus {
  /** Tells the listeners of the channels, in the order of each channel. */
  announce(announcements: readonly Announcement[]): void
  /** Listens to one channel. Gives a function that stops it. */
  listen(channelId: ChannelId, listener: (announcement: Announcement) => void): () => void
  /**
   * Resolves once every earlier `listen` has reached the announcing processes, or cannot reach
   * them: then the listener receives every later announcement. Never rejects.
   */
  flush(): Promise<void>
  /**
   * Tells this process and all others; with `writer`, of the others only the one that appends to
   * the log under that name (LogEntry).
   */
  notify(notice: Notice, writer?: string): void
  onNotice(listener: (notice: Notice) => void): () => void
}

/** Readiness of one dependency. */
export interface Readiness {
  readonly name: string
  readonly ready: boolean
  readonly detail: string
  /** True for a dependency without which the gateway stays ready. */
  readonly isOptional?: boolean
}

/** Reports the readiness of a dependency. */
export interface Probe {
  readiness(): Promise<Readiness>
}

/** A refusal or an answer. */
export type Answer<Value> = Value | Fault
