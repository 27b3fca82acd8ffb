// Writes entries of the feed as messages of the tool. An Event is one notification from its first
// entry to its end: its messages have the same sequence id, so the newest takes the place of the
// one before, and the end clears it. (docs/people.md, In clients of other tools)

import { createHash } from 'node:crypto'

import type { Event } from '#domain/entity'
import { deliveryIdOf } from '#domain/feed'
import type { FeedEntry } from '#domain/feed'
import { entrySeverity, entryText } from '#domain/push/entry-text'
import { defined, isRecord, recordFrom, textIn } from '#domain/record'
import type { Fields } from '#domain/submission'
import { actionsIn } from '#src/schemas/fields/message-actions'
import { SEQUENCE_ID } from './publication.ts'

/** A message as subscribers read it, under the names of the tool. */
export type TopicMessage = Readonly<Record<string, unknown>> & {
  readonly id: string
  readonly event: 'message' | 'message_clear'
  readonly message?: string
  readonly priority?: number
}

const PRIORITY_OF_SEVERITY: Readonly<Record<string, number>> = { critical: 5, high: 4, low: 2 }
const METADATA = 'compat.topic.'

/** Twelve letters and digits, as long as the tool's own. */
export const topicIdOf = (entityId: string): string => entityId.slice(0, 12)

/** The id of an entry's message: an Event has a message for each of its entries. */
export const messageIdOf = ({ model, channelId, seq, entityId }: FeedEntry): string =>
  topicIdOf(model === 'event' ? digest(deliveryIdOf(channelId, seq)) : entityId)

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

/** True for an entry of an Event that leaves its title or its severity to the Event. */
export function needsEvent(entry: FeedEntry): boolean {
  const { model, action } = entry
  if (model !== 'event' || action === 'create' || action === 'close') return false
  const { title, severity } = fieldsOf(entry)
  return title === undefined || severity === undefined
}

/** An entry of the feed as a subscriber reads it; `event`: the present one, if it is needed. */
export function topicMessageOf(entry: FeedEntry, topic: string, event?: Event): TopicMessage {
  const shared = {
    id: messageIdOf(entry),
    time: Math.floor(entry.acceptedAt / 1000),
    event: 'message',
    topic,
  } as const
  if (entry.model !== 'event') return defined({ ...shared, ...ofMessage(entry) })
  const sequence = { sequence_id: sequenceIdOf(entry.entityId) }
  if (entry.action === 'close') return { ...shared, event: 'message_clear', ...sequence }
  return defined({ ...shared, ...ofEvent(entry, event?.fields.values), ...sequence })
}

/** Ids may have colons, which the tool's have not. */
const sequenceIdOf = (eventId: string): string =>
  SEQUENCE_ID.test(eventId) ? eventId : digest(eventId)

function ofEvent(entry: FeedEntry, { title = null, severity = null }: Fields = {}) {
  const fields: Fields = { title, severity, ...fieldsOf(entry) }
  return {
    title: textIn(fields['title']) ?? entry.entityId,
    message: entryText(entry, fields),
    priority: PRIORITY_OF_SEVERITY[entrySeverity(entry, fields)],
    tags: fields['tags'],
    attachment: attachmentOf(imageIn(fields)),
  }
}

function ofMessage(entry: FeedEntry) {
  const fields = fieldsOf(entry)
  const metadata = isRecord(fields['metadata']) ? fields['metadata'] : {}
  const kept = (name: string): unknown => metadata[`${METADATA}${name}`]
  const title = textIn(fields['title'])
  return {
    title,
    message: textIn(fields['body']) ?? title ?? '',
    priority: priorityOf(kept('priority'), fields['severity']),
    tags: fields['tags'],
    click: fields['url'],
    actions: actionsOf(kept('actions'), entry.entityId),
    icon: kept('icon'),
    attachment: attachmentOf(imageIn(fields) ?? textIn(kept('attach')), kept('filename')),
    sequence_id: kept('sequence_id'),
    content_type: kept('markdown') === true ? 'text/markdown' : undefined,
    encoding: kept('encoding'),
  }
}

const fieldsOf = ({ payload }: FeedEntry): Fields => recordFrom(payload) as Fields

const imageIn = ({ images }: Fields): string | undefined =>
  Array.isArray(images) ? textIn((images as readonly unknown[])[0]) : undefined

/** Each with an id, as that style's clients keep them; undefined for none. */
function actionsOf(text: unknown, entityId: string): readonly object[] | undefined {
  const actions = actionsIn(text)
  if (actions.length === 0) return undefined
  return actions.map((action, at) => ({
    id: `${entityId.slice(0, 10)}${at}`,
    clear: false,
    ...action,
  }))
}

const priorityOf = (kept: unknown, severity: unknown): number | undefined => {
  if (typeof kept === 'number') return kept
  return typeof severity === 'string' ? PRIORITY_OF_SEVERITY[severity] : undefined
}

function attachmentOf(url: string | undefined, name?: unknown): object | undefined {
  if (url === undefined) return undefined
  const end = url.split(/[?#]/, 1)[0]?.split('/').at(-1)
  return { name: textIn(name) ?? end ?? '', url }
}
