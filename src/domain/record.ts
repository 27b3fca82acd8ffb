// JSON that callers make: objects, whose keys they choose, and texts. (decisions.md 3)

// A constructor whose prototype is an empty object without a prototype of its own: its instances
// inherit nothing, and unlike those of Object.create(null) they keep the engine's fast shape, which
// halves the cost of writing them as JSON.
const Bare = function Bare(): void {} as unknown as new () => object
Reflect.set(Bare, 'prototype', Object.freeze(Object.create(null)))

/** An object that inherits nothing: `__proto__` and the like are plain data. (decisions.md 3) */
export function bare<Value>(): Record<string, Value> {
  return new Bare() as Record<string, Value>
}

/** Returns the value of a JSON text; undefined for any other text. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** True for a JSON object: neither a list nor null. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the value as a JSON object; undefined when it is none. */
export const recordOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  isRecord(value) ? value : undefined

/** Returns the value as a text; undefined when it is none. */
export const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined

/** Returns the value as a number; undefined when it is none. */
export const numberIn = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : undefined

/** Members of which those that may be undefined are absent then. */
export type Defined<Members> = {
  readonly [Name in keyof Members as undefined extends Members[Name] ? never : Name]: Members[Name]
} & {
  readonly [Name in keyof Members as undefined extends Members[Name] ? Name : never]?: Exclude<
    Members[Name],
    undefined
  >
}

/** Returns the members without those that are undefined. */
export function defined<Members extends object>(members: Members): Defined<Members> {
  const pairs = Object.entries(members).filter(([, value]) => value !== undefined)
  return Object.fromEntries(pairs) as Defined<Members> // Undefined members were just left out.
}

/** Returns a member of anything, also an inherited one; undefined where there is none. */
export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

/** True for a whole number from 0 that a double carries exactly: a seq, a time, a count. */
export const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0

/** Returns the object that a JSON text holds; an empty one for any other text. */
export const recordFrom = (text: string): Readonly<Record<string, unknown>> =>
  recordOf(jsonOf(text)) ?? {}

/** The rule that other texts break; it completes "<field> …". */
export const UNSAFE_RULE = 'must not hold NUL or half a surrogate pair'

/**
 * True for text that can be kept: a lone half of a surrogate pair has no UTF-8 form, and a NUL
 * character ends the text for many readers.
 */
export const isSafeText = (text: string): boolean => text.isWellFormed() && !text.includes('\0')
