// Whether anything is wrong: what is open, grouped by what opened it. A Thing is wrong while an
// Event of it is open, and silent while that is the Event of a rule about silence.

import { isRecord } from '#domain/record'
import { SEVERITIES } from '#domain/submission'
import type { Json, Severity } from '#domain/submission'
import type { EventView } from '#src/client/view'
import { acknowledgementOf } from '#console/people/acknowledge.ts'
import { rankOf, ruleIdOf, severityOf } from '#console/people/events.ts'
import { textOf } from '#console/state/text.ts'

/** An open Event, and the channel that it is of. */
export interface OpenEvent<Channel> {
  readonly channel: Channel
  readonly event: EventView
}

/** What a Thing is marked with: the worst severity of its open Events, or that it is silent. */
export type Trouble = Severity | 'silent'

export const thingOf = ({ fields }: EventView): string => textOf(fields['thing_id'])

/** True while somebody has an Event, or has put it off. */
const isHeld = (event: EventView, presentMs: number): boolean =>
  acknowledgementOf(event, presentMs) !== undefined

/** True for a rule that watches for silence, in one of its conditions. */
export function isAboutSilence(condition: Json | undefined): boolean {
  if (Array.isArray(condition)) return condition.some((part: Json) => isAboutSilence(part))
  if (!isRecord(condition)) return false
  const { silent, all, any } = condition as Readonly<Record<string, Json>>
  return silent !== undefined || isAboutSilence(all) || isAboutSilence(any)
}

/** What a Thing is marked with for one of its open Events. */
export const troubleOf = (event: EventView, isSilence: (ruleId: string) => boolean): Trouble =>
  isSilence(ruleIdOf(event)) ? 'silent' : severityOf(event)

/** Events that need somebody, of one rule; `ruleId` is '' for one that no rule opened. */
export interface Concern<Channel> {
  readonly channel: Channel
  readonly ruleId: string
  /** The gravest first. */
  readonly events: readonly EventView[]
}

/** What nobody has yet, grouped by rule: the gravest first, then what concerns the most Things. */
export function concernsOf<Channel extends { readonly id: string }>(
  open: readonly OpenEvent<Channel>[],
  presentMs: number,
): readonly Concern<Channel>[] {
  const free = open
    .filter(({ event }) => !isHeld(event, presentMs))
    .toSorted((a, b) => rankOf(a.event) - rankOf(b.event) || b.event.seq - a.event.seq)
  const groups = Map.groupBy(free, ({ channel, event }) =>
    [channel.id, ruleIdOf(event) || `event ${event.id}`].join(' '),
  )
  return [...groups.values()]
    .flatMap((members) => {
      const [first] = members
      if (first === undefined) return []
      const events = members.map(({ event }) => event)
      return [{ channel: first.channel, ruleId: ruleIdOf(first.event), events }]
    })
    .toSorted((a, b) => gravest(a) - gravest(b) || b.events.length - a.events.length)
}

const gravest = ({ events: [first] }: Concern<unknown>): number =>
  first === undefined ? SEVERITIES.length : rankOf(first)

/** How many Things, and Events of none, have each trouble, and how many of the Events are held. */
export interface Standing {
  readonly counts: ReadonlyMap<Trouble, number>
  readonly held: number
}

export function standingOf<Channel extends { readonly id: string }>(
  open: readonly OpenEvent<Channel>[],
  isSilence: (channel: Channel, ruleId: string) => boolean,
  presentMs: number,
): Standing {
  const things = new Map<Trouble, Set<string>>()
  for (const { channel, event } of open) {
    const trouble = troubleOf(event, (ruleId) => isSilence(channel, ruleId))
    const known = things.get(trouble) ?? new Set()
    known.add(`${channel.id} ${thingOf(event) || event.id}`)
    things.set(trouble, known)
  }
  return {
    counts: new Map([...things].map(([trouble, ids]) => [trouble, ids.size])),
    held: open.filter(({ event }) => isHeld(event, presentMs)).length,
  }
}

/** When the last of the closed Events ended, in Unix milliseconds; undefined for none. */
export function quietSince(events: Iterable<EventView>): number | undefined {
  let last: number | undefined
  for (const { state, fields } of events) {
    const at = fields['ended_at'] ?? fields['event_time']
    if (state !== 'open' && typeof at === 'number' && at > (last ?? 0)) last = at
  }
  return last
}

const STEPS_S = [60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400]
/** So many updates that do not come are silence. */
const MISSED = 5

/** The usual time between updates, in milliseconds; undefined for too few of them. */
export function usualEveryMs(times: readonly number[]): number | undefined {
  const gaps = times.slice(1).map((time, at) => time - (times[at] ?? 0))
  return gaps.length < 2 ? undefined : gaps.toSorted((a, b) => a - b)[gaps.length >> 1]
}

/** After how long without an update a Thing is silent that sends one so often: as `5m`. */
export function silenceFor(everyMs: number): string {
  const seconds = STEPS_S.find((step) => step * 1_000 >= everyMs * MISSED) ?? 7 * 86_400
  if (seconds >= 86_400) return `${seconds / 86_400}d`
  return seconds >= 3_600 ? `${seconds / 3_600}h` : `${seconds / 60}m`
}
