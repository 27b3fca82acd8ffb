// Cursors of queries. One holds the part of the channel that is looked at, and the key behind which
// the next page begins; nothing in it is secret.

/**
 * The place of a Thing in an order: numbers stand before texts, those before false and true, and
 * Things without a value last.
 */
export interface Key {
  readonly rank: 0 | 1 | 2 | 3
  readonly value: string | number
  readonly id: string
}

/** The place at which a page begins. */
export interface Place {
  /** Things up to this id belong to an earlier part. */
  readonly after?: string
  /** The last id of this part, when an earlier page has found it. */
  readonly until?: string
  /** The last item of the page before, or the last Thing that it looked at. */
  readonly key?: Key
}

/** The form of a cursor, as long as a key can make it. */
export const PLACE_FORM = 'q[A-Za-z0-9_-]{1,4095}'

const CURSOR = new RegExp(`^${PLACE_FORM}$`)

export function encodePlace({ after = '', until = '', key }: Place): string {
  const parts = [after, until, ...(key === undefined ? [] : [key.rank, key.value, key.id])]
  const bytes = new TextEncoder().encode(JSON.stringify(parts))
  return `q${btoa(String.fromCharCode(...bytes)).replaceAll(/[+/=]/g, (sign) => SIGNS[sign] ?? '')}`
}

const SIGNS: Readonly<Record<string, string>> = { '+': '-', '/': '_' }

/** Reads a cursor; undefined for what is none. */
export function decodePlace(cursor: string): Place | undefined {
  if (!CURSOR.test(cursor)) return undefined
  const parts = partsOf(cursor)
  if (!Array.isArray(parts) || (parts.length !== 2 && parts.length !== 5)) return undefined
  const [after, until, ...rest] = parts as unknown[]
  const key = rest.length === 0 ? undefined : keyFrom(rest)
  const isOurs = typeof after === 'string' && typeof until === 'string'
  if (!isOurs || (rest.length > 0 && key === undefined)) return undefined
  return {
    ...(after !== '' && { after }),
    ...(until !== '' && { until }),
    ...(key !== undefined && { key }),
  }
}

function partsOf(cursor: string): unknown {
  try {
    const binary = atob(cursor.slice(1).replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0))
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}

function keyFrom([rank, value, id]: readonly unknown[]): Key | undefined {
  if (rank !== 0 && rank !== 1 && rank !== 2 && rank !== 3) return undefined
  const isKey = typeof value === (rank === 1 ? 'string' : 'number') && typeof id === 'string'
  return isKey ? { rank, value: value as string | number, id } : undefined
}
