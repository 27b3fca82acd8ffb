// One turn of a channel: decides its submissions one after the other, and what follows from each by
// the channel's rules. The channel is as before until it is sent what the turn left.
//
// Invariants:
//   R7. What a tick found to be due is decided in the order of Messages, then deadlines of Events
//     and rules by (deadline, rule, Thing or Event).
//   channel-turn/1. What the turn made is newer than what the turn before it made, that newer than
//     what the channel remembers, and that newer than what was read beside it. (channel/2)

import type { Event, Thing } from '#domain/entity'
import type { FeedEntry, LateReading } from '#domain/feed'
import type { RuleId } from '#domain/identity'
import type { Operation } from '#domain/operation'
import type { DueInChannel, DueItem, Watch, WatchOf } from '#domain/rules/stored'
import type { ScheduledState, ScheduledWrite } from '#domain/rules/scheduled'
import type { ChannelHead } from '#domain/store-ports'
import type { RuleSubmission, Submission, ThingSubmission } from '#domain/submission'
import type { RuleSet } from '#src/rules/rule-set'
import type { ChannelContext, Decided } from './channel.ts'
import { Consequences, noFirings } from './consequences.ts'
import type { Firings, RuleEffects } from './consequences.ts'
import {
  checkSeqs,
  decideEvent,
  decideMessage,
  decideThing,
  operationOf,
  refusal,
} from './decide.ts'
import type { Change, Decision } from './decide.ts'
import { deadlineOf, remind, watchOf } from './reminding.ts'
import { cancel, deliver, schedule, scheduledDraft } from './scheduling.ts'
import type { ScheduledDraft } from './scheduling.ts'
import { takeRule } from './rule-changes.ts'
import { NO_WATCHES, takeDeadline, takeReading } from './watching.ts'
import type { RulesDraft, Watches } from './watching.ts'

/** Due items of one channel, and the time of the tick. */
export interface Due extends Pick<DueInChannel, 'items' | 'messages'> {
  readonly upTo: number
}

const NONE: ReadonlyMap<string, never> = new Map<string, never>()
const NONE_WAITING = { waiting: 0, found: [] }

export class ChannelTurn {
  /** The lane of the channel. */
  readonly lane: number
  readonly endedLifeMs: number
  headSeq: number
  /** The entries that the turn made, in seq order. */
  readonly entries: FeedEntry[] = []
  /** What late data left beside them, in its order; undefined without any. */
  late: LateReading[] | undefined
  /** Operations that followed: of rules, and of Messages that no longer wait; undefined without. */
  caused: Operation[] | undefined
  readonly #channel: ChannelContext
  readonly #head: ChannelHead
  #liveThings = 0
  #openEvents = 0
  readonly #things = new Map<string, Thing>()
  #events: Map<string, Event> | undefined
  #rules: RulesDraft | undefined
  #firings: Firings | undefined
  #scheduled: ScheduledDraft | undefined
  #readThings: Map<string, Thing> | undefined
  #readEvents: Map<string, Event> | undefined
  #readWatches: Map<string, Map<RuleId, Watch>> | undefined
  #waiting: Omit<ScheduledState, 'channelId'> = NONE_WAITING

  /** Begins a turn of a channel that is awake. */
  constructor(channel: ChannelContext, lane: number) {
    const head = channel.decided?.head ?? channel.head
    if (head === undefined) throw new Error('a channel that sleeps was given a turn')
    this.#channel = channel
    this.#head = head
    this.lane = lane
    this.headSeq = head.headSeq
    this.endedLifeMs = channel.endedLifeMs
  }

  /** Takes in what the store read for this turn. */
  readThing(thing: Thing): void {
    ;(this.#readThings ??= new Map<string, Thing>()).set(thing.id, thing)
  }

  readEvent(event: Event): void {
    ;(this.#readEvents ??= new Map<string, Event>()).set(event.id, event)
  }

  readWatch({ thingId, ruleId, watch }: WatchOf): void {
    const all = (this.#readWatches ??= new Map<string, Map<RuleId, Watch>>())
    const ofThing = all.get(thingId)
    if (ofThing === undefined) all.set(thingId, new Map([[ruleId, watch]]))
    else ofThing.set(ruleId, watch)
  }

  /** The Messages that wait, as far as the turn may need them. */
  readScheduled(state: Omit<ScheduledState, 'channelId'>): void {
    this.#waiting = state
  }

  /**
   * Decides a submission, and what follows from it by the rules. (W2) Returns its record. Throws
   * on a defect of this program; then nothing of the submission is kept. (W6)
   */
  take(submission: Submission): Operation {
    const { operation, changes } = this.#decide(submission)
    this.#keep(changes)
    return operation
  }

  /** R7: decides what a tick found to be due. */
  takeDue({ items, messages = [], upTo }: Due): void {
    for (const message of messages) {
      const place = { channelId: this.#head.channelId, headSeq: this.headSeq, upTo }
      this.#keep(deliver(this.#scheduledDraft(), message, place))
    }
    for (const item of items) {
      if ('thingId' in item) this.#takeDeadline(item, upTo)
      else if ('eventId' in item) this.#takeEvent(item.eventId, upTo)
      else {
        const { ruleId, thingIds, next } = item
        for (const thingId of thingIds) this.#takeDeadline({ ruleId, thingId }, upTo)
        this.#rulesDraft().watchWrites.set(`${ruleId} `, { ruleId, thingId: '', kept: next })
      }
    }
  }

  /** The channel as the turn leaves it, as far as the turn touched it. */
  get decided(): Decided {
    return {
      head: this.#headAfter,
      things: this.#things,
      events: this.#events ?? NONE,
      watches: this.#rules?.watches ?? NONE,
      rules: this.#ruleSet,
    }
  }

  /** Rules that one update may set off after the turn, at most. (W8) */
  get reach(): number {
    return this.#ruleSet.reach
  }

  /** The changes of the turn to rules and watches; undefined when it met none. */
  get ruleEffects(): RuleEffects | undefined {
    if (this.#rules === undefined) return undefined
    const { ruleWrites, watchWrites, failures } = this.#rules
    return {
      rules: [...ruleWrites].map(([ruleId, stored]) => ({ ruleId, stored })),
      watches: [...watchWrites.values()],
      failures: [...failures].map(([ruleId, failed]) => ({ ruleId, ...failed })),
      firings: this.#firings ?? noFirings(),
    }
  }

  /** Messages that wait from now on, or no longer. */
  get scheduledWrites(): readonly ScheduledWrite[] {
    if (this.#scheduled === undefined) return []
    return [...this.#scheduled.writes].map(([opId, kept]) => ({ opId, kept }))
  }

  get #ruleSet(): RuleSet {
    return this.#rules?.rules ?? this.#channel.decided?.rules ?? this.#channel.rules
  }

  get #headAfter(): ChannelHead {
    const { things, openEvents } = this.#head
    return {
      ...this.#head,
      headSeq: this.headSeq,
      things: things + this.#liveThings,
      openEvents: openEvents + this.#openEvents,
    }
  }

  #decide(submission: Submission): Decision {
    switch (submission.model) {
      case 'thing':
        return this.#decideThing(submission)
      case 'event':
        return decideEvent(submission, this.#eventOf(submission.entityId), this)
      case 'message':
        return submission.schedule === undefined
          ? decideMessage(submission, this.headSeq)
          : schedule(this.#scheduledDraft(), submission, submission.schedule)
      case 'cancellation':
        return cancel(this.#scheduledDraft(), submission)
      case 'rule':
        return this.#decideRule(submission)
    }
  }

  #decideThing(submission: ThingSubmission): Decision {
    const prior = this.#thingOf(submission.entityId)
    const decision = decideThing(submission, prior, this)
    const [change] = decision.changes
    if (change?.thing === undefined || this.#ruleSet.size === 0) return decision // watching/1
    const out = this.#consequences(change.entry?.seq ?? this.headSeq, submission.acceptedAt)
    takeReading(this.#rulesDraft(), { submission, prior, thing: change.thing }, out)
    if (out.changes.length === 0) return decision
    return { ...decision, changes: [...decision.changes, ...out.changes] }
  }

  #decideRule(submission: RuleSubmission): Decision {
    const refused = takeRule(this.#rulesDraft(), submission)
    if (refused !== undefined) return refusal(submission, refused)
    return { operation: operationOf(submission), changes: [] }
  }

  #takeDeadline(item: DueItem, upTo: number): void {
    const out = this.#consequences(this.headSeq, upTo)
    takeDeadline(this.#rulesDraft(), { item, thing: this.#thingOf(item.thingId), upTo }, out)
    this.#keep(out.changes)
  }

  #takeEvent(id: string, upTo: number): void {
    const place = { channelId: this.#head.channelId, headSeq: this.headSeq, upTo }
    this.#keep(remind(this.#eventOf(id), { ...place, derive: this.#channel.derive }))
    this.#watchEvent(id) // The row may be older than the Event.
  }

  /** Takes over an Event; its row of deadlines is written when the next one is another. */
  #keepEvent(event: Event): void {
    const before = deadlineOf(this.#eventOf(event.id))?.at
    ;(this.#events ??= new Map<string, Event>()).set(event.id, event)
    if (before !== deadlineOf(event)?.at) this.#watchEvent(event.id)
  }

  #watchEvent(id: string): void {
    this.#rulesDraft().watchWrites.set(` ${id}`, watchOf(id, this.#eventOf(id)))
  }

  #consequences(headSeq: number, acceptedAt: number): Consequences {
    const { endedLifeMs, derive } = this.#channel
    const { channelId } = this.#head
    const eventOf = (id: string): Event | undefined => this.#eventOf(id)
    const ports = { channelId, acceptedAt, endedLifeMs, derive, eventOf }
    return new Consequences(ports, headSeq, (this.#firings ??= noFirings()))
  }

  #rulesDraft(): RulesDraft {
    const { memory, decided } = this.#channel
    return (this.#rules ??= {
      rules: this.#ruleSet,
      ruleWrites: new Map(),
      watchWrites: new Map(),
      watches: new Map(),
      made: new Map(),
      failures: new Map(),
      remembered: (id) => decided?.watches.get(id) ?? memory.watches.get(id),
      loaded: (id): Watches => this.#readWatches?.get(id) ?? NO_WATCHES,
    })
  }

  #scheduledDraft(): ScheduledDraft {
    return (this.#scheduled ??= scheduledDraft(this.#waiting))
  }

  /** channel-turn/1 */
  #thingOf(id: string): Thing | undefined {
    const { memory, decided } = this.#channel
    return (
      this.#things.get(id) ??
      decided?.things.get(id) ??
      memory.things.get(id) ??
      this.#readThings?.get(id)
    )
  }

  /** channel-turn/1 */
  #eventOf(id: string): Event | undefined {
    const { memory, decided } = this.#channel
    return (
      this.#events?.get(id) ??
      decided?.events.get(id) ??
      memory.events.get(id) ??
      this.#readEvents?.get(id)
    )
  }

  #keep(changes: readonly Change[]): void {
    checkSeqs(this, changes) // W9
    for (const { thing, event, entry, late, liveThings, openEvents, operation } of changes) {
      if (late !== undefined) (this.late ??= []).push(late)
      if (operation !== undefined) (this.caused ??= []).push(operation)
      if (thing !== undefined) this.#things.set(thing.id, thing)
      if (event !== undefined) this.#keepEvent(event)
      if (entry !== undefined) {
        this.entries.push(entry)
        this.headSeq = entry.seq
      }
      this.#liveThings += liveThings
      this.#openEvents += openEvents
    }
  }
}
