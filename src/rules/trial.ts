// Runs a rule over the kept history of a channel: the same watches as in the channel, without a
// store and without effects.

import type { FeedEntry } from '#domain/feed'
import type { Watch } from '#domain/rules/stored'
import { bare, isRecord } from '#domain/record'
import type { Json } from '#domain/submission'
import type { Facts } from './conditions.ts'
import { isWithin } from './rule-set.ts'
import type { ActiveRule } from './rule-set.ts'
import { onReading, onTime } from './watch.ts'
import type { Step } from './watch.ts'
import { READING_STEPS_MAX, Work } from './work.ts'

/** What the rule would have opened or sent. Times are Unix milliseconds. */
export interface Firing {
  readonly thingId: string
  readonly title: string
  readonly severity: string
  readonly since: number
  readonly firedAt: number
  clearedAt?: number
}

/** Firings of one trial at most. */
export const FIRINGS_MAX = 1_000

interface Tried {
  readonly id: string
  title: string
  tags: Json
  attrs: Readonly<Record<string, Json>>
  at: number
  heardAt: number
  watch: Watch | undefined
  firing: Firing | undefined
}

export class Trial {
  readonly firings: Firing[] = []
  readonly #active: ActiveRule
  readonly #things = new Map<string, Tried>()
  /** Deadlines in their order; one that is no longer its Thing's is passed over. */
  readonly #deadlines: { readonly due: number; readonly thing: Tried }[] = []

  constructor(active: ActiveRule) {
    this.#active = active
  }

  get isFull(): boolean {
    return this.firings.length >= FIRINGS_MAX
  }

  /** Takes the next entry of the feed, after what was due before it. */
  take({ model, entityId, state, acceptedAt, payload }: FeedEntry): void {
    if (model !== 'thing') return
    this.pass(acceptedAt)
    const thing = this.#things.get(entityId) ?? newThing(entityId)
    this.#things.set(entityId, thing)
    const before = thing.at === -Infinity ? undefined : factsOf(thing, acceptedAt)
    const patch: unknown = JSON.parse(payload)
    if (!isRecord(patch)) return
    merge(thing, patch, acceptedAt)
    const { rule } = this.#active
    if (state !== 'active' || !isWithin(rule.scope, thing.id, { tags: thing.tags })) {
      this.#end(thing)
      return
    }
    const after = factsOf(thing, acceptedAt)
    const reading = { at: thing.at, before, after, isEvidence: true }
    this.#keep(thing, after, onReading(this.#active, thing.watch, reading))
  }

  /** Works off what is due by a time. */
  pass(nowMs: number): void {
    for (;;) {
      const [first] = this.#deadlines
      if (first === undefined || first.due > nowMs) return
      this.#deadlines.shift()
      const { thing, due } = first
      if (thing.watch?.due !== due) continue
      const facts = factsOf(thing, due)
      this.#keep(thing, facts, onTime(this.#active, thing.watch, facts))
    }
  }

  #keep(thing: Tried, facts: Facts, { watch, actions }: Step): void {
    const before = thing.watch?.due
    thing.watch = watch
    if (watch?.due !== undefined && watch.due !== before) this.#await(thing, watch.due)
    for (const action of actions) {
      if (action.kind === 'close') this.#clear(thing, action.at)
      else if (action.kind !== 'update') this.#fire(thing, facts, action)
    }
    if (watch === undefined || watch.phase === 'quiet') this.#clear(thing, facts.nowMs)
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
    const firing = { thingId: facts.id, title: named, severity: severity ?? fallback, since, firedAt: at }
    thing.firing = firing
    if (!this.isFull) this.firings.push(firing)
  }

  #clear(thing: Tried, at: number): void {
    if (thing.firing !== undefined) thing.firing.clearedAt = Math.max(at, thing.firing.firedAt)
    thing.firing = undefined
  }

  #end(thing: Tried): void {
    thing.watch = undefined
    this.#clear(thing, thing.heardAt)
  }

  /** Inserts a deadline behind those that are due no later. */
  #await(thing: Tried, due: number): void {
    let low = 0
    let high = this.#deadlines.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#deadlines[middle]?.due ?? 0) <= due) low = middle + 1
      else high = middle
    }
    this.#deadlines.splice(low, 0, { due, thing })
  }
}

const newThing = (id: string): Tried => ({
  id,
  title: id,
  tags: [],
  attrs: bare(),
  at: -Infinity,
  heardAt: 0,
  watch: undefined,
  firing: undefined,
})

/** entity/4: entries hold exactly what changed. */
function merge(thing: Tried, patch: Readonly<Record<string, unknown>>, acceptedAt: number): void {
  const { title, tags, attrs, observed_at: at } = patch
  if (typeof title === 'string' && title !== '') thing.title = title
  if (Array.isArray(tags)) thing.tags = tags as readonly Json[]
  if (isRecord(attrs)) thing.attrs = Object.assign(bare<Json>(), thing.attrs, attrs)
  if (typeof at === 'number') thing.at = at
  thing.heardAt = acceptedAt
}

const factsOf = ({ id, title, attrs, heardAt }: Tried, nowMs: number): Facts => ({
  id,
  title,
  attrs,
  heardAt,
  nowMs,
  work: new Work(READING_STEPS_MAX),
})
