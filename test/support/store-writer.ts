// The smallest actor of one channel: it decides with the real machines and commits their effects,
// so that a store gets only writes that the gateway could make.

import { createHash } from 'node:crypto'

import { TurnRecords } from '#actors/turn-records'
import type { PasswordChange } from '#domain/channel'
import type { Event, Thing } from '#domain/entity'
import type { FeedEntry, LateReading } from '#domain/feed'
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
import type { Change } from '#machines/decide'
import { remind } from '#machines/reminding'
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
  /** Every late reading that was committed, in its order. */
  readonly late: LateReading[] = []
  /** Both, in the order in which they were decided. */
  readonly committed: (FeedEntry | LateReading)[] = []
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
  #late: LateReading[] = []
  #decided: (FeedEntry | LateReading)[] = []
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
      late: this.#late,
      ...(this.rules && { rules: this.rules }),
      ...(this.scheduled && { scheduled: this.scheduled }),
    }
    const { operations, batches } = this.#records()
    return {
      lanes: [{ lane: this.#lane, epoch: 1, from: this.#place, to: this.#place + 1 }],
      channels: [written],
      operations,
      batches,
      deadLetters: this.deadLetters,
    }
  }

  /** Takes what is due to an Event by a time. */
  pass(id: string, upTo: number): this {
    const { headSeq } = this.#head
    const derive = (text: string): string => createHash('md5').update(text).digest('hex')
    const place = { channelId: this.channelId, headSeq, upTo, derive }
    for (const change of remind(this.events.get(id), place)) this.#keep(id, change)
    return this
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
    this.late.push(...this.#late)
    this.committed.push(...this.#decided)
    this.#entries = []
    this.#late = []
    this.#decided = []
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
  #records(): TurnRecords {
    const batch = { lane: this.#lane, position: this.#place, placeAfter: this.#place + 1 }
    const records = new TurnRecords({}, undefined, undefined)
    for (const [index, submission] of this.#taken.entries()) {
      const operation = this.#operations[index]
      if (operation !== undefined)
        records.add({ ...batch, index, submission }, submission, operation)
    }
    return records
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
    this.#operations.push(decision.operation)
    this.#keep(submission.entityId, decision)
  }

  #keep(id: string, { entry, late, thing, event, liveThings, openEvents }: Change): void {
    const { headSeq, things, openEvents: open } = this.#head
    this.#head = {
      ...this.#head,
      headSeq: entry?.seq ?? headSeq,
      things: things + liveThings,
      openEvents: open + openEvents,
    }
    if (entry !== undefined) this.#entries.push(entry)
    if (late !== undefined) this.#late.push(late)
    this.#decided.push(...[entry, late].filter((one) => one !== undefined))
    if (thing !== undefined) {
      this.things.set(id, thing)
      this.#changedThings.set(id, thing)
    }
    if (event !== undefined) {
      this.events.set(id, event)
      this.#changedEvents.set(id, event)
    }
  }
}

/** A change of password after which nothing is kept. */
export const changed = (previousHash: string, passwordHash: string): PasswordChange => ({
  previousHash,
  passwordHash,
  kept: 'nothing',
})
