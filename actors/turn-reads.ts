// Reads what a turn needs before it decides: the rows that are due to its tick, and the state that
// the channels' actors do not remember.

import type { ChannelId, OperationId } from '#domain/identity'
import { OF_EVENT } from '#domain/rules/stored'
import type { PutOff } from '#domain/rules/stored'
import type { ScheduledRead } from '#domain/rules/scheduled'
import type { EntityKey, TurnReads, TurnStore } from '#domain/store-ports'
import type { Submission } from '#domain/submission'
import type { Due } from '#machines/channel-turn'
import type { ChannelTurn } from '#machines/channel-turn'
import type { ChannelActor, ChannelDirectory } from './channel.ts'
import { isOfChannel, isTick } from './turn-item.ts'
import type { Item, Turn } from './turn-item.ts'
import { mayBeUsed } from './turn-records.ts'

/** The rows that are due to the tick of a turn, by channel. */
export type DueByChannel = ReadonlyMap<ChannelId, Due>

/**
 * Asks the store what the tick of a turn finds to be due. A tick stands first in its lane's part of
 * a turn, behind committed turns: so the answer depends on the log alone. (W3, R7)
 */
export async function dueOf(
  store: Pick<TurnStore, 'due'>,
  { items, setAside, refused, tick: limits, nowMs }: Turn,
): Promise<DueByChannel> {
  const found = new Map<ChannelId, Due>()
  const tick = items.find(isTick)
  if (tick?.submission.model !== 'tick') return found
  if (limits?.putsOff === true || setAside?.has(tick) === true) return found
  const upTo = tick.submission.acceptedAt
  const except = refused?.resting(nowMs) ?? []
  const asked = { ...(limits?.dueMax && { max: limits.dueMax }), except }
  for (const { channelId, ...due } of await store.due(tick.lane, upTo, asked)) {
    found.set(channelId, { upTo, ...due })
  }
  return found
}

/** W6: the first row that is due to the tick of a turn which puts it off. */
export async function putOffOf(
  store: Pick<TurnStore, 'due'>,
  { items, refused, tick: limits, nowMs }: Turn,
): Promise<PutOff | undefined> {
  if (limits?.putsOff !== true) return undefined
  const tick = items.find(isTick)
  if (tick?.submission.model !== 'tick') return undefined
  const [first] = await store.due(tick.lane, tick.submission.acceptedAt, {
    max: 1,
    except: refused?.resting(nowMs) ?? [],
  })
  if (first === undefined) return undefined
  const {
    channelId,
    messages: [message] = [],
    items: [item],
  } = first
  const until = nowMs + PUT_OFF_MS
  if (message !== undefined) return { channelId, item: { opId: message.opId }, until }
  if (item === undefined) return undefined
  if ('eventId' in item) {
    return { channelId, item: { ruleId: OF_EVENT, thingId: item.eventId }, until }
  }
  const thingId = 'thingId' in item ? item.thingId : ''
  return { channelId, item: { ruleId: item.ruleId, thingId }, until }
}

/** The time after which a row is tried again that the database refuses. */
const PUT_OFF_MS = 600_000

/** The operation of a Message that a submission schedules or cancels. */
function scheduledIn(submission: Submission): OperationId | undefined {
  if (submission.model === 'cancellation') return submission.cancels
  return submission.model === 'message' && submission.schedule ? submission.opId : undefined
}

/** True when a turn with it asks the store, which must have every turn before it. */
export const asksForWaiting = ({ submission }: Item): boolean =>
  submission.model === 'tick' || (isOfChannel(submission) && scheduledIn(submission) !== undefined)

/** A channel of a turn, and the lane of its items. */
export interface ChannelOfTurn {
  readonly actor: ChannelActor
  readonly lane: number
  /** Undefined until everything is read, and for a channel that does not exist. */
  turn: ChannelTurn | undefined
}

/** A channel whose turn has begun. */
export type TakenChannel = ChannelOfTurn & { readonly turn: ChannelTurn }

/** Collects, item by item, the reads that a turn asks the store for. */
export class TurnNeeds {
  readonly channels = new Map<ChannelId, ChannelOfTurn>()
  readonly #directory: ChannelDirectory
  readonly #turn: Turn
  readonly #reads = {
    channels: [] as ChannelId[],
    things: [] as EntityKey[],
    events: [] as EntityKey[],
    watched: [] as EntityKey[],
    operations: [] as OperationId[],
  }
  readonly #scheduled = new Map<ChannelId, OperationId[]>()
  /** Entities that are asked for already. */
  #asked: Set<string> | undefined
  /** Channels without rules whose watches count all the same. */
  #swept: Set<ChannelId> | undefined

  constructor(directory: ChannelDirectory, turn: Turn, due: DueByChannel) {
    this.#directory = directory
    this.#turn = turn
    const lane = turn.items.find(isTick)?.lane ?? 0
    for (const [channelId, { items }] of due) {
      const actor = this.#actorOf(channelId, lane)
      this.#sweep(channelId)
      for (const item of items) {
        if ('eventId' in item) {
          this.#need(actor, 'events', item.eventId)
          continue
        }
        for (const id of 'thingId' in item ? [item.thingId] : item.thingIds) {
          this.#needWatches(actor, id)
          this.#need(actor, 'things', id)
        }
      }
    }
    for (const item of turn.items) this.#addItem(item)
  }

  /** Undefined when the actors remember all that the turn needs. */
  get reads(): TurnReads | undefined {
    const { channels, things, events, watched, operations } = this.#reads
    const count = channels.length + things.length + events.length + watched.length
    if (count + operations.length + this.#scheduled.size === 0) return undefined
    if (this.#scheduled.size === 0) return this.#reads
    const scheduled = Array.from(this.#scheduled, ([channelId, opIds]): ScheduledRead => {
      return { channelId, opIds }
    })
    return { ...this.#reads, scheduled }
  }

  #addItem(item: Item): void {
    const { submission, lane } = item
    const { setAside, isCareful } = this.#turn
    if (!isOfChannel(submission)) return
    const isSetAside = setAside?.has(item) === true
    if (isSetAside || isCareful === true || mayBeUsed(submission)) {
      this.#reads.operations.push(submission.opId)
    }
    if (isSetAside) return
    const actor = this.#actorOf(submission.channelId, lane)
    switch (submission.model) {
      case 'thing':
        this.#needWatches(actor, submission.entityId)
        if (submission.action !== 'create') this.#need(actor, 'things', submission.entityId)
        return
      case 'event':
        if (submission.action !== 'create') this.#need(actor, 'events', submission.entityId)
        return
      case 'rule':
        this.#sweep(submission.channelId)
        for (const id of submission.thingIds ?? []) this.#needWatches(actor, id)
        return
      case 'message':
      case 'cancellation':
        this.#needScheduled(submission)
    }
  }

  #actorOf(channelId: ChannelId, lane: number): ChannelActor {
    const found = this.channels.get(channelId)
    if (found !== undefined) return found.actor
    const actor = this.#directory.wake(channelId, this.#turn.nowMs)
    this.channels.set(channelId, { actor, lane, turn: undefined })
    if (actor.isAsleep) this.#reads.channels.push(channelId)
    return actor
  }

  /** A rule that was deleted leaves watches: a sweep, or the rule put again, meets them. */
  #sweep(channelId: ChannelId): void {
    ;(this.#swept ??= new Set()).add(channelId)
  }

  #needWatches(actor: ChannelActor, id: string): void {
    const { channelId } = actor
    if (!actor.hasRules && this.#swept?.has(channelId) !== true) return
    if (!actor.knows('watches', id)) return this.#ask('watched', channelId, id)
    // The channel may have forgotten an Event whose watch it remembers. (channel/3)
    for (const eventId of actor.openEventsOf(id)) this.#need(actor, 'events', eventId)
  }

  #need(actor: ChannelActor, kind: 'things' | 'events', id: string): void {
    if (!actor.knows(kind, id)) this.#ask(kind, actor.channelId, id)
  }

  #ask(kind: 'things' | 'events' | 'watched', channelId: ChannelId, id: string): void {
    const key = `${kind} ${channelId} ${id}`
    const asked = (this.#asked ??= new Set())
    if (asked.has(key)) return
    asked.add(key)
    this.#reads[kind].push({ channelId, id })
  }

  #needScheduled(submission: Submission): void {
    const opId = scheduledIn(submission)
    if (opId === undefined) return
    const ofChannel = this.#scheduled.get(submission.channelId)
    if (ofChannel === undefined) this.#scheduled.set(submission.channelId, [opId])
    else ofChannel.push(opId)
  }
}
