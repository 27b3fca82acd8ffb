// The Events of a channel as a person looks through them: by tab, by what is searched for, and in
// groups of one rule.

import { numberIn } from '#domain/record'
import type { EventView } from '#src/client/view'
import { DEFAULT_SEVERITY, SEVERITIES } from '#domain/submission'
import type { Json, Severity } from '#domain/submission'
import { acknowledgementOf } from './acknowledge.ts'
import { plain, textOf } from '#console/state/text.ts'

export const listOf = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.map((item) => plain(item as Json)) : []

export const eventTitle = ({ id, fields }: EventView): string => textOf(fields['title']) || id
/** The rule that opened an Event; '' for one of no rule. */
export const ruleIdOf = ({ attrs }: EventView): string => textOf(attrs['rule_id'])
export const updatedAt = ({ fields }: EventView): number => numberIn(fields['event_time']) ?? 0
export const endedAt = ({ fields }: EventView): number =>
  numberIn(fields['ended_at']) ?? numberIn(fields['event_time']) ?? 0

export const TABS = ['open', 'acknowledged', 'closed'] as const
export type Tab = (typeof TABS)[number]

export function tabOf(event: EventView, presentMs: number): Tab {
  if (event.state !== 'open') return 'closed'
  return acknowledgementOf(event, presentMs) === undefined ? 'open' : 'acknowledged'
}

/** The severity of an Event; a text that is none counts as normal. */
export function severityOf({ fields }: EventView): Severity {
  const said = textOf(fields['severity']).trim().toLowerCase()
  return SEVERITIES.find((word) => word === said) ?? DEFAULT_SEVERITY
}

/** Where an Event stands among others: 0 for the gravest. */
export const rankOf = (event: EventView): number => SEVERITIES.indexOf(severityOf(event))

/** What a person looks for; '' for everything. */
export interface EventWish {
  readonly search: string
  readonly severity: string
  readonly rule: string
  readonly tag: string
}

/** True for an Event in which every word is found, and that has what is chosen. */
export function isWanted(event: EventView, wish: EventWish): boolean {
  const { fields } = event
  const tags = listOf(fields['tags'])
  if (wish.severity !== '' && severityOf(event) !== wish.severity) return false
  if (wish.rule !== '' && ruleIdOf(event) !== wish.rule) return false
  if (wish.tag !== '' && !tags.includes(wish.tag)) return false
  const texts = [fields['title'], fields['message'], fields['description'], fields['thing_id']]
  const said = [event.id, ...texts.map(textOf), ...tags].join('\n').toLowerCase()
  const words = wish.search.toLowerCase().split(/\s+/).filter(Boolean)
  return words.every((word) => said.includes(word))
}

/** Events of one rule; of what is closed, those of one day. */
export interface EventGroup {
  readonly key: string
  /** '' for Events of no rule. */
  readonly ruleId: string
  /** The beginning of the day on which they ended, in Unix milliseconds. */
  readonly day?: number
  /** The gravest first, of what is closed the newest. */
  readonly events: readonly EventView[]
}

const byRank = (a: EventView, b: EventView): number => rankOf(a) - rankOf(b) || b.seq - a.seq
const byTime = (a: EventView, b: EventView): number => b.seq - a.seq

/** Groups by rule, the one with the gravest Event first. */
export function groupsByRule(events: readonly EventView[]): readonly EventGroup[] {
  const sorted = events.toSorted(byRank)
  return [...Map.groupBy(sorted, ruleIdOf)].map(([ruleId, members]) => ({
    key: ruleId,
    ruleId,
    events: members,
  }))
}

/** Groups by the day of the end and by rule, the newest day first. */
export function groupsByDay(events: readonly EventView[]): readonly EventGroup[] {
  const groups = Map.groupBy(
    events.toSorted(byTime),
    (event) => `${dayOf(endedAt(event))} ${ruleIdOf(event)}`,
  )
  return [...groups]
    .map(([key, members]) => {
      const [day = '', ...rest] = key.split(' ')
      return { key, ruleId: rest.join(' '), day: Number(day), events: members }
    })
    .toSorted((a, b) => b.day - a.day)
}

/** The beginning of a day by the clock of the device, in Unix milliseconds. */
export function dayOf(atMs: number): number {
  const day = new Date(atMs)
  day.setHours(0, 0, 0, 0)
  return day.getTime()
}

/** The middle one of numbers; undefined for none. */
export function median(numbers: readonly number[]): number | undefined {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)]
}
