// Checks JSON from a server or another node, whose form is unknown.

/** Returns the value as a record; undefined when it is none. */
export const recordOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined

/** Returns the value of a JSON text; undefined for any other text. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the record that a JSON text holds; an empty one for any other text. */
export const recordFrom = (text: string): Readonly<Record<string, unknown>> =>
  recordOf(jsonOf(text)) ?? {}
