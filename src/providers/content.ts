// Makes the content of a push, the same for every provider: a title, a text, and data fields that
// are all text. (decisions.md 11)

import { deliveryIdOf } from '#domain/feed'
import type { FeedEntry } from '#domain/feed'
import type { Push } from '#domain/push'
import { DEFAULT_SEVERITY, SEVERITIES } from '#domain/submission'
import type { Fields, Json, Severity } from '#domain/submission'

/** The largest push in bytes that Apple and Google accept. */
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
 * Returns a function that makes the content of a push: everything in the entry, or a wake-up when
 * the JSON of `payloadOf`, which the provider gets, would have more than `bytesMax` bytes. Pushes
 * of one entry share the content, so the function reads an entry once and not for each device.
 */
export function contentWithin(
  payloadOf: (content: Content, push: Push) => object,
  bytesMax = PUSH_BYTES_MAX,
): (push: Push) => Content {
  const cached = new WeakMap<FeedEntry, Content>()
  return (push) => {
    const earlier = cached.get(push.entry)
    if (earlier !== undefined) return earlier
    const full = contentOf(push)
    const bytes = Buffer.byteLength(JSON.stringify(payloadOf(full, push)))
    const content = bytes <= bytesMax ? full : wakeUpOf(push)
    cached.set(push.entry, content)
    return content
  }
}

/** Returns the content with everything in the entry. */
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

/** Returns a wake-up for an entry that is too large: a preview, and the ids to fetch the rest. */
export function wakeUpOf(push: Push): Content {
  const full = contentOf(push)
  const title = shortened(full.title, TITLE_MAX)
  const body = shortened(full.body, PREVIEW_MAX)
  const { severity } = full
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

/** Parses the payload. The gateway wrote it, so it is an object of named values. */
const fieldsOf = ({ payload }: FeedEntry): Fields => JSON.parse(payload) as Fields

const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))

function textIn(fields: Fields, name: string): string | undefined {
  const value = fields[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Returns the text of a push: a Message has its own; other models get one about the change. */
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

/** Returns the severity of a push: `low` for Things, whose state should wake nobody. */
function severityOf({ model }: FeedEntry, fields: Fields): Severity {
  if (model === 'thing') return 'low'
  const text = textIn(fields, 'severity')?.trim().toLowerCase()
  return SEVERITIES.find((severity) => severity === text) ?? DEFAULT_SEVERITY
}

/** Cuts a text between two characters, not within one. */
function shortened(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text
  return `${text.slice(0, lengthMax - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}
