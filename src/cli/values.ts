// Reads the texts that users type as values for the gateway, and makes options of declared fields.

import { jsonOf } from '#domain/record'
import type { Fields, Json } from '#domain/submission'
import type { Metadata } from '#src/client/bodies'
import type { SentFields } from '#src/schemas/fields/field-schemas'
import { fieldsOf } from '#src/schemas/fields/submission-fields'
import type { Field, FieldKind, Fields as Declared } from '#src/schemas/fields/submission-fields'
import { UsageError } from './endings.ts'
import { BadValue, choice, text, texts, valued } from './command.ts'
import type { Option, Options } from './command.ts'

/**
 * Reads `key=value` pairs as attrs. A value that is JSON becomes that JSON value, everything else a
 * text; `key=null` removes the key, `key=` sets an empty text. A number that JavaScript cannot hold
 * exactly stays a text. `hint` ends the error for what is no pair.
 */
export function readPairs(pairs: readonly string[], hint = ''): Fields {
  const divided = pairs.map((pair) => divide(pair, hint))
  return Object.fromEntries(divided.map(([key, value]) => [key, readValue(value)]))
}

function divide(pair: string, hint: string): readonly [key: string, value: string] {
  const at = pair.indexOf('=')
  // The errors do not repeat the text: without a key it may be a secret in the wrong place.
  if (at < 1) throw new UsageError(`values are written as key=value${hint}`)
  if (pair[at + 1] === '=') {
    throw new UsageError('values are written with one =; a text that begins with it is key="=…"')
  }
  return [pair.slice(0, at), pair.slice(at + 1)]
}

/** One value of a pair. */
export function readValue(typed: string): Json {
  const parsed = jsonOf(typed) as Json | undefined // JSON.parse gives nothing else
  return parsed === undefined || !isExact(parsed) ? typed : parsed
}

/** False when JavaScript cannot hold a number in it exactly. */
function isExact(value: Json): boolean {
  if (typeof value === 'number') {
    return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
  }
  if (typeof value !== 'object' || value === null) return true
  return Object.values(value).every((inner: Json) => isExact(inner))
}

/**
 * Reads a time: Unix seconds or milliseconds as the gateway reads them, or an ISO 8601 date.
 * `others`: what else its option takes.
 */
export function readTimeOption(typed: string, others = ''): number {
  const trimmed = typed.trim()
  // Date.parse makes a day of 2001 out of any text that ends in a number.
  const date = /^\d{4}-/.test(trimmed) ? Date.parse(trimmed) : NaN
  const time = /^\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : date
  if (Number.isFinite(time)) return time
  throw new BadValue(`a time is ${others}Unix seconds or milliseconds, or an ISO 8601 date`)
}

/** Reads a whole number within limits. */
export const readWhole =
  (min: number, max: number) =>
  (typed: string): number => {
    const value = Number(typed)
    if (/^\d+$/.test(typed) && value >= min && value <= max) return value
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
  const divided = pairs.map((pair) => divide(pair, ''))
  return Object.fromEntries(divided.map(([key, value]) => [key, value === 'null' ? null : value]))
}

/** Reads `key=value` pairs of metadata: texts, numbers, true and false. */
export function readMetadata(pairs: readonly string[]): Metadata {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [key, sent] = divide(pair, '')
      const value = readValue(sent)
      return [key, typeof value === 'object' ? sent : value]
    }),
  )
}

/** Reads steps to escalate, written as `after:level` or `after:level:severity`; `none` is null. */
export function readSteps(typed: readonly string[]): readonly Json[] | null {
  if (typed.length === 1 && typed[0] === 'none') return null
  return typed.map((step) => {
    const [, after, level, severity] = /^(\w+):(\d+)(?::(\w+))?$/.exec(step) ?? []
    if (after === undefined) throw new UsageError('steps are written as 30m:1 or 30m:1:critical')
    return { after, level: Number(level), ...(severity !== undefined && { severity }) }
  })
}

/** The options for the declared fields that an action takes, by their names. */
export const optionsOf = (declared: Declared, action: string): Options =>
  Object.fromEntries(
    fieldsOf(declared, action).flatMap(([name, field]) =>
      field.option === undefined ? [] : [[optionKey(name, field), optionOf(field, field.option)]],
    ),
  )

/** `primaryImage` of `primary_image`, unless the field names its option. */
const optionKey = (name: string, { optionName }: Field): string =>
  optionName ?? name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

const LISTS: readonly FieldKind[] = ['texts', 'limited-texts', 'keyed', 'scalars', 'steps']

function optionOf(field: Field, placeholder: string): Option<unknown> {
  const { kind, description, choices = [] } = field
  const words = description.replace(/\.$/, '')
  const help = field.help ?? `${words.slice(0, 1).toLowerCase()}${words.slice(1)}`
  if (LISTS.includes(kind)) return texts(placeholder, help)
  if (kind === 'time') return time(help)
  if (kind === 'word') return choice(placeholder, choices, help)
  return text(placeholder, help)
}

/** The members of a body that the options of its fields give. */
export function membersOf<Named extends Declared, Action extends string>(
  declared: Named,
  action: Action,
  options: Readonly<Record<string, unknown>>,
): SentFields<Named, Action> {
  const members = fieldsOf(declared, action).flatMap(([name, field]) => {
    const value = field.option === undefined ? undefined : options[optionKey(name, field)]
    return value === undefined ? [] : [[name, memberOf(field.kind, value)] as const]
  })
  return Object.fromEntries(members) as never // Each option reads the type of its field.
}

function memberOf(kind: FieldKind, value: unknown): unknown {
  if (kind === 'keyed') return readTexts(value as readonly string[])
  if (kind === 'steps') return readSteps(value as readonly string[])
  return kind === 'scalars' ? readMetadata(value as readonly string[]) : value
}
