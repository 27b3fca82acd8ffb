// How a patch meets an entity: pure, immutable, key by key. The invariants L1-L4 stand in
// entity.ts.

import { bare } from './bare.ts'
import { ATTRS_BYTES_MAX, EXTERNAL_IDS_BYTES_MAX, FIELDS_BYTES_MAX } from './entity.ts'
import type { Effect, Timed, TimedFields } from './entity.ts'
import type { FaultCode } from './fault.ts'
import type { Fields, Json, Patch } from './submission.ts'

/** The parts of an entity that a patch may change. */
export interface Body {
  readonly fields: TimedFields
  readonly attrs: TimedFields
  readonly externalIds: TimedFields
}

export type Merged =
  | {
      readonly kind: 'merged'
      readonly body: Body
      readonly effect: Effect
      /** True when a reader of the entity could tell the difference. */
      readonly visible: boolean
    }
  | { readonly kind: 'refused'; readonly code: FaultCode }

export const EMPTY_BODY: Body = { fields: bare(), attrs: bare(), externalIds: bare() }

/** Applies a patch to the body of an entity. Never changes what it is given. */
export function merge(body: Body, patch: Patch): Merged {
  const fields = mergeFields(body.fields, patch.fields, patch.at)
  const attrs = mergeKeys(body.attrs, patch.attrs, patch.at)
  const externalIds = mergeKeys(body.externalIds, patch.externalIds, patch.at)

  const keptAttrs = withinLimit(attrs.values, ATTRS_BYTES_MAX)
  if (keptAttrs === undefined) return { kind: 'refused', code: 'attrs_too_large' }
  const keptIds = withinLimit(externalIds.values, EXTERNAL_IDS_BYTES_MAX)
  const keptFields = withinLimit(fields.values, FIELDS_BYTES_MAX)
  if (keptIds === undefined || keptFields === undefined) {
    return { kind: 'refused', code: 'entity_too_large' }
  }
  return {
    kind: 'merged',
    body: { fields: keptFields, attrs: keptAttrs, externalIds: keptIds },
    effect: { fields: fields.applied, attrs: attrs.applied, externalIds: externalIds.applied },
    visible: fields.visible || attrs.visible || externalIds.visible,
  }
}

interface MergedKeys<Applied> {
  readonly values: TimedFields
  readonly applied: Applied
  readonly visible: boolean
}

function mergeFields(before: TimedFields, patch: Fields, at: number): MergedKeys<Fields> {
  const merged = mergeKeys(before, patch, at)
  return { ...merged, applied: merged.applied ?? bare() }
}

function mergeKeys(
  before: TimedFields,
  patch: Fields | undefined,
  at: number,
): MergedKeys<Fields | undefined> {
  if (patch === undefined) return { values: before, applied: undefined, visible: false }
  const values: Record<string, Timed> = Object.assign(bare<Timed>(), before)
  const applied = bare<Json>()
  let some = false
  let visible = false
  for (const key of Object.keys(patch)) {
    const prior = before[key]
    if (prior !== undefined && prior[1] > at) continue // L1
    const value = patch[key] ?? null
    values[key] = [value, at] // L2: null stays, as the mark of a removal
    const priorValue = prior === undefined ? null : prior[0]
    if (!sameJson(priorValue, value)) visible = true
    if (value === null && priorValue === null) continue
    applied[key] = value
    some = true
  }
  return { values, applied: some ? applied : undefined, visible }
}

/**
 * The same values within a limit of bytes, the oldest marks of removals given up first; undefined
 * when the values alone are beyond it. Depends on nothing but the values, so a replay gives the
 * same.
 */
function withinLimit(values: TimedFields, limit: number): TimedFields | undefined {
  if (roughBytes(values) <= limit) return values
  const live = jsonBytes(valuesOf(values))
  if (live > limit) return undefined
  const marks = Object.keys(values)
    .filter((key) => values[key]?.[0] === null)
    .toSorted((a, b) => (values[b]?.[1] ?? 0) - (values[a]?.[1] ?? 0) || (a < b ? -1 : 1))
  const kept: Record<string, Timed> = Object.assign(bare<Timed>(), dropRemovals(values))
  let bytes = live
  for (const key of marks) {
    bytes += jsonBytes(key) + 6
    if (bytes > limit) break
    kept[key] = [null, values[key]?.[1] ?? 0]
  }
  return kept
}

function dropRemovals(values: TimedFields): TimedFields {
  const kept = bare<Timed>()
  for (const key of Object.keys(values)) {
    const timed = values[key]
    if (timed !== undefined && timed[0] !== null) kept[key] = timed
  }
  return kept
}

/** The present values without their times: what a reader sees. */
export function valuesOf(timed: TimedFields): Record<string, Json> {
  const values = bare<Json>()
  for (const key of Object.keys(timed)) {
    const value = timed[key]?.[0] ?? null
    if (value !== null) values[key] = value
  }
  return values
}

/** An upper bound of the bytes as JSON; cheap, because most entities are far below the limit. */
function roughBytes(values: TimedFields): number {
  let bytes = 2
  for (const key of Object.keys(values)) {
    const value = values[key]?.[0] ?? null
    bytes += 6 * key.length + 4
    if (typeof value === 'string') bytes += 6 * value.length + 2
    else bytes += typeof value === 'object' && value !== null ? jsonBytes(value) : 25
  }
  return bytes
}

const ENCODER = new TextEncoder()
const jsonBytes = (value: Json): number => ENCODER.encode(JSON.stringify(value)).length

function sameJson(a: Json, b: Json): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  return JSON.stringify(a) === JSON.stringify(b)
}
