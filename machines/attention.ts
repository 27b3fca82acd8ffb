// Acknowledges an Event, and keeps what people and deadlines did about it through its changes.
// (Specification: People in the loop)
//
// Invariants:
//   attention/1. The newest event_time of an acknowledgement holds. An older one fills nothing, and
//     brings back none that has ended.
//   attention/2. An acknowledgement ends when the severity rises above the one that it met, by its
//     own time, and with the Event.

import { acknowledgementToWire, rankOf } from '#domain/rules/attention'
import type { EventAcknowledgement, Attention } from '#domain/rules/attention'
import type { Event } from '#domain/entity'
import type { FeedEntry } from '#domain/feed'
import type { EventId } from '#domain/identity'
import type { EventSubmission } from '#domain/submission'

/** The members that the next entry has beside those of its Event. */
export type NextEntry = Pick<FeedEntry, 'channelId' | 'seq' | 'opId' | 'acceptedAt'>

/** An Event after a signal; without an entry no reader sees a difference. */
export interface Attended {
  readonly event: Event
  readonly entry?: FeedEntry
}

/** An Event after a create, update or close, with what is kept of the one before. */
export function attended(event: Event, prior: Event | undefined, acceptedAt: number): Event {
  const { state, fields } = event
  const attention = prior?.attention
  const hasSteps = Array.isArray(fields.values['escalate'])
  if (state === 'closed' || (attention === undefined && !hasSteps)) return event
  const kept = hasSteps ? { since: acceptedAt, ...attention } : (attention ?? {})
  const { acknowledged } = kept
  const rank = rankOf(fields.values['severity'])
  const isOver = acknowledged !== undefined && rank > rankOf(acknowledged.severity) // attention/2
  return { ...event, attention: isOver ? lapsed(kept, acknowledged) : kept }
}

/** Acknowledges an Event that is open. */
export function acknowledge(submission: EventSubmission, prior: Event, seq: number): Attended {
  const { acceptedAt, patch, acknowledging = {} } = submission
  const { at } = patch
  const { by, note, snoozeMs } = acknowledging
  const acknowledged: EventAcknowledgement = {
    at,
    severity: prior.fields.values['severity'] ?? '',
    ...(by !== undefined && { by }),
    // A sender whose clock is fast does not snooze longer.
    ...(snoozeMs !== undefined && { snoozedUntil: Math.min(at, acceptedAt) + snoozeMs }),
  }
  if (isOld(acknowledged, prior.attention?.acknowledged)) return { event: prior }
  const event = { ...prior, attention: { ...prior.attention, acknowledged } }
  const said = { ...acknowledgementToWire(acknowledged), ...(note !== undefined && { note }) }
  return entered(event, 'acknowledge', { ...submission, seq }, said)
}

/** attention/1: also true for one that says the same again. */
function isOld(one: EventAcknowledgement, kept: EventAcknowledgement | undefined): boolean {
  if (kept === undefined || one.at > kept.at) return false
  const isSame = one.by === kept.by && one.snoozedUntil === kept.snoozedUntil
  return one.at < kept.at || kept.isOver === true || isSame
}

/** Ends an acknowledgement. */
export const lapsed = (attention: Attention, acknowledged: EventAcknowledgement): Attention => ({
  ...attention,
  acknowledged: { ...acknowledged, isOver: true },
})

/** An Event after a signal, with the entry about it. */
export function entered(
  changed: Event,
  action: FeedEntry['action'],
  { channelId, seq, opId, acceptedAt }: NextEntry,
  payload: object,
): Attended {
  const event = { ...changed, rev: changed.rev + 1, seq, changedAt: acceptedAt }
  const { id, state, rev, at } = event
  const about = { model: 'event', action, entityId: id as EventId, state, rev } as const
  const text = JSON.stringify({ ...payload, event_time: at })
  return { event, entry: { channelId, seq, opId, ...about, acceptedAt, payload: text } }
}
