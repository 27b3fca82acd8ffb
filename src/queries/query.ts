// A query of Things, read and compiled. (Specification: History and fleets, Query)

import { fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import { isRecord } from '#domain/record'
import { readCondition } from '#src/rules/conditions'
import type { Condition } from '#src/rules/conditions'
import { RULE_BYTES_MAX } from '#src/rules/read-rule'
import { Sent, Wrong } from '#src/rules/reading'
import { decodePlace } from '#domain/things/cursor'
import type { Place } from '#domain/things/cursor'
import type { ThingFacts } from './facts.ts'
import { THING_FORMS } from './forms.ts'
import { readGrouping } from './groups.ts'
import type { Grouping } from './groups.ts'
import { isKeyOf, readOrder } from './order.ts'
import type { Order } from './order.ts'

export interface ThingQuery {
  readonly where: Condition<ThingFacts> | undefined
  /** How the ids of all Things that it asks for begin. */
  readonly prefix: string
  /** False when it asks for no state: then deleted Things are left out. */
  readonly namesState: boolean
  readonly order: Order
  readonly place: Place
  readonly isCounted: boolean
  readonly grouping: Grouping | undefined
}

/** The members of a request that make a query, of any JSON. */
export interface SentQuery {
  readonly where?: unknown
  readonly order?: unknown
  readonly cursor?: unknown
  readonly count?: unknown
  readonly group_by?: unknown
  readonly aggregate?: unknown
}

/** Reads a query; the fault names the path of the first wrong member. */
export function readQuery(sent: SentQuery): Answer<ThingQuery> {
  try {
    return queryFrom(sent)
  } catch (error) {
    if (!(error instanceof Wrong)) throw error
    const { path, rule } = error
    return fault('validation_failed', { field: path, detail: `${path}: ${rule}` })
  }
}

function queryFrom(sent: SentQuery): Answer<ThingQuery> {
  const member = (name: keyof SentQuery): Sent => new Sent(sent[name], name)
  const where = member('where')
  const cursor = typeof sent.cursor === 'string' ? sent.cursor.trim() : ''
  const query = {
    where: where.isAbsent ? undefined : conditionOf(where),
    prefix: prefixIn(sent.where),
    namesState: namesState(sent.where),
    order: readOrder(member('order')),
    isCounted: sent.count === true,
    grouping: readGrouping(member('group_by'), member('aggregate')),
  }
  const place = cursor === '' ? {} : decodePlace(cursor)
  return place === undefined || !isKeyOf(query.order, place.key)
    ? fault('invalid_cursor', { field: 'cursor' })
    : { ...query, place }
}

function conditionOf(sent: Sent): Condition<ThingFacts> {
  if (new TextEncoder().encode(JSON.stringify(sent.value)).length > RULE_BYTES_MAX) {
    return sent.wrong(`must be at most ${RULE_BYTES_MAX} bytes of JSON`)
  }
  return readCondition(sent, THING_FORMS)
}

// The condition was read, so its form is known.

/** How the ids begin of all for which a condition may hold; an empty text says nothing. */
function prefixIn(where: unknown): string {
  if (!isRecord(where)) return ''
  const { prefix, all } = where
  if (typeof prefix === 'string') return prefix
  const inner = Array.isArray(all) ? all.map(prefixIn) : []
  return inner.reduce((longest, one) => (one.length > longest.length ? one : longest), '')
}

function namesState(where: unknown): boolean {
  if (Array.isArray(where)) return where.some(namesState)
  if (!isRecord(where)) return false
  const { state, all, any, not } = where
  return state !== undefined || [all, any, not].some(namesState)
}
