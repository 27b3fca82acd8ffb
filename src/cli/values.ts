// Reads the texts that users type as values for the gateway.

import { bare } from '#domain/bare'
import type { Fields, Json } from '#domain/submission'
import type { Metadata } from '#src/client/bodies'
import { UsageError } from './endings.ts'
import { BadValue, valued } from './command.ts'
import type { Option } from './command.ts'

/**
 * Reads `key=value` pairs as attrs. A value that is JSON becomes that JSON value, everything else a
 * text; `key=null` removes the key, `key=` sets an empty text. A number that JavaScript cannot hold
 * exactly stays a text.
 */
export function readPairs(pairs: readonly string[]): Fields {
  const attrs = bare<Json>()
  for (const [key, value] of pairs.map(divide)) attrs[key] = readValue(value)
  return attrs
}

function divide(pair: string): readonly [key: string, value: string] {
  const at = pair.indexOf('=')
  // The error does not repeat the text: without a key it may be a secret in the wrong place.
  if (at < 1) throw new UsageError('values are written as key=value')
  return [pair.slice(0, at), pair.slice(at + 1)]
}

/** One value of a pair. */
export function readValue(text: string): Json {
  const parsed = jsonOf(text)
  return parsed === undefined || !isExact(parsed) ? text : parsed
}

function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json // JSON.parse gives nothing else
  } catch {
    return undefined
  }
}

/** False when JavaScript cannot hold a number in it exactly. */
function isExact(value: Json): boolean {
  if (typeof value === 'number') {
    return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
  }
  if (typeof value !== 'object' || value === null) return true
  return Object.values(value).every((inner: Json) => isExact(inner))
}

/** Reads a time: Unix seconds or milliseconds as the gateway reads them, or an ISO 8601 date. */
export function readTimeOption(text: string): number {
  const time = /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : Date.parse(text)
  if (Number.isFinite(time)) return time
  throw new BadValue('a time is Unix seconds or milliseconds, or an ISO 8601 date')
}

/** Reads a whole number within limits. */
export const readWhole =
  (min: number, max: number) =>
  (text: string): number => {
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= min && value <= max) return value
    throw new BadValue(`allowed: a whole number from ${min} to ${max}`)
  }

/** An option with a time. */
export const time = (help: string): Option<number> => valued('<time>', help, readTimeOption)

/** An option with a whole number. */
export const whole = (
  placeholder: string,
  min: number,
  max: number,
  help: string,
): Option<number> => valued(placeholder, help, readWhole(min, max))

/** Reads `key=value` pairs whose values are texts; `key=null` removes the key. */
export function readTexts(pairs: readonly string[]): { readonly [key: string]: string | null } {
  const texts = bare<string | null>()
  for (const [key, value] of pairs.map(divide)) texts[key] = value === 'null' ? null : value
  return texts
}

/** Reads `key=value` pairs of metadata: texts, numbers, true and false. */
export function readMetadata(pairs: readonly string[]): Metadata {
  const metadata = bare<string | number | boolean>()
  for (const [key, text] of pairs.map(divide)) {
    const value = readValue(text)
    metadata[key] = typeof value === 'object' ? text : value
  }
  return metadata
}
