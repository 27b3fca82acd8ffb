// Applies a patch to an entity: pure, immutable, key by key. entity.ts states the invariants.

import { bare } from './record.ts'
import { ATTRS_BYTES_MAX, EXTERNAL_IDS_BYTES_MAX, FIELDS_BYTES_MAX } from './entity.ts'
import type { Effect, TimedFields, Times } from './entity.ts'
import type { FaultCode } from './fault.ts'
import type { Fields, Json, Patch } from './submission.ts'

/** The parts of an entity that a patch may change, and the time of the newest patch. */
export interface Body {
  readonly at: number
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

export const NO_FIELDS: TimedFields = { values: bare(), times: undefined }
export const EMPTY_BODY: Body = {
  at: -Infinity,
  fields: NO_FIELDS,
  attrs: NO_FIELDS,
  externalIds: NO_FIELDS,
}

/** Applies a patch to the body of an entity. Never changes its arguments. */
export function merge(body: Body, patch: Patch): Merged {
  const times = { before: body.at, at: patch.at }
  const newest = Math.max(body.at, patch.at)
  const fields = mergeKeys(body.fields, patch.fields, times)
  const attrs = mergeKeys(body.attrs, patch.attrs, times)
  const externalIds = mergeKeys(body.externalIds, patch.externalIds, times)

  const keptAttrs = withinLimit(attrs.kept, newest, ATTRS_BYTES_MAX)
  if (keptAttrs === undefined) return { kind: 'refused', code: 'attrs_too_large' }
  const keptIds = withinLimit(externalIds.kept, newest, EXTERNAL_IDS_BYTES_MAX)
  const keptFields = withinLimit(fields.kept, newest, FIELDS_BYTES_MAX)
  if (keptIds === undefined || keptFields === undefined) {
    return { kind: 'refused', code: 'entity_too_large' }
  }
  return {
    kind: 'merged',
    body: { at: newest, fields: keptFields, attrs: keptAttrs, externalIds: keptIds },
    effect: {
      fields: fields.applied ?? NO_FIELDS.values,
      attrs: attrs.applied,
      externalIds: externalIds.applied,
    },
    visible: fields.visible || attrs.visible || externalIds.visible,
  }
}

/** The newest time of an entity before a patch, and that of the patch. */
interface PatchTimes {
  readonly before: number
  readonly at: number
}

interface MergedKeys {
  readonly kept: TimedFields
  readonly applied: Fields | undefined
  readonly visible: boolean
}

function mergeKeys(
  kept: TimedFields,
  patch: Fields | undefined,
  { before, at }: PatchTimes,
): MergedKeys {
  if (patch === undefined) {
    return { kept: at > before ? dated(kept, before) : kept, applied: undefined, visible: false }
  }
  const isLate = at < before
  const values = Object.assign(bare<Json>(), kept.values)
  const late = isLate ? Object.assign(bare<number>(), kept.times) : undefined
  let without: string[] | undefined
  let visible = false
  for (const key in patch) {
    const prior = kept.values[key]
    const priorValue = prior ?? null
    const value = patch[key] ?? null
    const isOlder = isLate && prior !== undefined && timeOf(kept, key, before) > at // entity/1
    if (isOlder || (value === null && priorValue === null)) (without ??= []).push(key)
    if (isOlder) continue
    values[key] = value // entity/2: null stays, as the mark of a removal
    if (late !== undefined) late[key] = at
    if (!sameJson(priorValue, value)) visible = true
  }
  const times = late === undefined ? timesBeside(kept, patch, { before, at }) : orNone(late)
  return { kept: { values, times }, applied: appliedOf(patch, without), visible }
}

/** The patch but for names that it leaves as they are; undefined when none is left. */
function appliedOf(patch: Fields, without: readonly string[] | undefined): Fields | undefined {
  if (without === undefined) return patch
  const applied = bare<Json>()
  let some = false
  for (const key of Object.keys(patch)) {
    if (without.includes(key)) continue
    applied[key] = patch[key] ?? null
    some = true
  }
  return some ? applied : undefined
}

/** The time that set a value. `newest`: that of the entity. */
export const timeOf = ({ times }: TimedFields, name: string, newest: number): number =>
  times?.[name] ?? newest

/** The same, once `newest` is no longer the entity's newest. */
function dated(kept: TimedFields, newest: number): TimedFields {
  const { times } = kept
  let all: Record<string, number> | undefined
  for (const name in kept.values) {
    if (times?.[name] === undefined) (all ??= Object.assign(bare<number>(), times))[name] = newest
  }
  return all === undefined ? kept : { values: kept.values, times: all }
}

/** Times of the values that the entity's newest patch leaves as they are. */
function timesBeside(
  kept: TimedFields,
  patch: Fields,
  { before, at }: PatchTimes,
): Times | undefined {
  let times: Record<string, number> | undefined
  for (const name in kept.values) {
    if (patch[name] !== undefined) continue
    const time = timeOf(kept, name, before)
    if (time === at) continue
    times ??= bare<number>()
    times[name] = time
  }
  return times
}

const orNone = (times: Times): Times | undefined =>
  Object.keys(times).length === 0 ? undefined : times

/**
 * The same values within a limit of bytes, without the oldest marks of removals; undefined when the
 * values alone exceed it. Depends on nothing but the values, so a replay gives the same.
 */
function withinLimit(kept: TimedFields, newest: number, limit: number): TimedFields | undefined {
  if (roughBytes(kept.values) <= limit) return kept
  const live = valuesOf(kept)
  let bytes = jsonBytes(live)
  if (bytes > limit) return undefined
  const time = (name: string): number => timeOf(kept, name, newest)
  const marks = Object.keys(kept.values)
    .filter((name) => kept.values[name] === null)
    .toSorted((a, b) => time(b) - time(a) || (a < b ? -1 : 1))
  for (const name of marks) {
    bytes += jsonBytes(name) + 6
    if (bytes > limit) break
    live[name] = null
  }
  return { values: live, times: timesOf(live, kept.times) }
}

/** Times of present values that an entity's newest patch did not set; undefined without any. */
export const timesBesideNewest = (kept: TimedFields): Times | undefined =>
  kept.times && timesOf(valuesOf(kept), kept.times)

/** Keeps times for these values only. */
function timesOf(values: Fields, times: Times = bare()): Times | undefined {
  const some = bare<number>()
  for (const name of Object.keys(times)) {
    if (values[name] !== undefined) some[name] = times[name] ?? 0
  }
  return orNone(some)
}

/** The present values without their times: what a reader sees. */
export function valuesOf({ values }: TimedFields): Record<string, Json> {
  const live = bare<Json>()
  for (const name of Object.keys(values)) {
    const value = values[name] ?? null
    if (value !== null) live[name] = value
  }
  return live
}

/** An upper bound of the bytes as JSON; cheap, because most entities are far below the limit. */
function roughBytes(values: Fields): number {
  let bytes = 2
  for (const name in values) {
    const value = values[name] ?? null
    bytes += 6 * name.length + 4
    if (typeof value === 'string') bytes += 6 * value.length + 2
    else bytes += typeof value === 'object' && value !== null ? jsonBytes(value) : 25
  }
  return bytes
}

const ENCODER = new TextEncoder()
const jsonBytes = (value: Json): number => ENCODER.encode(JSON.stringify(value)).length

/** True for equal JSON values: the members of an object have no order. */
export function sameJson(a: Json, b: Json | undefined): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  const members = Object.entries<Json>(a)
  const others = new Map(Object.entries<Json>(b))
  return (
    Array.isArray(a) === Array.isArray(b) &&
    members.length === others.size &&
    members.every(([name, value]) => sameJson(value, others.get(name)))
  )
}
