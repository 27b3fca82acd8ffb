// Named values of one request, from its query, its body and its path. Blank ones are absent.

import { storable } from './extras.ts'
import type { Scalar } from './extras.ts'

/** Reads a number as a text too: clients mix `1` and `"1"`. */
export class Given {
  readonly #values = new Map<string, unknown>()

  /** Replaces values of the same names; a blank one replaces nothing. */
  over(entries: Iterable<readonly [name: string, value: unknown]>): this {
    for (const [name, sent] of entries) {
      if (sent === undefined || sent === null) continue
      const value = typeof sent === 'string' ? storable(sent) : sent
      if (typeof value === 'string' && value.trim() === '') continue
      this.#values.set(name, value)
    }
    return this
  }

  has(name: string): boolean {
    return this.#values.has(name)
  }

  value(name: string): unknown {
    return this.#values.get(name)
  }

  /** A text, or a number or boolean as text; trimmed. */
  text(name: string): string | undefined {
    const value = this.#values.get(name)
    if (typeof value === 'string') return value.trim()
    return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
  }

  /** Everything that metadata can hold. */
  *scalars(): IterableIterator<readonly [name: string, value: Scalar]> {
    for (const [name, value] of this.#values) {
      if (typeof value === 'string') yield [name, value.trim()]
      else if (typeof value === 'number' || typeof value === 'boolean') yield [name, value]
    }
  }
}
