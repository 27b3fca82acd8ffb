// One channel as the page knows it: Things from the session, Events and Messages from the session
// and from reads. Views read it and draw again when one of its signals changes.
//
// Messages and Events are kept by id, so an entry that comes twice, by the session and by a read,
// is shown once. What is kept is bounded, whatever comes: Messages, closed Events and lines.

import { signal } from '@preact/signals'

import { isRecord } from '#domain/record'
import type { Json } from '#domain/submission'
import { eventFrom, foldEvent } from '#src/client/view'
import type { EventRecord, FeedRecord } from '#src/client/bodies'
import type { ThingChanged } from '#src/client/replica'
import type { ThingView, EventView } from '#src/client/view'
import type { Delivery } from '#src/schemas/frames'
import { afterDelay, nextFrame } from './clock.ts'
import type { Presentation } from '#console/model/faces.ts'
import type { Course } from './past/thing-history.ts'
import { Readings } from './readings.ts'
import { setAt } from './attr-times.ts'
import { observedAt } from '#console/search/search.ts'
import { firstNumber } from './units.ts'

/** A Message as the feed shows it. */
export interface FeedMessage {
  readonly id: string
  readonly seq: number
  readonly acceptedAt: number
  readonly payload: Readonly<Record<string, Json>>
}

/** The last known state of a channel, as this browser keeps it. */
export interface ChannelSnapshot {
  readonly savedAt: number
  readonly things: readonly ThingView[]
  readonly events: readonly EventView[]
  readonly messages: readonly FeedMessage[]
}

const NONE: ReadonlyMap<string, ThingView> = new Map()
const MESSAGES_MAX = 1_000
const CLOSED_EVENTS_MAX = 500
const ARRIVING_MS = 400
const WATCHED_MAX = 2_000
const SNAPSHOT_THINGS_MAX = 2_000
const SNAPSHOT_MESSAGES_MAX = 200

/** Facts that the page learned from the changes of a Thing since a person looked at it. */
export interface Watched {
  /** The line of `attr`. */
  readonly line: Readings
  readonly attr: string
  /** When its newest changes were observed. */
  readonly times: number[]
}

const TIMES_MAX = 8

export class LiveChannel {
  readonly id: string
  readonly name = signal('')
  /** Counts frames in which a Thing changed, and those in which one came or went. */
  readonly thingsDrawn = signal(0)
  readonly members = signal(0)
  readonly eventsDrawn = signal(0)
  readonly messagesDrawn = signal(0)
  /** True once the channel's Things are those of the gateway. */
  readonly isCurrent = signal(false)
  /** When the state that is shown was saved; undefined for one from the gateway. */
  readonly savedAt = signal<number | undefined>(undefined)
  /** True while the gateway does not let this browser read the channel. */
  readonly isLost = signal(false)
  /** How the channel shows attrs. */
  readonly presentation = signal<Presentation>([])
  /** True where the first entry of that is what its devices say. */
  isDiscovered = false
  readonly events = new Map<string, EventView>()
  #messages: readonly FeedMessage[] = []
  /** When each Event began, as far as its first entry was seen. */
  readonly began = new Map<string, number>()
  #things: ReadonlyMap<string, ThingView> = NONE
  readonly #watched = new Map<string, Watched>()
  readonly #waiting: FeedMessage[] = []
  #isDrawing = false
  #isJoining = false

  constructor(id: string, name: string) {
    this.id = id
    this.name.value = name
  }

  get things(): ReadonlyMap<string, ThingView> {
    return this.#things
  }

  /** The newest first. */
  get messages(): readonly FeedMessage[] {
    return this.#messages
  }

  watched(thingId: string): Watched | undefined {
    return this.#watched.get(thingId)
  }

  /** Takes the session's Things in place of saved ones: they are those of the gateway. */
  reached(things: ReadonlyMap<string, ThingView>): void {
    this.#things = things
    this.isCurrent.value = true
    this.savedAt.value = undefined
    this.members.value += 1
  }

  /** Takes the changes of one frame, after which the session has `things`. */
  changed(changes: readonly ThingChanged[], things: ReadonlyMap<string, ThingView>): void {
    // The first ones are shown before all are there, where no saved state is.
    if (this.savedAt.peek() === undefined) this.#things = things
    let areOthers = false
    for (const { id, before, after } of changes) {
      if (before?.state !== after?.state) areOthers = true
      if (after === undefined) this.#watched.delete(id)
      else this.#watch(after)
    }
    if (areOthers) this.#joined()
    this.thingsDrawn.value += 1
  }

  /** While Things arrive, the overview is sorted a few times a second, not in every frame. */
  #joined(): void {
    if (this.isCurrent.peek() || this.members.peek() === 0) this.members.value += 1
    else if (!this.#isJoining) {
      this.#isJoining = true
      afterDelay(ARRIVING_MS, () => {
        this.#isJoining = false
        this.members.value += 1
      })
    }
  }

  /** Only Things that a person has looked at are watched: their memory is bounded. */
  #watch(after: ThingView): void {
    const watched = this.#watched.get(after.id)
    if (watched === undefined) return
    const at = observedAt(after)
    if (at > (watched.times.at(-1) ?? 0)) watched.times.push(at)
    if (watched.times.length > TIMES_MAX) watched.times.shift()
    const value = after.attrs[watched.attr]
    if (typeof value === 'number') watched.line.add(setAt(after, watched.attr), value)
  }

  /** Takes an Event's or a Message's entry of the session. */
  delivered(delivery: Delivery): void {
    const { model, entityId, seq, acceptedAt, payload } = delivery
    if (model === 'event') {
      if (delivery.action === 'create') this.began.set(entityId, beginningOf(payload, acceptedAt))
      this.events.set(entityId, foldEvent(this.events.get(entityId), delivery))
    } else if (model === 'message') {
      this.#waiting.push({ id: entityId, seq, acceptedAt, payload })
    } else return
    this.#drawSoon()
  }

  #drawSoon(): void {
    if (this.#isDrawing) return
    this.#isDrawing = true
    nextFrame(() => {
      this.#isDrawing = false
      const messages = this.#waiting.splice(0)
      if (messages.length > 0) this.addMessages(messages)
      this.#boundEvents()
      this.eventsDrawn.value += 1
    })
  }

  addMessages(more: readonly FeedMessage[]): void {
    const known = new Map(this.#messages.map((message) => [message.id, message]))
    for (const message of more) known.set(message.id, message)
    this.#messages = [...known.values()].toSorted((a, b) => b.seq - a.seq).slice(0, MESSAGES_MAX)
    this.messagesDrawn.value += 1
  }

  /** Takes Events of a read; newer changes of the session stay. */
  addEvents(records: readonly EventRecord[]): void {
    for (const record of records) {
      const event = eventFrom(record)
      const known = this.events.get(event.id)
      if (known === undefined || known.seq < event.seq) this.events.set(event.id, event)
    }
    this.#boundEvents()
    this.eventsDrawn.value += 1
  }

  /** Takes entries of Events from the history, for the time at which each began. */
  addBeginnings(entries: readonly FeedRecord[]): void {
    for (const { action, entity_id: id, payload, accepted_at: acceptedAt } of entries) {
      if (action !== 'create' || !isRecord(payload) || !this.events.has(id)) continue
      this.began.set(id, beginningOf(payload, acceptedAt))
    }
    this.eventsDrawn.value += 1
  }

  /** Begins to watch a Thing that a person looks at; gives the attr of its line when it is new. */
  look(thingId: string): string | undefined {
    const thing = this.things.get(thingId)
    if (thing === undefined || this.#watched.has(thingId)) return undefined
    const attr = firstNumber(thing.attrs)
    this.#watched.set(thingId, { line: new Readings(), attr: attr ?? '', times: [] })
    this.#watch(thing)
    const [oldest] = this.#watched.keys()
    if (this.#watched.size > WATCHED_MAX && oldest !== undefined) this.#watched.delete(oldest)
    return attr
  }

  /** Takes what was read of the line of a watched Thing; newer points of it stay. */
  recall(thingId: string, attr: string, { times, values }: Course): void {
    const watched = this.#watched.get(thingId)
    if (watched === undefined || watched.attr !== attr) return
    const line = new Readings()
    const add = (at: number, value: Json | undefined): void => {
      if (typeof value === 'number') line.add(at, value)
    }
    for (const [at, time] of times.entries()) add(time, values[at])
    for (const [at, time] of watched.line.times.entries()) add(time, watched.line.values[at])
    this.#watched.set(thingId, { ...watched, line })
  }

  /** Every Thing that is watched, by id. */
  get allWatched(): ReadonlyMap<string, Watched> {
    return this.#watched
  }

  #boundEvents(): void {
    const closed = [...this.events.values()].filter(({ state }) => state !== 'open')
    if (closed.length <= CLOSED_EVENTS_MAX) return
    const oldest = closed.toSorted((a, b) => a.seq - b.seq)
    for (const { id } of oldest.slice(0, closed.length - CLOSED_EVENTS_MAX)) {
      this.events.delete(id)
      this.began.delete(id)
    }
  }

  snapshot(savedAt: number): ChannelSnapshot {
    const things = [...this.things.values()].toSorted((a, b) => b.seq - a.seq)
    return {
      savedAt,
      things: things.slice(0, SNAPSHOT_THINGS_MAX),
      events: [...this.events.values()],
      messages: this.#messages.slice(0, SNAPSHOT_MESSAGES_MAX),
    }
  }

  /** Shows a saved state until the gateway's is there. */
  restore({ savedAt, things, events, messages }: ChannelSnapshot): void {
    if (this.isCurrent.value) return
    if (this.#things.size === 0) {
      this.#things = new Map(things.map((thing) => [thing.id, thing]))
      this.savedAt.value = savedAt
    }
    for (const event of events) if (!this.events.has(event.id)) this.events.set(event.id, event)
    this.addMessages(messages)
    this.members.value += 1
    this.eventsDrawn.value += 1
  }
}

const beginningOf = (payload: Readonly<Record<string, Json>>, acceptedAt: number): number => {
  const { started_at: started, event_time: time } = payload
  return Number(started ?? time ?? acceptedAt)
}

/** Makes a Message of an entry of the history. */
export const messageFrom = (entry: FeedRecord): FeedMessage => ({
  id: entry.entity_id,
  seq: entry.seq,
  acceptedAt: entry.accepted_at,
  payload: isRecord(entry.payload) ? entry.payload : {},
})
