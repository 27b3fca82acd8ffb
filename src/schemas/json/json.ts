// Reads JSON from bytes.

import { fault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import type { Json } from '#domain/submission'

import { mayHoldAlteredNumber, parseExactly } from './exact-json.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * The value of a JSON text in strict UTF-8 (a byte order mark is allowed), or invalid_json_syntax.
 * The last one of a repeated member counts, as in JSON.parse; a whole number that a double cannot
 * carry is NaN (exact-json/1).
 */
export function readJson(bytes: Uint8Array): Answer<unknown> {
  try {
    const text = decoder.decode(bytes)
    const value: unknown = mayHoldAlteredNumber(bytes) ? parseExactly(text) : JSON.parse(text)
    return value
  } catch {
    return fault('invalid_json_syntax') // The parser's error would quote the caller's text.
  }
}

/** JSON.parse with a type. Throws a SyntaxError for a text that is not JSON. */
export function parseJson(text: string): Json {
  return JSON.parse(text) as Json
}
