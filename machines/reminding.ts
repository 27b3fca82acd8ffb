// What time brings to an open Event: reminders, escalations, and the end of a snooze.
// (Specification: People in the loop)
//
// Invariants:
//   reminding/1. While an Event is acknowledged its other deadlines rest: the lifecycle refuses
//     them.
//   reminding/2. A reminder counts from the entry before it: what was due while nobody looked comes
//     once. An Event has at most REMINDERS_MAX. (W7)
//   reminding/3. A step to escalate is taken once, and one that a later step overtook not at all:
//     the level only rises, and the severity does not fall by it.

import { REMINDERS_MAX, rankOf } from '#domain/rules/attention'
import type { EscalationStep } from '#domain/rules/attention'
import type { Event } from '#domain/entity'
import type { ChannelId } from '#domain/identity'
import { OF_EVENT } from '#domain/rules/stored'
import type { WatchWrite } from '#domain/rules/stored'
import { merge } from '#domain/patch'
import type { Fields, Json } from '#domain/submission'
import { durationMs } from '#src/rules/durations'
import { entered, lapsed } from './attention.ts'
import type { Attended, NextEntry } from './attention.ts'
import { derivedOpId } from './consequences.ts'
import type { Derive } from './consequences.ts'
import { operationOf } from './decide.ts'
import type { Change } from './decide.ts'
import { nextEventState, phaseOf } from './event.ts'
import type { EventSignal } from './event.ts'

/** A time at which an Event is looked at, and what it is sent then. */
export interface EventDeadline {
  readonly at: number
  readonly signal: Extract<EventSignal, 'remind' | 'escalate' | 'lapse'>
}

/** The row of an Event among what waits. */
export function watchOf(id: string, event: Event | undefined): WatchWrite {
  const due = deadlineOf(event)?.at
  return { ruleId: OF_EVENT, thingId: id, kept: due === undefined ? due : { due } }
}

interface Place {
  readonly channelId: ChannelId
  readonly headSeq: number
  /** The time of the tick. */
  readonly upTo: number
  readonly derive: Derive
}

/** Returns the changes that are due to an Event by the time of a tick, in their order. */
export function remind(
  event: Event | undefined,
  { channelId, headSeq, upTo, derive }: Place,
): Change[] {
  const changes: Change[] = []
  let present = event
  let seq = headSeq
  for (;;) {
    const due = deadlineOf(present)
    if (present === undefined || due === undefined || due.at > upTo) return changes
    const place = { channelId, seq: seq + 1, acceptedAt: upTo }
    const next = { ...place, opId: derivedOpId(derive, place) }
    const after = takeDeadline(present, due, next)
    const { entry } = after
    const operation = entry && operationOf({ ...next, model: 'event', entityId: entry.entityId })
    changes.push({ ...after, ...(operation && { operation }), liveThings: 0, openEvents: 0 })
    present = after.event
    seq = entry?.seq ?? seq
  }
}

/** The first deadline of an Event; undefined when it waits for none. */
export function deadlineOf(event: Event | undefined): EventDeadline | undefined {
  const every = event?.fields.values['remind_every']
  if (event === undefined || (event.attention ?? every) === undefined) return undefined
  const { acknowledged, reminders = 0, since = Infinity } = event.attention ?? {}
  const everyMs = reminders < REMINDERS_MAX ? durationMs(every) : undefined
  const [step] = stepsAhead(event)
  // Of two at one time the first counts: an escalation is a reminder, too.
  const times: Readonly<Record<EventDeadline['signal'], number>> = {
    lapse: acknowledged?.snoozedUntil ?? Infinity,
    escalate: step === undefined ? Infinity : since + afterMs(step),
    remind: event.changedAt + (everyMs ?? Infinity), // reminding/2
  }
  let first: EventDeadline | undefined
  for (const signal of ['lapse', 'escalate', 'remind'] as const) {
    const at = times[signal]
    if (nextEventState(phaseOf(event), signal) === undefined) continue // reminding/1
    if (at < (first?.at ?? Infinity)) first = { at, signal }
  }
  return first
}

/** An Event after a deadline that was due. */
export function takeDeadline(
  event: Event,
  { signal, at }: EventDeadline,
  next: NextEntry,
): Attended {
  if (signal === 'escalate') return escalated(event, at, next)
  const { attention = {} } = event
  const { acknowledged, reminders = 0 } = attention
  const isOver = signal === 'lapse' && acknowledged !== undefined
  const kept = isOver ? lapsed(attention, acknowledged) : attention
  if (reminders >= REMINDERS_MAX) return { event: { ...event, attention: kept } } // reminding/2
  const counted = { reminders: reminders + 1 }
  const reminded = { ...event, attention: { ...kept, ...counted } }
  return entered(reminded, 'remind', next, { ...seen(event), ...counted })
}

/** reminding/3: takes the steps that are due as one. */
function escalated(event: Event, at: number, next: NextEntry): Attended {
  const { attention = {}, fields } = event
  const { since = 0, level: before = 0 } = attention
  const steps = stepsAhead(event).filter((step) => since + afterMs(step) <= next.acceptedAt)
  const level = steps.at(-1)?.level ?? before
  const present = fields.values['severity'] ?? null
  const severity = steps.reduce<Json>(
    (highest, { severity: own = null }) => (rankOf(own) > rankOf(highest) ? own : highest),
    present,
  )
  const raised = severity === present ? event : withSeverity(event, severity, at)
  const risen = { ...raised, attention: { ...attention, level } }
  return entered(risen, 'escalate', next, { ...seen(risen), level })
}

/** An Event whose fields have no room for it keeps the severity that it has. */
function withSeverity(event: Event, severity: Json, at: number): Event {
  const merged = merge(event, { at: Math.max(at, event.at), fields: { severity } })
  return merged.kind === 'refused' ? event : { ...event, ...merged.body }
}

/** The steps above the level of an Event, in their order. */
function stepsAhead({ fields, attention }: Event): readonly EscalationStep[] {
  const steps = (fields.values['escalate'] ?? []) as unknown as readonly EscalationStep[]
  return steps.filter(({ level }) => level > (attention?.level ?? 0))
}

const afterMs = ({ after }: EscalationStep): number => durationMs(after) ?? Infinity

/** The fields that an entry repeats of its Event, so that a reader needs no other entry. */
function seen({ fields: { values } }: Event): Fields {
  const { title = null, severity = null } = values
  return { ...(title !== null && { title }), ...(severity !== null && { severity }) }
}
