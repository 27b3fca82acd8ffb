// What is kept of people and deadlines about an open Event. (Specification: People in the loop)

import { DEFAULT_SEVERITY, SEVERITIES } from '#domain/submission'
import type { Json } from '#domain/submission'

/** Reminders of one Event. */
export const REMINDERS_MAX = 100

/** What people and deadlines did about an open Event. */
export interface Attention {
  readonly acknowledged?: EventAcknowledgement | undefined
  /** The number of its reminders. */
  readonly reminders?: number
  /** The level to which it has escalated. */
  readonly level?: number
  /** accepted_at of the first entry with which it has steps to escalate. */
  readonly since?: number
}

/** The newest acknowledgement of an Event. */
export interface EventAcknowledgement {
  /** Its event_time. */
  readonly at: number
  readonly by?: string
  /** The severity of the Event then. */
  readonly severity: Json
  /** The time at which it ends by itself. */
  readonly snoozedUntil?: number
  /** Set when it has ended: by its time, or by a higher severity. */
  readonly isOver?: true
}

/** A step to escalate; its names are those of the wire. */
export interface EscalationStep {
  /** A duration. */
  readonly after: string
  readonly level: number
  readonly severity?: string
}

/** The acknowledgement of an Event that holds. */
export function acknowledgementOf({
  state,
  attention,
}: {
  readonly state: string
  readonly attention?: Attention | undefined
}): EventAcknowledgement | undefined {
  const { acknowledged } = attention ?? {}
  return state === 'open' && acknowledged?.isOver !== true ? acknowledged : undefined
}

/** An acknowledgement in the names of the wire. */
export const acknowledgementToWire = ({ at, by, snoozedUntil }: EventAcknowledgement) => ({
  acknowledged_at: at,
  ...(by !== undefined && { acknowledged_by: by }),
  ...(snoozedUntil !== undefined && { snoozed_until: snoozedUntil }),
})

/** The rank of a severity, from 0 for low; a text that is none counts as normal. */
export function rankOf(severity: Json | undefined): number {
  const word = typeof severity === 'string' ? severity.trim().toLowerCase() : ''
  const known = SEVERITIES.find((one) => one === word) ?? DEFAULT_SEVERITY
  return SEVERITIES.length - 1 - SEVERITIES.indexOf(known)
}
