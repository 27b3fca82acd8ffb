// Runs a rule over the kept history of a channel: the same watches as in the channel, without a
// store and without effects.
//
// Invariants:
//   trial/1. A trial is bounded in steps, in firings and in what it keeps of its Things, and it may
//     be left after each entry and each deadline. Both count as in the channel. (work/1)

import type { FeedEntry } from '#domain/feed'
import type { Watch } from '#domain/rules/stored'
import { bare, isRecord } from '#domain/record'
import type { Fields, Json } from '#domain/submission'
import type { Facts } from './conditions.ts'
import { DueQueue } from './due-queue.ts'
import { changedOf, isMovedBy } from './rule.ts'
import { isWithin } from './rule-set.ts'
import type { ActiveRule } from './rule-set.ts'
import { Unanswered } from './unanswered.ts'
import { onReading, onTime } from './watch.ts'
import type { Step } from './watch.ts'
import { DEADLINE_STEPS_MAX, READING_STEPS_MAX, Work } from './work.ts'

/** What the rule would have opened or sent. Times are Unix milliseconds. */
export interface Firing {
  readonly thingId: string
  readonly title: string
  readonly severity: string
  readonly since: number
  readonly firedAt: number
  clearedAt?: number
  /** The reminders of an Event. */
  readonly unanswered?: Unanswered
}

/** Firings of one trial at most. */
const FIRINGS_MAX = 1_000
/** Steps of one trial: about a second. (work/2) */
export const TRIAL_STEPS_MAX = 30_000_000
/** Characters of JSON that the values of its Things have at most. */
export const TRIAL_CHARACTERS_MAX = 4 * 2 ** 20

/** Steps of an entry and of a deadline, beside its conditions and its characters. */
const ITEM_STEPS = 32

interface Tried {
  readonly id: string
  title: string
  tags: Json
  attrs: Readonly<Record<string, Json>>
  names: number
  /** The time of its last reading, late or not. */
  at: number
  heardAt: number
  watch: Watch | undefined
  firing: Firing | undefined
}

export class Trial {
  readonly firings: Firing[] = []
  readonly #active: ActiveRule
  readonly #things = new Map<string, Tried>()
  /** One that is no longer its Thing's is passed over. */
  readonly #deadlines = new DueQueue<Tried>()
  #steps = 0
  #characters = 0

  constructor(active: ActiveRule) {
    this.#active = active
  }

  /** Steps that it has taken so far. */
  get steps(): number {
    return this.#steps
  }

  /** True once it takes nothing more. (trial/1) */
  get isFull(): boolean {
    return (
      this.firings.length >= FIRINGS_MAX ||
      this.#steps >= TRIAL_STEPS_MAX ||
      this.#characters >= TRIAL_CHARACTERS_MAX
    )
  }

  /** Takes the next entry of the feed, after what was due before it; pauses after each deadline. */
  *take({ model, entityId, state, acceptedAt, payload }: FeedEntry): Generator<void> {
    if (model !== 'thing') return
    yield* this.pass(acceptedAt)
    const thing = this.#things.get(entityId) ?? newThing(entityId)
    this.#things.set(entityId, thing)
    const work = new Work(READING_STEPS_MAX)
    const before = thing.at === -Infinity ? undefined : factsOf(thing, acceptedAt, work)
    const patch: unknown = JSON.parse(payload)
    if (!isRecord(patch)) return
    const { attrs } = thing
    this.#merge(thing, patch, acceptedAt)
    this.#steps += ITEM_STEPS + Math.ceil(payload.length / 2) + thing.names
    const { rule } = this.#active
    if (state !== 'active' || !isWithin(rule.scope, thing.id, { tags: thing.tags })) {
      this.#end(thing)
      return
    }
    const after = factsOf(thing, acceptedAt, work)
    const { set_at: lateAt, attrs: names } = patch
    const isEvidence =
      lateAt === undefined ||
      (isRecord(names) && isMovedBy(rule, changedOf(names, attrs, thing.attrs))) // R2
    const reading = { at: thing.at, before, after, isEvidence }
    this.#keep(thing, after, onReading(this.#active, thing.watch, reading))
  }

  /** Works off what is due by a time; pauses after each deadline. */
  *pass(nowMs: number): Generator<void> {
    for (;;) {
      const first = this.#deadlines.take(nowMs)
      if (first === undefined) return
      const { item: thing, due } = first
      this.#steps += ITEM_STEPS
      if (thing.watch?.due === due) {
        const facts = factsOf(thing, due, new Work(DEADLINE_STEPS_MAX))
        this.#keep(thing, facts, onTime(this.#active, thing.watch, facts))
      }
      yield
    }
  }

  /** Ends it at a time: what still fires would be reminded of until then. */
  end(nowMs: number): void {
    for (const { firing } of this.#things.values()) firing?.unanswered?.pass(nowMs)
  }

  #keep(thing: Tried, facts: Facts, { watch, actions }: Step): void {
    const before = thing.watch?.due
    thing.watch = watch
    if (watch?.due !== undefined && watch.due !== before) this.#deadlines.add(watch.due, thing)
    for (const action of actions) {
      if (action.kind === 'close') this.#clear(thing, action.at)
      else if (action.kind === 'update') thing.firing?.unanswered?.entry(facts.nowMs)
      else this.#fire(thing, facts, action)
    }
    if (watch === undefined || watch.phase === 'quiet') this.#clear(thing, facts.nowMs)
    this.#steps += facts.work.taken
  }

  #fire(
    thing: Tried,
    facts: Facts,
    {
      at,
      since,
      severity,
    }: { readonly at: number; readonly since: number; readonly severity?: string },
  ): void {
    const { rule, ruleId } = this.#active
    const { texts, severity: fallback } = rule.output
    const named = texts['title']?.({ ...facts, ruleId, since }) ?? ''
    const firing = {
      thingId: facts.id,
      title: named,
      severity: severity ?? fallback,
      since,
      firedAt: at,
      ...(rule.output.kind === 'event' && {
        unanswered: new Unanswered(rule.output.fields, facts.nowMs),
      }),
    }
    thing.firing = firing
    if (this.firings.length < FIRINGS_MAX) this.firings.push(firing)
  }

  #clear(thing: Tried, at: number): void {
    if (thing.firing !== undefined) thing.firing.clearedAt = Math.max(at, thing.firing.firedAt)
    thing.firing?.unanswered?.pass(at)
    thing.firing = undefined
  }

  #end(thing: Tried): void {
    thing.watch = undefined
    this.#clear(thing, thing.at)
  }

  /** entity/4: entries hold exactly what changed. */
  #merge(thing: Tried, patch: Readonly<Record<string, unknown>>, acceptedAt: number): void {
    const { title, tags, attrs, observed_at: newest, set_at: at = newest } = patch
    if (typeof title === 'string') {
      const named = title === '' ? thing.id : title
      this.#characters += named.length - thing.title.length
      thing.title = named
    }
    if (Array.isArray(tags)) {
      this.#characters += charactersOf('', tags as Json) - charactersOf('', thing.tags)
      thing.tags = tags as Json
    }
    if (isRecord(attrs)) this.#mergeAttrs(thing, attrs as Fields)
    if (typeof at === 'number') thing.at = at
    thing.heardAt = acceptedAt
  }

  #mergeAttrs(thing: Tried, attrs: Fields): void {
    for (const [name, value] of Object.entries(attrs)) {
      const before = thing.attrs[name]
      if (before === undefined) thing.names += 1
      this.#characters += charactersOf(name, value) - charactersOf(name, before)
    }
    thing.attrs = Object.assign(bare<Json>(), thing.attrs, attrs)
  }
}

const charactersOf = (name: string, value: Json | undefined): number =>
  value === undefined ? 0 : name.length + JSON.stringify(value).length

const newThing = (id: string): Tried => ({
  id,
  title: id,
  tags: [],
  attrs: bare(),
  names: 0,
  at: -Infinity,
  heardAt: 0,
  watch: undefined,
  firing: undefined,
})

const factsOf = ({ id, title, attrs, heardAt }: Tried, nowMs: number, work: Work): Facts => ({
  id,
  title,
  attrs,
  heardAt,
  nowMs,
  work,
})
