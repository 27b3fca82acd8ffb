// Decides what a rule opens, updates, closes and sends, in the turn of its cause and as every
// submission is decided. (W2)
//
// Invariants:
//   R1. The id of an Event is derived from channel, rule, Thing and generation, which is the seq of
//       the entry that opens it: a seq never repeats, and a replay gives the same. (W9)
//   consequences/1. An Event that was closed by hand stays closed: its rule fires anew only after
//     it has cleared.

import type { Event } from '#domain/entity'
import type { FeedEntry } from '#domain/feed'
import type { ChannelId, OperationId, RuleId } from '#domain/identity'
import { operationIdFrom, parseEventId, parseMessageId } from '#domain/identity'
import { bare } from '#domain/record'
import type { RuleWrites, Watch } from '#domain/rules/stored'
import type { EventSubmission, Fields, Json } from '#domain/submission'
import type { Facts } from '#src/rules/conditions'
import type { ActiveRule } from '#src/rules/rule-set'
import type { Action, Step } from '#src/rules/watch'
import type { Wording } from '#src/rules/wording'
import { decideEvent, decideMessage } from './decide.ts'
import type { Change, Decision } from './decide.ts'

/** Returns 32 lower-case hex characters of a hash: the same for the same text. */
export type Derive = (text: string) => string

export interface ConsequencePorts {
  readonly channelId: ChannelId
  /** The time of the submission or the tick that causes them. (W3) */
  readonly acceptedAt: number
  readonly endedLifeMs: number
  readonly derive: Derive
  /** An Event as the turn knows it. */
  readonly eventOf: (id: string) => Event | undefined
}

/** The op_id of an entry that no submission makes: the same for a replay. */
export const derivedOpId = (
  derive: Derive,
  { channelId, seq, acceptedAt }: Pick<FeedEntry, 'channelId' | 'seq' | 'acceptedAt'>,
): OperationId => operationIdFrom(acceptedAt, derive(`operation ${channelId} ${seq}`))

/** Counts of what rules did. */
export interface Firings {
  opened: number
  updated: number
  closed: number
  sent: number
}

/** The changes of a turn to the rules of its channel, and the firings that the rules decided. */
export interface RuleEffects extends Omit<RuleWrites, 'lane'> {
  readonly firings: Firings
}

export const noFirings = (): Firings => ({ opened: 0, updated: 0, closed: 0, sent: 0 })

/** Collects the changes that follow from one submission or deadline. */
export class Consequences {
  readonly changes: Change[] = []
  readonly #ports: ConsequencePorts
  readonly #firings: Firings
  #events: Map<string, Event> | undefined
  #headSeq: number

  /** `headSeq`: the newest seq behind their cause. `firings`: counted on. */
  constructor(ports: ConsequencePorts, headSeq: number, firings: Firings) {
    this.#ports = ports
    this.#headSeq = headSeq
    this.#firings = firings
  }

  /** Decides the actions of a step; returns the watch to keep. */
  take(active: ActiveRule, facts: Facts, { watch, actions }: Step, kept?: Watch) {
    let eventId = kept?.eventId
    for (const action of actions) eventId = this.#act(active, facts, action, eventId)
    if (watch === undefined || watch.eventId === eventId || watch.phase === 'quiet') return watch
    return eventId === undefined ? watch : { ...watch, eventId }
  }

  /** Closes the Event of a watch that ends otherwise than by its rule. (R5) */
  close({ eventId }: Watch, at: number, reason: string): void {
    if (eventId === undefined) return
    this.#changeEvent('close', eventId, at, { status: reason })
  }

  /** Returns the id of the Event that is open afterwards. */
  #act(active: ActiveRule, facts: Facts, action: Action, eventId: string | undefined) {
    switch (action.kind) {
      case 'open':
        return this.#open(active, facts, action)
      case 'send':
        this.#send(active, facts, action)
        return eventId
      case 'update':
        if (eventId !== undefined) this.#update(active, facts, { action, eventId })
        return eventId
      case 'close':
        if (eventId !== undefined) this.#changeEvent('close', eventId, action.at, {})
        return undefined
    }
  }

  #open(active: ActiveRule, facts: Facts, action: Extract<Action, { kind: 'open' }>) {
    const { at, since, severity } = action
    const { output } = active.rule
    const id = this.#derived('event', active.ruleId, facts.id)
    const texts = filled(output.texts, { active, facts, since })
    const fields = { ...texts, ...output.fields, severity, started_at: since, thing_id: facts.id }
    this.#decideEvent('create', { id, at, fields, attrs: { rule_id: active.ruleId } })
    return id
  }

  #update(
    active: ActiveRule,
    facts: Facts,
    {
      action,
      eventId,
    }: { readonly action: Extract<Action, { kind: 'update' }>; readonly eventId: string },
  ): void {
    const { at, since, severity, isWhole } = action
    const texts = isWhole ? filled(active.rule.output.texts, { active, facts, since }) : {}
    this.#changeEvent('update', eventId, at, { ...texts, severity })
  }

  /** consequences/1: changes an Event that is open; its times do not go back. */
  #changeEvent(action: keyof typeof COUNTED, id: string, at: number, fields: Fields): void {
    const event = this.#eventOf(id)
    if (event?.state !== 'open') return
    const time = Math.max(at, event.at)
    const ended = action === 'close' ? { ended_at: time } : {}
    this.#decideEvent(action, { id, at: time, fields: { ...fields, ...ended } })
  }

  #decideEvent(
    action: 'create' | keyof typeof COUNTED,
    { id, at, fields, attrs }: { id: string; at: number; fields: Fields; attrs?: Fields },
  ): void {
    const entityId = parseEventId(id)
    if (entityId === undefined) throw new Error('an Event of a rule has a wrong id')
    const submission: EventSubmission = {
      model: 'event',
      action,
      ...this.#accepted(),
      entityId,
      patch: { at, fields: recordOf(fields), ...(attrs && { attrs: recordOf(attrs) }) },
    }
    const { endedLifeMs } = this.#ports
    const decision = decideEvent(submission, this.#eventOf(id), {
      headSeq: this.#headSeq,
      endedLifeMs,
    })
    const [change] = decision.changes
    if (change?.event !== undefined) (this.#events ??= new Map()).set(id, change.event)
    this.#keep(decision, action === 'create' ? 'opened' : COUNTED[action])
  }

  #send({ ruleId, rule }: ActiveRule, facts: Facts, { at, since }: { at: number; since: number }) {
    const { output } = rule
    const entityId = parseMessageId(this.#derived('message', ruleId, facts.id))
    if (entityId === undefined) throw new Error('a Message of a rule has a wrong id')
    const texts = filled(output.texts, { active: { ruleId }, facts, since })
    const { severity } = output
    const fields = { ...texts, ...output.fields, severity, occurred_at: at, thing_id: facts.id }
    const accepted = { ...this.#accepted(), entityId, claimed: false }
    const message = { model: 'message', action: 'send', ...accepted } as const
    this.#keep(decideMessage({ ...message, fields: recordOf(fields) }, this.#headSeq), 'sent')
  }

  /** A change without effect takes no seq, so it has no op_id of its own either. */
  #keep({ operation, changes }: Decision, counted: keyof Firings): void {
    const [change] = changes
    if (change?.entry === undefined) return
    this.#headSeq = change.entry.seq
    this.changes.push({ ...change, operation })
    this.#firings[counted] += 1
  }

  #eventOf(id: string): Event | undefined {
    return this.#events?.get(id) ?? this.#ports.eventOf(id)
  }

  #accepted() {
    const { channelId, acceptedAt, derive } = this.#ports
    const opId = derivedOpId(derive, { channelId, seq: this.#headSeq + 1, acceptedAt })
    return { channelId, acceptedAt, opId }
  }

  /** R1 */
  #derived(what: string, ruleId: RuleId, thingId: string): string {
    const { channelId, derive } = this.#ports
    return derive(`${what} ${channelId} ${ruleId} ${thingId} ${this.#headSeq + 1}`)
  }
}

const COUNTED = { update: 'updated', close: 'closed' } as const

const recordOf = (fields: Fields): Fields => Object.assign(bare<Json>(), fields)

function filled(
  texts: Readonly<Record<string, Wording>>,
  {
    active: { ruleId },
    facts,
    since,
  }: { active: Pick<ActiveRule, 'ruleId'>; facts: Facts; since: number },
): Record<string, string> {
  const { id, title, attrs, work } = facts
  const wording = { id, title, attrs, work, ruleId, since }
  return Object.fromEntries(Object.entries(texts).map(([name, write]) => [name, write(wording)]))
}
