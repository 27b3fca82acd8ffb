// The content of a push, the same for every provider: a title, a text, and data fields that are all
// text. (decisions.md 11)

import { deliveryIdOf } from '#domain/feed'
import type { FeedEntry } from '#domain/feed'
import type { Push } from '#domain/push'
import { DEFAULT_SEVERITY, SEVERITIES } from '#domain/submission'
import type { Fields, Json, Severity } from '#domain/submission'

/** Bytes of one push that every provider takes. */
const PUSH_BYTES_MAX = 4_096

const TITLE_MAX = 200
const PREVIEW_MAX = 160
const VALUES_SHOWN_MAX = 4

export interface Content {
  readonly title: string
  readonly body: string
  readonly severity: Severity
  readonly data: Readonly<Record<string, string>>
}

/**
 * Gives the content of a push: everything, or a wake-up where `written`, which is what the provider
 * gets in JSON, is too large. Pushes of one entry share it, so an entry is read once and not for
 * each of its devices.
 */
export function contentWithin(
  written: (content: Content, push: Push) => object,
): (push: Push) => Content {
  const known = new WeakMap<FeedEntry, Content>()
  return (push) => {
    const before = known.get(push.entry)
    if (before !== undefined) return before
    const whole = contentOf(push)
    const bytes = Buffer.byteLength(JSON.stringify(written(whole, push)))
    const content = bytes <= PUSH_BYTES_MAX ? whole : wakeUpOf(push)
    known.set(push.entry, content)
    return content
  }
}

/** Content with everything that the entry holds. */
export function contentOf(push: Push): Content {
  const fields = fieldsOf(push.entry)
  const title = textIn(fields, 'title') ?? push.entityTitle ?? push.entry.entityId
  const body = bodyOf(push.entry, fields)
  const severity = severityOf(push.entry, fields)
  const data: Record<string, string> = {}
  for (const [name, value] of Object.entries(fields)) data[name] = textOf(value)
  Object.assign(data, namesOf(push.entry), { title, body, severity })
  return { title, body, severity, data }
}

/** Content for an entry that is too large: enough to show, and to fetch the rest by. */
function wakeUpOf(push: Push): Content {
  const whole = contentOf(push)
  const title = shortened(whole.title, TITLE_MAX)
  const body = shortened(whole.body, PREVIEW_MAX)
  const { severity } = whole
  const data = { ...namesOf(push.entry), title, body, severity, wakeup: '1' }
  return { title, body, severity, data }
}

function namesOf(entry: FeedEntry): Record<string, string> {
  const { channelId, seq, opId, model, action, entityId, state, rev, acceptedAt } = entry
  return {
    channel_id: channelId,
    seq: String(seq),
    delivery_id: deliveryIdOf(channelId, seq),
    op_id: opId,
    model,
    action,
    entity_id: entityId,
    accepted_at: String(acceptedAt),
    ...(state !== undefined && { state }),
    ...(rev !== undefined && { rev: String(rev) }),
  }
}

/** Reads the payload, which the gateway itself wrote: an object of named values. */
const fieldsOf = ({ payload }: FeedEntry): Fields => JSON.parse(payload) as Fields

const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))

function textIn(fields: Fields, name: string): string | undefined {
  const value = fields[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The text of a push: a Message has its own; for other models it tells the change. */
function bodyOf({ model, action, state }: FeedEntry, fields: Fields): string {
  const names = model === 'message' ? ['body'] : ['message', 'description', 'status']
  for (const name of names) {
    const text = textIn(fields, name)
    if (text !== undefined) return text
  }
  if (model === 'message') return ''
  return valuesIn(fields['attrs']) || (state ?? action)
}

function valuesIn(attrs: Json | undefined): string {
  if (typeof attrs !== 'object' || attrs === null || Array.isArray(attrs)) return ''
  const shown = Object.entries(attrs)
    .slice(0, VALUES_SHOWN_MAX)
    .map(([name, value]) => (value === null ? `${name} –` : `${name} ${textOf(value as Json)}`))
  return shortened(shown.join(', '), PREVIEW_MAX)
}

/** The severity of a push. Things have none: their state is to be looked at and wakes nobody. */
function severityOf({ model }: FeedEntry, fields: Fields): Severity {
  if (model === 'thing') return 'low'
  const text = textIn(fields, 'severity')?.trim().toLowerCase()
  return SEVERITIES.find((severity) => severity === text) ?? DEFAULT_SEVERITY
}

/** Cuts a text between two characters, not within one. */
function shortened(text: string, most: number): string {
  if (text.length <= most) return text
  return `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}
