// Makes the content of a push, the same for every provider: a title, a text, and data fields that
// are all text. (decisions.md 11)

import { deliveryIdOf } from '#domain/feed'
import type { FeedEntry } from '#domain/feed'
import type { Push } from '#domain/push'
import { entryText, preview, shortened, textIn, textOf } from '#domain/push/entry-text'
import type { Fields, Severity } from '#domain/submission'

/** The largest push in bytes that Apple and Google accept. */
const PUSH_BYTES_MAX = 4_096

const TITLE_MAX = 200

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
  const body = entryText(push.entry, fields)
  const { severity } = push
  const data: Record<string, string> = {}
  for (const [name, value] of Object.entries(fields)) data[name] = textOf(value)
  Object.assign(data, namesOf(push.entry), { title, body, severity })
  return { title, body, severity, data }
}

/** Returns a wake-up for an entry that is too large: a preview, and the ids to fetch the rest. */
export function wakeUpOf(push: Push): Content {
  const full = contentOf(push)
  const title = shortened(full.title, TITLE_MAX)
  const body = preview(full.body)
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

/** How loudly a push arrives: one that is wanted quiet does as one of no importance. */
export const loudnessOf = (push: Push, { severity }: Content): Severity =>
  push.isPassive ? 'low' : severity
