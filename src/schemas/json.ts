// Bytes to JSON.

import { fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { Json } from '#domain/submission'

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * The value of a JSON text in strict UTF-8 (a byte order mark is allowed), or invalid_json_syntax.
 * Of a repeated member the last one counts, as in JSON.parse.
 */
export function readJson(bytes: Uint8Array): Answer<unknown> {
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes))
    return value
  } catch {
    return fault('invalid_json_syntax') // What the parser says would quote the caller's text.
  }
}

/** What JSON.parse gives, by its type. Throws a SyntaxError for what is no JSON. */
export function parseJson(text: string): Json {
  return JSON.parse(text) as Json
}
