// Reads JSON of a node without trust in its form.

export type Members = Readonly<Record<string, unknown>>

/** The members of an object; undefined when it is none. */
export function membersOf(value: unknown): Members | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as Members) : undefined // An object's members are known by name only.
}

/** The value; undefined when the text is no JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
