// The smallest actor of one channel: it decides with the real machines and commits their effects,
// so that a store gets only writes that the gateway could make.

import { recordsOf } from '#actors/turn-records'
import type { Item } from '#actors/turn-item'
import type { PasswordChange } from '#domain/channel'
import type { Event, Thing } from '#domain/entity'
import type { FeedEntry } from '#domain/feed'
import type { ChannelId } from '#domain/identity'
import type { RuleWrites } from '#domain/rules/stored'
import type { Operation } from '#domain/operation'
import type { ScheduledWrites } from '#domain/rules/scheduled'
import type {
  ChannelHead,
  ChannelStore,
  Committed,
  DeadLetter,
  TurnStore,
  TurnWrites,
} from '#domain/store-ports'
import type { Submission } from '#domain/submission'
import { decideEvent, decideMessage, decideThing } from '#test/support/single-decision'
import type { Decision } from '#test/support/single-decision'
import { channel } from '#test/support/submissions'

interface Stores {
  readonly turns: TurnStore
  readonly channels: ChannelStore
}

const ENDED_LIFE_MS = 1_000_000

/** The text that stands for a secret in these tests. */
export const PASSWORD_HASH = 'scrypt$secret-hash'

export const newChannel = (channelId: ChannelId) => ({
  channelId,
  channelName: 'a channel',
  passwordHash: PASSWORD_HASH,
  createdAt: 500,
})

export class ChannelWriter {
  readonly channelId: ChannelId
  /** Every entry that was committed, in seq order. */
  readonly feed: FeedEntry[] = []
  readonly things = new Map<string, Thing>()
  readonly events = new Map<string, Event>()
  readonly deadLetters: DeadLetter[] = []
  /** The changes of rules in the next commit. */
  rules: RuleWrites | undefined
  scheduled: ScheduledWrites | undefined
  readonly #store: Stores
  readonly #lane: number
  #head: ChannelHead
  #place = 0
  #entries: FeedEntry[] = []
  #operations: Operation[] = []
  readonly #taken: Submission[] = []
  readonly #changedThings = new Map<string, Thing>()
  readonly #changedEvents = new Map<string, Event>()

  private constructor(store: Stores, lane: number, head: ChannelHead) {
    this.#store = store
    this.#lane = lane
    this.#head = head
    this.channelId = head.channelId
  }

  /** Makes a channel of its own for the number and takes the lane of that number. */
  static async open(store: Stores, number: number): Promise<ChannelWriter> {
    const channelId = channel(number)
    await store.channels.create(newChannel(channelId))
    return ChannelWriter.resume(store, number)
  }

  /** The channel of the number is there; takes the lane of that number. */
  static async resume(store: Stores, number: number): Promise<ChannelWriter> {
    const channelId = channel(number)
    await store.turns.takeLane({ lane: number, epoch: 1 })
    const needs = { channels: [channelId], things: [], events: [], operations: [] }
    const [head] = (await store.turns.load(needs)).channels
    if (head === undefined) throw new Error('the channel that was made is not there')
    return new ChannelWriter(store, number, head)
  }

  get head(): ChannelHead {
    return this.#head
  }

  /** Decides submissions for this channel; `commit` writes their effects. */
  take(...submissions: readonly Submission[]): this {
    for (const submission of submissions) this.#collect(submission, this.#decide(submission))
    this.#taken.push(...submissions)
    return this
  }

  /** The writes of a commit now. */
  writes(): TurnWrites {
    const written = {
      head: this.#head,
      things: [...this.#changedThings.values()],
      events: [...this.#changedEvents.values()],
      entries: this.#entries,
      ...(this.rules && { rules: this.rules }),
      ...(this.scheduled && { scheduled: this.scheduled }),
    }
    return {
      lanes: [{ lane: this.#lane, epoch: 1, from: this.#place, to: this.#place + 1 }],
      channels: [written],
      ...recordsOf({ items: this.#items() }, this.#operations),
      deadLetters: this.deadLetters,
    }
  }

  /** Says that a commit of other writes moved the lane. */
  skip(): void {
    this.#place += 1
  }

  async commit(): Promise<Committed> {
    const committed = await this.#store.turns.commit(this.writes())
    if (committed.kind === 'fenced') return committed
    this.#place += 1
    this.feed.push(...this.#entries)
    this.#entries = []
    this.#operations = []
    this.rules = undefined
    this.scheduled = undefined
    this.#taken.length = 0
    this.deadLetters.length = 0
    this.#changedThings.clear()
    this.#changedEvents.clear()
    return committed
  }

  /** The submissions of a commit stand in the log as one batch. */
  #items(): readonly Item[] {
    const batch = { lane: this.#lane, position: this.#place, placeAfter: this.#place + 1 }
    return this.#taken.map((submission, index) => ({ ...batch, index, submission }))
  }

  #decide(submission: Submission): Decision {
    const { headSeq } = this.#head
    const rules = { headSeq, endedLifeMs: ENDED_LIFE_MS }
    switch (submission.model) {
      case 'rule':
      case 'cancellation':
        throw new Error('this writer puts no rules and cancels nothing')
      case 'message':
        return decideMessage(submission, headSeq)
      case 'thing':
        return decideThing(submission, this.things.get(submission.entityId), rules)
      case 'event':
        return decideEvent(submission, this.events.get(submission.entityId), rules)
    }
  }

  #collect(submission: Submission, decision: Decision): void {
    const { entry, thing, event, operation, liveThings, openEvents } = decision
    const { headSeq, things, openEvents: open } = this.#head
    this.#operations.push(operation)
    this.#head = {
      ...this.#head,
      headSeq: entry?.seq ?? headSeq,
      things: things + liveThings,
      openEvents: open + openEvents,
    }
    if (entry !== undefined) this.#entries.push(entry)
    if (thing !== undefined) {
      this.things.set(submission.entityId, thing)
      this.#changedThings.set(submission.entityId, thing)
    }
    if (event !== undefined) {
      this.events.set(submission.entityId, event)
      this.#changedEvents.set(submission.entityId, event)
    }
  }
}

/** A change of password after which nothing is kept. */
export const changed = (previousHash: string, passwordHash: string): PasswordChange => ({
  previousHash,
  passwordHash,
  kept: 'nothing',
})
