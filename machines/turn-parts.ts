// The parts of a channel's turn: what goes in, what it knows, and what it leaves.

import type { BoundedItems } from '#domain/bounds/bounded-items'
import type { Event, Thing } from '#domain/entity'
import type { FeedEntry } from '#domain/feed'
import type { Operation } from '#domain/operation'
import type { DueInChannel, RuleWrites, WatchOf, WatchWrite } from '#domain/rules/stored'
import type { ScheduledState, ScheduledWrite } from '#domain/rules/scheduled'
import type { ChannelHead } from '#domain/store-ports'
import type { Submission } from '#domain/submission'
import type { RuleSet, Compile } from '#src/rules/rule-set'
import type { Derive, Firings } from './consequences.ts'
import type { Rules } from './decide.ts'
import type { Watches } from './watching.ts'

export interface ChannelRules extends Rules {
  /**
   * Bytes of Things that a channel remembers between turns at most, and as many of Events and of
   * watches. (channel/3)
   */
  readonly rememberedBytesMax: number
  /** Makes the ids of what rules open and send. */
  readonly derive: Derive
  /** Compiles the rules of a channel. */
  readonly compile: Compile
}

/** The entities and watches that a channel remembers between turns, by id. */
export interface Memory {
  readonly things: BoundedItems<Thing>
  readonly events: BoundedItems<Event>
  /** The watches of Things, as far as the channel has rules. */
  readonly watches: BoundedItems<Watches>
}

/** A channel's input to a turn. */
export interface TurnInput {
  readonly submissions: readonly Submission[]
  /** Entries after which it decides no more of them; absent for no end. (turn-size/1) */
  readonly entriesMax?: number
  /** Entities that the store read for this turn, beside the remembered ones. */
  readonly things: readonly Thing[]
  readonly events: readonly Event[]
  /** Absent without any, as are `due` and the rules of a channel. */
  readonly watches?: readonly WatchOf[]
  /** The Messages that wait, as far as the turn may need them; absent when it needs none. */
  readonly scheduled?: Omit<ScheduledState, 'channelId'>
  /** The rules and sweeps that a tick found due. They come before all submissions. (R7) */
  readonly due?: Due
}

/** Due items of one channel, and the time of the tick. */
export interface Due {
  readonly upTo: number
  readonly items: DueInChannel['items']
  readonly messages?: DueInChannel['messages']
}

/** A turn writes and sends these, in the order of its submissions. */
export interface Effects {
  readonly entries: FeedEntry[]
  readonly operations: Operation[]
  /** Submissions that a defect kept from being decided. (W6) */
  readonly defects: { readonly submission: Submission; readonly error: string }[]
  readonly rules: RuleEffects
  /** Messages that wait from now on, or no longer. */
  readonly scheduled: ScheduledWrite[]
}

/** The changes of a turn to the rules of its channel, and the firings that the rules decided. */
export interface RuleEffects extends Omit<RuleWrites, 'lane'> {
  readonly rules: RuleWrites['rules'][number][]
  readonly watches: WatchWrite[]
  readonly failures: RuleWrites['failures'][number][]
  readonly firings: Firings
}

/** The channel after a turn, as far as the turn touched it. */
export interface Decided {
  readonly head: ChannelHead
  readonly things: ReadonlyMap<string, Thing>
  readonly events: ReadonlyMap<string, Event>
  readonly watches: ReadonlyMap<string, Watches>
  readonly rules: RuleSet
  /** The submission before which the turn stopped, as it has made too much. (turn-size/1) */
  readonly stoppedAt?: Submission
  /** The bytes that these entities and watches take: of each, in their order, and of all. */
  readonly sizes: Readonly<Record<keyof Memory, readonly number[]>>
  readonly bytes: number
}

export interface ChannelContext extends ChannelRules {
  readonly state: 'asleep' | 'awake'
  readonly head: ChannelHead | undefined
  readonly memory: Memory
  /** The newest turn's decisions. The next turn takes them as committed. (channel/2) */
  readonly decided: Decided | undefined
  readonly rules: RuleSet
}

/** The turn fills `effects`, which the sender owns, so that no channel keeps sent effects. */
export interface Take {
  readonly type: 'take'
  readonly turn: TurnInput
  readonly effects: Effects
}
