// Makes a Thing update of the columns of a row.

import { bare, isRecord } from '#domain/record'
import { parseThingId } from '#domain/identity'
import type { Fields, Json } from '#domain/submission'
import type { ThingUpdateBody } from '#src/client/bodies'
import { UsageError } from '#src/cli/endings'
import { readTimeOption } from '#src/cli/values'
import { BadValue } from '#src/cli/command'

export interface Mapping {
  /** The column with the thing_id; a path with dots in JSON. */
  readonly thing: string
  /** All rows are about this Thing. */
  readonly thingId: string | undefined
  /** The column with the time of the values. */
  readonly time: string
  /** The column with the title; none when it is undefined. */
  readonly title: string | undefined
  /** Attr keys by their columns; undefined: every other column, under its own name. */
  readonly attrs: ReadonlyMap<string, string> | undefined
  readonly skip: ReadonlySet<string>
}

export type Update = Omit<ThingUpdateBody, 'channel_id' | 'password'>

export type Mapped = { readonly update: Update } | { readonly problem: string }

/** `column` or `column=key` of --attr. Throws UsageError. */
export function readAttrs(given: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    given.map((text) => {
      const [column = '', key = column] = text.split('=', 2)
      if (column === '' || key === '') throw new UsageError('--attr: write column, or column=key')
      return [column, key]
    }),
  )
}

/** The update of a row, or the problem of a row that cannot become one. */
export function mapped(fields: Fields, mapping: Mapping, nowMs: number): Mapped {
  const thingId = parseThingId(mapping.thingId ?? textOf(valueAt(fields, mapping.thing)))
  if (thingId === undefined) {
    return { problem: `${mapping.thing}: a thing_id is 1 to 64 of letters, digits and _ : -` }
  }
  const observedAt = timeOf(valueAt(fields, mapping.time), nowMs)
  if (observedAt === undefined) {
    return {
      problem: `${mapping.time}: a time is Unix seconds or milliseconds, or an ISO 8601 date`,
    }
  }
  const title = mapping.title === undefined ? '' : textOf(valueAt(fields, mapping.title))
  const attrs = attrsOf(fields, mapping)
  if (title === '' && Object.keys(attrs).length === 0) return { problem: 'the row has no values' }
  const named = title === '' ? {} : { title }
  return { update: { thing_id: thingId, observed_at: observedAt, ...named, attrs } }
}

function attrsOf(fields: Fields, mapping: Mapping): Fields {
  const attrs = bare<Json>()
  if (mapping.attrs !== undefined) {
    for (const [column, key] of mapping.attrs) {
      const value = valueAt(fields, column)
      if (value !== undefined) attrs[key] = value
    }
    return attrs
  }
  const { attrs: own } = fields
  // A row in the form of the gateway has its attrs in one place.
  const all = isRecord(own) ? own : without(fields, [mapping.thing, mapping.time, mapping.title])
  for (const [key, value] of Object.entries(all)) {
    if (!mapping.skip.has(key)) attrs[key] = value
  }
  return attrs
}

const without = (fields: Fields, columns: readonly (string | undefined)[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([column]) => !columns.includes(column)))

/** The value of the column, or where no column has this name, of a path with dots. */
function valueAt(fields: Fields, path: string): Json | undefined {
  if (Object.hasOwn(fields, path)) return fields[path]
  let value: Json | undefined = fields
  for (const name of path.split('.')) {
    value = isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined
  }
  return value
}

const textOf = (value: Json | undefined): string => {
  if (typeof value === 'string') return value.trim()
  return typeof value === 'number' ? String(value) : ''
}

/** The time of a row, now where it has none; undefined for a value that is no time. */
function timeOf(value: Json | undefined, nowMs: number): number | undefined {
  if (value === undefined || value === null) return nowMs
  try {
    return readTimeOption(textOf(value))
  } catch (error) {
    if (error instanceof BadValue) return undefined
    throw error
  }
}
