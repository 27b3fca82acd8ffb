// Reads the request of a subscriber of the topic style.

import { UNIT_MS } from '#domain/runtime'
import type { Unit } from '#domain/runtime'
import type { Answer } from '#domain/ports'
import { invalid } from '#src/schemas/values'
import type { TopicMessage } from './messages.ts'
import { isYes } from './parameters.ts'
import { priorityNamed } from './publication.ts'
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

/** The subscription that the parameters describe; validation_failed naming since. */
export function readSubscription(parameters: TopicParameters, nowMs: number): Answer<Subscription> {
  const isPoll = isYes(parameters('poll'))
  const since = readSince(parameters('since'), { isPoll, nowMs })
  if (since === undefined) {
    return invalid('since', 'must be all, none, latest, a message id, Unix seconds or a duration')
  }
  return { since, isPoll, accepts: filterOf(parameters) }
}

function readSince(
  sent: string,
  { isPoll, nowMs }: { readonly isPoll: boolean; readonly nowMs: number },
): Since | undefined {
  if (sent === '') return { kind: isPoll ? 'all' : 'none' }
  if (sent === 'all' || sent === 'none' || sent === 'latest') return { kind: sent }
  const [, amount, unit] = /^(\d{1,9})([smhd])$/.exec(sent) ?? []
  if (amount !== undefined)
    return { kind: 'time', ms: nowMs - Number(amount) * UNIT_MS[unit as Unit] }
  if (/^\d{1,11}$/.test(sent)) return { kind: 'time', ms: Number(sent) * 1000 }
  return /^[A-Za-z0-9]{12}$/.test(sent) ? { kind: 'id', id: sent } : undefined
}

const itemsOf = (list: string): readonly string[] =>
  list.split(',').flatMap((item) => item.trim() || [])

function filterOf(parameters: TopicParameters): Subscription['accepts'] {
  const exact = (['id', 'message', 'title'] as const).filter((name) => parameters(name) !== '')
  const priorities = itemsOf(parameters('priority')).map((item) =>
    String(priorityNamed(item) ?? item),
  )
  const tags = itemsOf(parameters('tags'))
  return (message) => {
    if (message.event !== 'message') return true
    if (exact.some((name) => message[name] !== parameters(name))) return false
    const priority = String(message.priority ?? 3)
    if (priorities.length > 0 && !priorities.includes(priority)) return false
    const given = message['tags']
    return tags.every((tag) => Array.isArray(given) && given.includes(tag))
  }
}
