// Makes the bodies of requests from the fields that a person fills in.

import { UNIT_MS } from '#domain/runtime'
import type { Unit } from '#domain/runtime'
import type { Json, Model } from '#domain/submission'

/** When a Message is sent: at once, after a time, or at a time. */
export const WHENS = ['now', 'delay', 'at'] as const
export type When = (typeof WHENS)[number]

/** The fields of the form, and the values of Things and Events. */
export interface Draft {
  readonly title: string
  readonly body: string
  readonly severity: string
  readonly link: string
  readonly thingId: string
  readonly tags: string
  readonly when: When
  /** As 10m; for a Message that is sent after a time. */
  readonly delay: string
  /** A time of the person's clock, as 2026-05-01T08:00. */
  readonly at: string
  readonly attrs: Readonly<Record<string, Json>>
}

export const BLANK_DRAFT: Draft = {
  title: '',
  body: '',
  severity: 'normal',
  link: '',
  thingId: '',
  tags: '',
  when: 'now',
  delay: '',
  at: '',
  attrs: {},
}

type Body = Readonly<Record<string, Json>>

/** The body without the channel and its secret; blank fields are left out. */
export function bodyOf(model: Model, draft: Draft, atMs: number): Body {
  const { title, body, severity, link, thingId, tags, attrs } = draft
  const words = tags.split(',').map((tag) => tag.trim())
  const filled: Record<string, Json> = {
    title: title.trim(),
    ...(words.some(Boolean) && { tags: words.filter(Boolean) }),
    thing_id: thingId.trim(),
  }
  if (model === 'message') {
    Object.assign(filled, { body, severity, url: link.trim(), ...scheduleOf(draft) })
    if (thingId.trim() !== '') filled['occurred_at'] = atMs
  } else if (model === 'event') {
    Object.assign(filled, { message: body, severity, event_time: atMs, attrs })
  } else Object.assign(filled, { description: body, observed_at: atMs, attrs })
  const isGiven = (value: Json): boolean =>
    value !== '' &&
    !(typeof value === 'object' && value !== null && Object.keys(value).length === 0)
  return Object.fromEntries(Object.entries(filled).filter(([, value]) => isGiven(value)))
}

const scheduleOf = ({ when, delay, at }: Draft): Readonly<Record<string, Json>> => {
  if (when === 'delay') return { delay: delay.trim() }
  const time = when === 'at' ? Date.parse(at) : Number.NaN
  return Number.isNaN(time) ? {} : { deliver_at: time }
}

const DURATION = /^(\d+)([smhd])$/

/** The milliseconds of a duration as 10m; NaN for what is none. */
export function durationMs(text: string): number {
  const [, count, unit] = DURATION.exec(text.trim()) ?? []
  return Number(count) * UNIT_MS[unit as Unit]
}

/** When a draft of a Message would be sent, in Unix milliseconds; NaN for what names no time. */
export function sentAt({ when, delay, at }: Draft, presentMs: number): number {
  if (when === 'now') return presentMs
  return when === 'at' ? Date.parse(at) : presentMs + durationMs(delay)
}
