// Bytes to JSON.
//
// Invariants:
//   J1. Nothing that a caller sends can be taken for a fault of the gateway. (isFault looks at
//       `kind`.)

import { fault, isFault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { Json } from '#domain/submission'

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * The value of a JSON text in strict UTF-8 (a byte order mark is allowed), or invalid_json_syntax.
 * Of a repeated member the last one counts, as in JSON.parse. No request has a member `kind`;
 * where it says `fault` it is left out.
 */
export function readJson(bytes: Uint8Array): Answer<unknown> {
  let value: unknown
  try {
    value = JSON.parse(decoder.decode(bytes))
  } catch {
    return fault('invalid_json_syntax') // What the parser says would quote the caller's text.
  }
  if (!isFault(value)) return value
  const { kind: _, ...rest } = value // J1
  return rest
}

/** What JSON.parse gives, by its type. Throws a SyntaxError for what is no JSON. */
export function parseJson(text: string): Json {
  return JSON.parse(text) as Json
}
