// Reads what devices publish: text, JSON, single values, and times.
//
// Invariants:
//   payload/1. A time that no clock of a device that knows the time shows counts as absent: one
//              without an offset, one before 2001, one more than a day ahead.
//   payload/2. Names that a device chose go into records without a prototype.
//   payload/3. Names that are made of others take a bounded multiple of the bytes of their payload,
//              and no more are made than one submission holds, by which it is refused.

import { fault, isFault } from '#domain/fault'
import type { Answer } from '#domain/ports'
import { bare, isRecord, isSafeText, UNSAFE_RULE } from '#domain/record'
import { readJson } from '#src/schemas/json/json'
import { invalid } from '#src/schemas/values'

export type JsonObject = Readonly<Record<string, unknown>>

const decoder = new TextDecoder('utf-8', { fatal: true })

/** The text of a payload; refused when it is not UTF-8 or holds what no text may hold. */
export function readPayloadText(payload: Uint8Array): Answer<string> {
  try {
    const text = decoder.decode(payload)
    return isSafeText(text) ? text : invalid('payload', UNSAFE_RULE)
  } catch {
    return invalid('payload', 'must be text in UTF-8')
  }
}

/** The JSON value of a payload; the refusal names the payload. */
export function readPayloadJson(payload: Uint8Array): Answer<unknown> {
  const value = readJson(payload)
  return isFault(value) ? invalid('payload', 'must be JSON in UTF-8') : value
}

/** The JSON object of a payload; the refusal names the payload. */
export function readPayloadObject(payload: Uint8Array): Answer<JsonObject> {
  const value = readPayloadJson(payload)
  if (isFault(value) || isRecord(value)) return value
  return fault('invalid_json_data', { field: 'payload', detail: 'payload must be a JSON object' })
}

/** A value of an attr in a payload of its own; null removes the attr. */
export type Scalar = string | number | boolean | null

const WORDS: ReadonlyMap<string, boolean> = new Map([
  ['on', true],
  ['online', true],
  ['true', true],
  ['off', false],
  ['offline', false],
  ['false', false],
])

/** Words that devices write for a truth value, as such; any other text as it is. */
export const truthOrText = (text: string): string | boolean => WORDS.get(text.toLowerCase()) ?? text

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i
const UNKNOWN = /^[+-]?nan$/i

/**
 * One value in plain text, as an attr takes it: a truth value, a number, or text; null, which
 * removes the attr, for an empty one and for `nan`. A whole number that a double cannot carry stays
 * text.
 */
export function scalarOf(sent: string): Scalar {
  const text = sent.trim()
  if (text === '' || UNKNOWN.test(text)) return null
  if (!NUMBER.test(text)) return truthOrText(text)
  const value = Number(text)
  const isExact = Number.isSafeInteger(value) || /[.e]/i.test(text)
  return Number.isFinite(value) && isExact ? value : text
}

const notScalar = fault('invalid_json_data', {
  field: 'payload',
  detail: 'payload must be a text, a number, true, false or null',
})

/**
 * One value in text or JSON: a JSON text loses its quotes, and `null` removes the attr. A list or
 * an object is refused; what only begins as one is text.
 */
export function readScalar(payload: Uint8Array): Answer<Scalar> {
  const text = readPayloadText(payload)
  if (isFault(text)) return text
  const trimmed = text.trim()
  if (trimmed === 'null') return null
  if (!/^["[{]/.test(trimmed)) return scalarOf(trimmed)
  const value = readJson(payload)
  if (isFault(value)) return trimmed
  if (typeof value !== 'string') return notScalar
  return isSafeText(value) ? value : invalid('payload', UNSAFE_RULE)
}

/** A JSON object, or one value. */
export function readScalarOrObject(payload: Uint8Array): Answer<Scalar | JsonObject> {
  return beginsAsObject(payload) ? readPayloadObject(payload) : readScalar(payload)
}

/** True for a payload whose first character is that of a JSON object. */
export const beginsAsObject = (payload: Uint8Array): boolean =>
  payload.find((byte) => !WHITE_SPACE.includes(byte)) === BRACE
const WHITE_SPACE = [0x20, 0x09, 0x0a, 0x0d]
const BRACE = '{'.charCodeAt(0)

// Objects deeper or with longer names are values. Without the latter, a long name around many
// members would be repeated by each: 32 KiB of payload would be 50 MB of names.
const DEPTH_MAX = 8
const NAME_CHARACTERS_MAX = 128
/** Twice the bytes of a submission, which is refused with fewer. (translate/1) */
const NAMES_CHARACTERS_MAX = 65_536

/**
 * Attrs of a JSON object: those of objects within it have the names of all levels, parted by dots,
 * so that a later publish of one value leaves its neighbours alone. Lists are values, and undefined
 * members are left out.
 */
export function flattened(
  value: JsonObject,
  {
    prefix = '',
    text = (sent) => sent,
  }: { readonly prefix?: string; readonly text?: (sent: string) => string | boolean } = {},
): Record<string, unknown> {
  const attrs = bare<unknown>() // payload/2
  let characters = 0
  const visit = (object: JsonObject, before: string, depth: number): void => {
    for (const [name, member] of Object.entries(object)) {
      if (member === undefined) continue
      if (characters > NAMES_CHARACTERS_MAX) return // payload/3
      const key = before + name
      characters += key.length
      const isShort = depth < DEPTH_MAX && key.length < NAME_CHARACTERS_MAX // payload/3
      if (isRecord(member) && isShort) visit(member, `${key}.`, depth + 1)
      else attrs[key] = typeof member === 'string' ? text(member) : member
    }
  }
  visit(value, prefix, 1)
  return attrs
}

/** The value that a path of names leads to; undefined when there is none. */
export const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (within, name) => (isRecord(within) && Object.hasOwn(within, name) ? within[name] : undefined),
    value,
  )

/** Below this, a number of milliseconds is a clock that was never set. 9 September 2001. */
const EARLIEST_MS = 1_000_000_000_000
const AHEAD_MAX_MS = 86_400_000
const WITH_OFFSET = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/i

/**
 * The time that a device says, in whole Unix milliseconds: of a date with an offset, or of a number
 * in seconds or milliseconds. The time of arrival when it is absent or unusable. (payload/1)
 */
export function timeOf(sent: unknown, receivedAtMs: number): number {
  const ms = typeof sent === 'number' ? millisecondsOf(sent) : parsedTime(sent)
  return ms >= EARLIEST_MS && ms <= receivedAtMs + AHEAD_MAX_MS ? Math.floor(ms) : receivedAtMs
}

const millisecondsOf = (value: number): number =>
  value < EARLIEST_MS ? Number(`${value}e3`) : value

/** NaN for anything but a date with an offset. */
function parsedTime(sent: unknown): number {
  if (typeof sent !== 'string' || !WITH_OFFSET.test(sent.trim())) return NaN
  return Date.parse(sent.trim().replace(/([+-]\d\d)(\d\d)$/, '$1:$2'))
}
