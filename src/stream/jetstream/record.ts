// Checks JSON from a server or another node, whose form is unknown.

/** Gives the value as a record; undefined when it is none. */
export const recordOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined
