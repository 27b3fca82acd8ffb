// Rules of a channel as the gateway keeps them, and what waits for a time. (Specification: Rules
// and time)

import type { ChannelId, OperationId, RuleId, ThingId } from '#domain/identity'
import type { ScheduledMessage } from '#domain/rules/scheduled'

/** A rule of a channel as its row keeps it. */
export interface StoredRule {
  readonly ruleId: RuleId
  /** The rule as JSON text, as it was put. */
  readonly text: string
  /** The op_id with which the present `things` and `when` began; open Events belong to it. (R5) */
  readonly version: string
  /** The time at which they began. */
  readonly since: number
  readonly createdAt: number
  readonly updatedAt: number
}

/** Failed evaluations of a rule. (R6) */
export interface RuleFailures {
  readonly count: number
  /** The last reason; absent without any. */
  readonly last?: string
}

/** The state of one rule for one Thing. */
export interface Watch {
  /** The version of the rule that began it. (R5) */
  readonly version: string
  readonly phase: 'quiet' | 'pending' | 'firing' | 'clearing'
  /** The time since when `when` holds; while clearing, that since when `clear` holds, too. */
  readonly since: number
  readonly clearSince?: number | undefined
  /** The time of the lane at which it must be looked at again. */
  readonly due?: number | undefined
  /** The open Event. Its maker sets it: the id depends on the entry that opens it. */
  readonly eventId?: string | undefined
  readonly severity?: string | undefined
  /** The times of the lane at which texts were written last, and a Message was sent last. */
  readonly updatedAt?: number | undefined
  readonly sentAt?: number | undefined
}

/**
 * Goes through the Things of a rule that was put or deleted, some at each tick: so no turn is as
 * large as a channel.
 */
export interface Sweep {
  /** The last Thing that was looked at; '' before the first. */
  readonly cursor: string
  /** True when it goes through all Things of the channel, not only the watched ones. */
  readonly isOfThings: boolean
  readonly due: number
}

/** In the place of a rule: the row is for the deadline of an Event. */
export const OF_EVENT = '' as RuleId

/** The time of the lane at which an Event is looked at; the rest stands in the Event. */
export interface EventWatch {
  readonly due: number
}

/** The watch of a Thing. */
export interface WatchOf {
  readonly ruleId: RuleId
  readonly thingId: ThingId
  readonly watch: Watch
}

/** A row of what waits: a watch, a sweep of its rule, or an Event; without any it goes. */
export interface WatchWrite {
  /** OF_EVENT for an Event. */
  readonly ruleId: RuleId
  /** '' for a sweep, the id of an Event. */
  readonly thingId: string
  readonly kept: Watch | Sweep | EventWatch | undefined
}

/** Due at a time of the lane, in the order of (deadline, rule, Thing). (R7) */
export interface DueItem {
  readonly ruleId: RuleId
  readonly thingId: ThingId
}

/** An Event whose deadline is due. */
interface DueEvent {
  readonly eventId: string
}

/** A sweep that is due, and the Things that it looks at next. */
export interface DueSweep {
  readonly ruleId: RuleId
  readonly thingIds: readonly ThingId[]
  /** The sweep behind them; absent when they are the last. */
  readonly next?: Sweep
}

/** The Messages and deadlines of one channel that are due; a turn takes the Messages first. */
export interface DueInChannel {
  readonly channelId: ChannelId
  /** In the order of their times; absent without any. */
  readonly messages?: readonly ScheduledMessage[]
  readonly items: readonly (DueItem | DueSweep | DueEvent)[]
}

/** A row whose turn the database refuses again and again: it is due later. (W6) */
export interface PutOff {
  readonly channelId: ChannelId
  /** A deadline of a rule or an Event as its row names it, or the operation of a Message. */
  readonly item:
    | { readonly ruleId: RuleId; readonly thingId: string }
    | { readonly opId: OperationId }
  readonly until: number
}

/** Rules that one update may set off without a charge to its channel's share of the lane. (W8) */
export const FEW_RULES = 16
/** Rows of a lane that are counted at most. */
export const WAITING_MAX = 100_000
/** Rows that one tick works off at most. (R7) */
export const DUE_MAX = 1_000
/** Things that a sweep looks at in one tick. */
export const SWEEP_MAX = 500

/** The changes of a turn in the rules of one channel, and in what waits for a time. */
export interface RuleWrites {
  readonly lane: number
  /** Rules that were put, or deleted. */
  readonly rules: readonly { readonly ruleId: RuleId; readonly stored: StoredRule | undefined }[]
  readonly watches: readonly WatchWrite[]
  /** Failed evaluations beyond those that are kept. */
  readonly failures: readonly (RuleFailures & { readonly ruleId: RuleId })[]
}

/** A rule with its failures. */
export interface ListedRule extends StoredRule {
  readonly failures: RuleFailures
}

/** Reads the rules of channels. */
export interface RuleStore {
  rule(channelId: ChannelId, ruleId: RuleId): Promise<ListedRule | undefined>
  /** In the order of their ids; `after`: how many to pass over. */
  list(
    channelId: ChannelId,
    wanted: { readonly after: number; readonly limit: number },
  ): Promise<Page<ListedRule>>
}

interface Page<Item> {
  readonly items: readonly Item[]
  readonly next?: number
}
