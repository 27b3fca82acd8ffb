// Who has an Event, and for how long a person may take it.

import type { EventView } from '#src/client/view'
import { durationMs } from '#console/state/drafts.ts'

/** Somebody has the Event; `until`: the time up to which it sleeps. Unix milliseconds. */
export interface Acknowledged {
  readonly at: number
  /** '' where nobody is named. */
  readonly by: string
  readonly until?: number
}

/** The acknowledgement of an Event that holds at a time. */
export function acknowledgementOf(
  { state, fields }: Pick<EventView, 'state' | 'fields'>,
  presentMs: number,
): Acknowledged | undefined {
  const { acknowledged_at: at, acknowledged_by: by, snoozed_until: until } = fields
  if (state !== 'open' || typeof at !== 'number') return undefined
  const who = { at, by: typeof by === 'string' ? by : '' }
  if (typeof until !== 'number') return who
  return until > presentMs ? { ...who, until } : undefined
}

/** For how long an Event is acknowledged. `good`: until it is closed. */
export const SNOOZES = ['1h', '30m', '8h', 'morning', 'own', 'good'] as const
export type Snooze = (typeof SNOOZES)[number]

/** Events that one press takes; the next press takes the next ones. */
const AT_ONCE_MAX = 100

/** Does something with each Event of a group that is open, with so many at once. */
export async function takeOpen(
  events: readonly EventView[],
  take: (eventId: string) => Promise<void>,
): Promise<void> {
  const open = events.filter(({ state }) => state === 'open').slice(0, AT_ONCE_MAX)
  await Promise.all(open.map(({ id }) => take(id)))
}

const MINUTE_MS = 60_000
const SNOOZE_MS_MAX = 7 * 86_400_000
const MORNING_HOUR = 8

/** The duration of a snooze, '' for none; undefined for an own one that is no such time. */
export function snoozeText(snooze: Snooze, own: string, presentMs: number): string | undefined {
  if (snooze === 'good') return ''
  if (snooze === 'morning') {
    const morning = new Date(presentMs)
    morning.setDate(morning.getDate() + 1)
    morning.setHours(MORNING_HOUR, 0, 0, 0)
    return `${Math.ceil((morning.getTime() - presentMs) / MINUTE_MS)}m`
  }
  if (snooze !== 'own') return snooze
  const ms = durationMs(own)
  return ms >= MINUTE_MS && ms <= SNOOZE_MS_MAX ? own.trim() : undefined
}
