// What a notification says of an entry of the feed: the same for every provider, and for the
// clients of other tools that read the feed. (decisions.md 11)

import type { FeedEntry } from '#domain/feed'
import { DEFAULT_SEVERITY, SEVERITIES } from '#domain/submission'
import type { Fields, Json, Severity } from '#domain/submission'

const PREVIEW_MAX = 160
const VALUES_SHOWN_MAX = 4

/** A field with a text that is not empty. */
export function textIn(fields: Fields, name: string): string | undefined {
  const value = fields[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** A value as text; one that is none as JSON. */
export const textOf = (value: Json): string =>
  typeof value === 'string' ? value : JSON.stringify(value)

/** The text about an entry: a Message has its own; other models get one about the change. */
export function entryText({ model, action, state }: FeedEntry, fields: Fields): string {
  if (action === 'acknowledge') return acknowledgedBy(fields)
  if (action === 'remind') return `Reminder ${textOf(fields['reminders'] ?? '')}`
  if (action === 'escalate') return `Nobody has it: level ${textOf(fields['level'] ?? '')}`
  const names = model === 'message' ? ['body'] : ['message', 'description', 'status']
  for (const name of names) {
    const text = textIn(fields, name)
    if (text !== undefined) return text
  }
  if (model === 'message') return ''
  return valuesIn(fields['attrs']) || (state ?? action)
}

/** Who has an Event, and what they say of it. */
function acknowledgedBy(fields: Fields): string {
  const by = textIn(fields, 'acknowledged_by')
  const note = textIn(fields, 'note')
  const who = by === undefined ? 'Acknowledged' : `Acknowledged by ${by}`
  return note === undefined ? who : `${who}: ${note}`
}

function valuesIn(attrs: Json | undefined): string {
  if (typeof attrs !== 'object' || attrs === null || Array.isArray(attrs)) return ''
  const shown = Object.entries(attrs)
    .slice(0, VALUES_SHOWN_MAX)
    .map(([name, value]) => (value === null ? `${name} –` : `${name} ${textOf(value as Json)}`))
  return preview(shown.join(', '))
}

/**
 * The severity of an entry: `low` for what should wake nobody. `present` has the present fields of
 * its Event, whose severity counts where the entry says none; the end of an Event sounds no louder
 * than `normal` then.
 */
export function entrySeverity(
  { model, action }: FeedEntry,
  own: Fields,
  present: Fields = {},
): Severity {
  if (model === 'thing' || action === 'acknowledge') return 'low'
  if ('severity' in own) return severityOf(own['severity'])
  const severity = severityOf(present['severity'])
  return action === 'close' && severity !== 'low' ? DEFAULT_SEVERITY : severity
}

/** A text that is one of the four severities, in any case; anything else is the default one. */
export function severityOf(value: unknown): Severity {
  const text = typeof value === 'string' ? value.trim().toLowerCase() : ''
  return SEVERITIES.find((severity) => severity === text) ?? DEFAULT_SEVERITY
}

/** The beginning of a text that is too long to be shown. */
export const preview = (text: string): string => shortened(text, PREVIEW_MAX)

/** Cuts a text between two characters, not within one. */
export function shortened(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text
  return `${text.slice(0, lengthMax - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}
