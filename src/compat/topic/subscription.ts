// Reads the request of a subscriber of the topic style, and writes Messages in its form.

import { fault } from '#domain/fault'
import type { FeedEntry } from '#domain/feed'
import { actionsIn } from '#src/schemas/fields/message-actions'
import type { Answer } from '#domain/ports'
import { isRecord } from '#domain/record'
import { parseJson } from '#src/schemas/json/json'
import { present } from '#src/compat/extras'
import { isYes } from './parameters.ts'
import type { TopicParameters } from './parameters.ts'

/**
 * The place from which the feed is read: its beginning, its end, its last message, a message, a
 * time.
 */
export type Since =
  | { readonly kind: 'all' | 'none' | 'latest' }
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'time'; readonly ms: number }

export interface Subscription {
  readonly since: Since
  /** True for a stream that ends with the messages that are there. */
  readonly isPoll: boolean
  readonly accepts: (message: TopicMessage) => boolean
}

/** A message as subscribers read it, under the names of the tool. */
export type TopicMessage = Readonly<Record<string, unknown>> & {
  readonly id: string
  readonly event: string
  readonly message: string
  readonly priority?: number
}

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** The subscription that the parameters describe; validation_failed naming since. */
export function readSubscription(parameters: TopicParameters, nowMs: number): Answer<Subscription> {
  const isPoll = isYes(parameters('poll'))
  const since = readSince(parameters('since'), { isPoll, nowMs })
  if (since === undefined) {
    const detail = 'since must be all, none, latest, a message id, Unix seconds or a duration'
    return fault('validation_failed', { field: 'since', detail })
  }
  return { since, isPoll, accepts: filterOf(parameters) }
}

function readSince(
  sent: string,
  { isPoll, nowMs }: { readonly isPoll: boolean; readonly nowMs: number },
): Since | undefined {
  if (sent === '') return { kind: isPoll ? 'all' : 'none' }
  if (sent === 'all' || sent === 'none' || sent === 'latest') return { kind: sent }
  const [, amount, unit = ''] = /^(\d{1,9})([smhd])$/.exec(sent) ?? []
  if (amount !== undefined)
    return { kind: 'time', ms: nowMs - Number(amount) * (UNIT_MS[unit] ?? 0) }
  if (/^\d{1,11}$/.test(sent)) return { kind: 'time', ms: Number(sent) * 1000 }
  return /^[A-Za-z0-9]{12}$/.test(sent) ? { kind: 'id', id: sent } : undefined
}

const PRIORITY_OF_NAME: Readonly<Record<string, string>> = {
  min: '1',
  low: '2',
  default: '3',
  high: '4',
  max: '5',
  urgent: '5',
}

const itemsOf = (list: string): readonly string[] =>
  list.split(',').flatMap((item) => item.trim() || [])

function filterOf(parameters: TopicParameters): Subscription['accepts'] {
  const exact = (['id', 'message', 'title'] as const).filter((name) => parameters(name) !== '')
  const priorities = itemsOf(parameters('priority')).map(
    (item) => PRIORITY_OF_NAME[item.toLowerCase()] ?? item,
  )
  const tags = itemsOf(parameters('tags'))
  return (message) => {
    if (exact.some((name) => message[name] !== parameters(name))) return false
    const priority = String(message.priority ?? 3)
    if (priorities.length > 0 && !priorities.includes(priority)) return false
    const given = message['tags']
    return tags.every((tag) => Array.isArray(given) && given.includes(tag))
  }
}

const PRIORITY_OF_SEVERITY: Readonly<Record<string, number>> = { critical: 5, high: 4, low: 2 }
const METADATA = 'compat.topic.'

/** Twelve letters and digits, as long as the tool's own. */
export const topicIdOf = (entityId: string): string => entityId.slice(0, 12)

/** An entry of the feed as a subscriber reads it. */
export function topicMessageOf(entry: FeedEntry, topic: string): TopicMessage {
  const parsed = parseJson(entry.payload)
  const fields: Readonly<Record<string, unknown>> = isRecord(parsed) ? parsed : {}
  const metadata = isRecord(fields['metadata']) ? fields['metadata'] : {}
  const kept = (name: string): unknown => metadata[`${METADATA}${name}`]
  const title = fields['title']
  const [image] = Array.isArray(fields['images']) ? (fields['images'] as readonly unknown[]) : []
  const attachment = image ?? kept('attach')
  const text = fields['body'] ?? title
  return present({
    id: topicIdOf(entry.entityId),
    time: Math.floor(entry.acceptedAt / 1000),
    event: 'message',
    topic,
    title: typeof title === 'string' ? title : undefined,
    message: typeof text === 'string' ? text : '',
    priority: priorityOf(kept('priority'), fields['severity']),
    tags: fields['tags'],
    click: fields['url'],
    actions: actionsOf(kept('actions'), entry.entityId),
    icon: kept('icon'),
    attachment: attachment === undefined ? undefined : attachmentOf(attachment, kept('filename')),
    sequence_id: kept('sequence_id'),
    content_type: kept('markdown') === true ? 'text/markdown' : undefined,
    encoding: kept('encoding'),
  })
}

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

const attachmentOf = (url: unknown, name: unknown): object => ({
  name:
    typeof name === 'string' ? name : (String(url).split(/[?#]/, 1)[0]?.split('/').at(-1) ?? ''),
  url,
})
