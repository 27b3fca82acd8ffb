// A submission after every check: the acceptor appends it to the log and a channel's actor applies
// it.
//
// Invariants:
//   W3. It carries every time and id that a turn may need, so that a turn never asks a clock or a
//     random source. Acceptance decides them once; every replay finds them equal.
//
// Names inside `fields` and message content are the names on the wire: the gateway treats them as
// data.

import { parseEventId, parseMessageId, parseRuleId, parseThingId } from './identity.ts'
import type {
  ChannelId,
  EntityId,
  EventId,
  MessageId,
  OperationId,
  RuleId,
  ThingId,
} from './identity.ts'

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json }

/** Named values of one patch or one message, spelled as on the wire. Made without a prototype. */
export type Fields = { readonly [name: string]: Json }

export const SEVERITIES = ['critical', 'high', 'normal', 'low'] as const
export type Severity = (typeof SEVERITIES)[number]
/** The severity of a submission that names none, or none that is known. */
export const DEFAULT_SEVERITY: Severity = 'normal'
/** The title of a Message from a way in that needs none, whose sender gave none. */
export const TITLE_IN_DEFAULT = 'Notification'

export const MODELS = ['message', 'event', 'thing'] as const
export type Model = (typeof MODELS)[number]

/** The kinds of submissions. A rule and a cancellation have no entry in the feed. */
export const SUBMISSION_MODELS = [...MODELS, 'rule', 'cancellation'] as const
export type SubmissionModel = (typeof SUBMISSION_MODELS)[number]

const PARSE_ID = {
  message: parseMessageId,
  event: parseEventId,
  thing: parseThingId,
  rule: parseRuleId,
  cancellation: parseMessageId,
} as const

/** Returns a value that is an entity id of this kind of submission; undefined for any other. */
export const parseEntityId = (model: SubmissionModel, value: unknown): EntityId | undefined =>
  typeof value === 'string' ? PARSE_ID[model](value) : undefined

export const RULE_ACTIONS = ['put', 'delete'] as const
export type RuleAction = (typeof RULE_ACTIONS)[number]

/** The actions on an Event that have fields. */
export const EVENT_ACTIONS = ['create', 'update', 'close'] as const
export type EventAction = (typeof EVENT_ACTIONS)[number]
export const EVENT_SUBMISSION_ACTIONS = [...EVENT_ACTIONS, 'acknowledge'] as const

export const THING_ACTIONS = ['create', 'update', 'archive', 'delete'] as const
export type ThingAction = (typeof THING_ACTIONS)[number]

/**
 * The actions of entries. A device gets `sync` alone (src/domain/feed.ts); deadlines of an Event
 * make `remind` and `escalate`. No submission has these.
 */
export const ACTIONS = [
  'send',
  ...EVENT_SUBMISSION_ACTIONS,
  'archive',
  'delete',
  'remind',
  'escalate',
  'sync',
] as const
export type Action = (typeof ACTIONS)[number]

/** The part that every submission has. Times are Unix milliseconds. */
interface Accepted {
  readonly opId: OperationId
  readonly channelId: ChannelId
  /** The gateway's clock when the submission passed the checks. */
  readonly acceptedAt: number
  /**
   * Set when its sender named it, or sent it before: a turn looks for an earlier use of its op_id.
   */
  readonly mayRepeat?: true
}

/**
 * A Message: `fields` holds title, body, severity, occurred_at, ttl, url, images, tags, metadata,
 * ciphertext, thing_id as present. (Specification: Message fields)
 */
export interface MessageSubmission extends Accepted {
  readonly model: 'message'
  readonly action: 'send'
  readonly entityId: MessageId
  /** True when the client chose op_id: then the actor looks for an earlier use (decisions.md 6). */
  readonly claimed: boolean
  /**
   * Set when the submission goes to the log once more: the log may have its first use, which may
   * even be applied.
   */
  readonly isRepeat?: true
  readonly fields: Fields
  /** The ttl that the client sent, when `fields` holds another time: repeats are compared by it. */
  readonly uncappedTtl?: number
  /** Present when the Message enters the feed later. */
  readonly schedule?: Schedule
}

/** When a Message enters the feed. */
export interface Schedule {
  /** Unix milliseconds. */
  readonly deliverAt: number
  /** The delay that the client sent in place of a time: repeats are compared by it. */
  readonly delay?: string
}

/** Takes back a Message that waits for its time. */
export interface CancellationSubmission extends Accepted {
  readonly model: 'cancellation'
  readonly action: 'cancel'
  readonly entityId: MessageId
  /** The operation of the Message. */
  readonly cancels: OperationId
}

/** The changes of an Event or Thing submission. Absent names stay as they are. */
export interface Patch {
  /** event_time or observed_at: the age of every value in this patch. */
  readonly at: number
  /** Values that replace the one of the same name. */
  readonly fields: Fields
  /** Values that replace key by key; null removes. */
  readonly attrs?: Fields
  /** The same for external_ids, Things only. */
  readonly externalIds?: Fields
}

export interface EventSubmission extends Accepted {
  readonly model: 'event'
  readonly action: (typeof EVENT_SUBMISSION_ACTIONS)[number]
  readonly entityId: EventId
  readonly patch: Patch
  /**
   * Set on an update or close by a key with a prefix: the Event must be filed under a Thing whose
   * id begins with it.
   */
  readonly within?: string
  /** What goes with `acknowledge`, whose patch has a time alone. */
  readonly acknowledging?: Acknowledging
}

/** A person's statement that they have an Event. (Specification: People in the loop) */
export interface Acknowledging {
  /** 1 to 64 characters; absent for nobody that is known. */
  readonly by?: string
  /** Up to 512 bytes. */
  readonly note?: string
  /** Milliseconds for which the statement holds; absent without an end. */
  readonly snoozeMs?: number
}

export interface ThingSubmission extends Accepted {
  readonly model: 'thing'
  readonly action: ThingAction
  readonly entityId: ThingId
  readonly patch: Patch
}

/** Puts or deletes a rule of the channel. */
export interface RuleSubmission extends Accepted {
  readonly model: 'rule'
  readonly action: RuleAction
  readonly entityId: RuleId
  /** The rule as JSON text, which was read without a fault; '' on delete. */
  readonly text: string
  /** The Things that the rule names one by one: its silence counts for those never heard of. */
  readonly thingIds?: readonly ThingId[]
}

export type Submission =
  | MessageSubmission
  | EventSubmission
  | ThingSubmission
  | RuleSubmission
  | CancellationSubmission

/**
 * The time of a lane, in the order of its log: what is due by then is worked off, so a decision
 * that waits for a time depends on the log alone. (W3, R7) It has no channel and no op_id.
 */
export interface Tick {
  readonly model: 'tick'
  /** The gateway's clock when it was appended, in Unix milliseconds. */
  readonly acceptedAt: number
}
