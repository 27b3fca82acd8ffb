// The entities that a channel remembers between turns, bounded in bytes.
//
// Invariants:
//   channel/3. The memory of entities is bounded: the channel forgets the least recently touched
//     first, and between turns only. So at its turn it still has every entity that the turn did not
//     load because `isKnown` was true.

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
    if (times !== undefined) bytes += Object.keys(times).length * NAME_BYTES
  }
  return bytes
}

/** The same for the watches of a Thing. */
export const watchesBytes = ({ size }: ReadonlyMap<string, unknown>): number =>
  TEXT_BYTES + size * WATCH_BYTES

function fieldsBytes(values: Fields): number {
  let bytes = 0
  for (const name of Object.keys(values)) {
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

/** An item, and the bytes that it takes. */
interface Sized<Item> {
  readonly item: Item
  readonly bytes: number
}

/** Items by id, the least recently touched first, with the bytes that they take. */
export class Remembered<Item> {
  readonly #items = new Map<string, Sized<Item>>()
  #bytes = 0

  get size(): number {
    return this.#items.size
  }

  get bytes(): number {
    return this.#bytes
  }

  get(id: string): Item | undefined {
    return this.#items.get(id)?.item
  }

  has(id: string): boolean {
    return this.#items.has(id)
  }

  keys(): Iterable<string> {
    return this.#items.keys()
  }

  /** Remembers items as the most recently touched; `sizes` has the bytes of each, in order. */
  touch(touched: ReadonlyMap<string, Item>, sizes: readonly number[]): void {
    let at = 0
    for (const [id, item] of touched) {
      const bytes = sizes[at] ?? 0
      at += 1
      this.#forget(id)
      this.#items.set(id, { item, bytes })
      this.#bytes += bytes
    }
  }

  /** channel/3: forgets the least recently touched beyond so many bytes. */
  forgetBeyond(bytesMax: number): void {
    for (const id of this.#items.keys()) {
      if (this.#bytes <= bytesMax) break
      this.#forget(id)
    }
  }

  #forget(id: string): void {
    const kept = this.#items.get(id)
    if (kept === undefined) return
    this.#items.delete(id)
    this.#bytes -= kept.bytes
  }
}
