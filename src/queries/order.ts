// The order of a query's Things: the key by which each has its place.
//
// Invariants:
//   order/1. Two keys are never equal, as they end with the id, and a key depends on its Thing
//     alone. So a page that begins behind a key repeats no Thing that stays within the order, and
//     leaves none out.

import type { Json } from '#domain/submission'
import type { Key } from '#domain/things/cursor'
import { attrPath, valueAt } from '#src/rules/conditions'
import type { Sent } from '#src/rules/reading'
import type { ThingFacts } from './facts.ts'

/** What orders Things; a text is compared without case. */
export interface Order {
  readonly by: 'changed' | 'thing_id' | 'title' | 'attr'
  readonly isDescending: boolean
  readonly keyOf: (facts: ThingFacts) => Key
}

/** Characters by which texts are compared: longer cursors would hold whole attrs. */
const COMPARED_MAX = 128

const BY = ['changed', 'thing_id', 'title'] as const

/** Newest change first, as lists have it. */
const NEWEST_FIRST: Order = { by: 'changed', isDescending: true, keyOf: changedKey }

/** Reads an order. Throws Wrong. */
export function readOrder(sent: Sent): Order {
  if (sent.isAbsent) return NEWEST_FIRST
  const { by, descending } = sent.members(['by', 'descending'])
  const isDescending = !descending.isAbsent && descending.boolean()
  if (typeof by.value === 'object' && by.value !== null) {
    const valueIn = valueAt(attrPath(by.members(['attr']).attr))
    return { by: 'attr', isDescending, keyOf: ({ id, attrs }) => keyOf(valueIn(attrs), id) }
  }
  const name = BY.find((known) => known === by.value)
  if (name === undefined) return by.wrong(`must be one of ${BY.join(', ')}, or {attr}`)
  return { by: name, isDescending, keyOf: KEYS[name] }
}

function changedKey({ seq, id }: ThingFacts): Key {
  return { rank: 0, value: seq, id }
}

const KEYS: Readonly<Record<(typeof BY)[number], Order['keyOf']>> = {
  changed: changedKey,
  thing_id: ({ id }) => ({ rank: 1, value: id, id }),
  title: ({ title, id }) => keyOf(title, id),
}

function keyOf(value: Json | undefined, id: string): Key {
  if (typeof value === 'number') return { rank: 0, value, id }
  if (typeof value === 'boolean') return { rank: 2, value: Number(value), id }
  if (typeof value !== 'string') return { rank: 3, value: 0, id }
  return { rank: 1, value: value.slice(0, COMPARED_MAX).toLowerCase(), id }
}

/** Negative when the first one stands before the second. */
export function compare(one: Key, other: Key, isDescending: boolean): number {
  if (one.rank !== other.rank) return one.rank - other.rank
  if (one.value !== other.value) return one.value < other.value === isDescending ? 1 : -1
  return one.id < other.id ? -1 : Number(one.id > other.id) // order/1
}

/** False for a key that this order never makes: its cursor came from another one. */
export function isKeyOf({ by }: Order, key: Key | undefined): boolean {
  if (key === undefined || by === 'attr') return true
  return by === 'changed' ? key.rank === 0 && Number.isSafeInteger(key.value) : key.rank === 1
}
