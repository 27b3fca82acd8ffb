// The bytes of the entities that a channel remembers between turns.

import type { Entity } from '#domain/entity'
import type { Fields, Json } from '#domain/submission'

// What objects take in the heap of V8, rounded up.
const ENTITY_BYTES = 600
const NAME_BYTES = 48
const TEXT_BYTES = 24
const NUMBER_BYTES = 16
const WATCH_BYTES = 300

/**
 * An estimate of the bytes that an entity takes in memory. It follows the size of the values and is
 * within a half of the truth for Things as fleets send them.
 */
export function entityBytes({
  id,
  fields,
  attrs,
  externalIds,
}: Pick<Entity, 'id' | 'fields' | 'attrs' | 'externalIds'>): number {
  let bytes = ENTITY_BYTES + id.length
  for (const { values, times } of [fields, attrs, externalIds]) {
    bytes += fieldsBytes(values)
    for (const _ in times) bytes += NAME_BYTES
  }
  return bytes
}

/** The same for the watches of a Thing. */
export const watchesBytes = ({ size }: ReadonlyMap<string, unknown>): number =>
  TEXT_BYTES + size * WATCH_BYTES

function fieldsBytes(values: Fields): number {
  let bytes = 0
  for (const name in values) {
    bytes += NAME_BYTES + name.length + valueBytes(values[name] ?? null)
  }
  return bytes
}

function valueBytes(value: Json): number {
  if (typeof value === 'string') return TEXT_BYTES + value.length
  if (typeof value === 'number') return NUMBER_BYTES
  if (value === null || typeof value === 'boolean') return 0
  if (!Array.isArray(value)) return TEXT_BYTES + fieldsBytes(value as Fields)
  return (value as readonly Json[]).reduce<number>(
    (bytes, item) => bytes + valueBytes(item) + NUMBER_BYTES,
    TEXT_BYTES,
  )
}
