// Reads the request of a subscriber of the topic style.

import { fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { TopicMessage } from './messages.ts'
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
    if (message.event !== 'message') return true
    if (exact.some((name) => message[name] !== parameters(name))) return false
    const priority = String(message.priority ?? 3)
    if (priorities.length > 0 && !priorities.includes(priority)) return false
    const given = message['tags']
    return tags.every((tag) => Array.isArray(given) && given.includes(tag))
  }
}
