// Finds the label, unit and range of an attr: those of the channel, else what its name says.

import type { ThingView } from '#src/client/view'
import type { AttrFace as Face, Presentation, PresentedThings } from '#domain/history/presentation'
import type { Json } from '#domain/submission'
import { visible } from '#console/state/text.ts'
import { shown } from '#console/state/units.ts'
import type { Shown } from '#console/state/units.ts'

export type { AttrFace as Face, Presentation, PresentedThings } from '#domain/history/presentation'

const isOf = (
  { id, fields }: Pick<ThingView, 'id' | 'fields'>,
  { prefix, tag }: PresentedThings['things'],
): boolean => {
  if (prefix !== undefined && !id.startsWith(prefix)) return false
  const { tags } = fields
  return tag === undefined || (Array.isArray(tags) && (tags as readonly Json[]).includes(tag))
}

/** The face of an attr of a Thing: of several entries the later one wins, member by member. */
export function faceOf(
  presentation: Presentation,
  thing: Pick<ThingView, 'id' | 'fields'>,
  attr: string,
): Face {
  let face: Face = {}
  for (const { things, attrs } of presentation) {
    const more = Object.hasOwn(attrs, attr) ? attrs[attr] : undefined
    if (more !== undefined && isOf(thing, things)) face = { ...face, ...more }
  }
  return face
}

/** A value as a person reads it. The name of the attr tells its unit where the face has none. */
export function shownAs(face: Face, name: string, value: Json | undefined, locale: string): Shown {
  const { unit, decimals, on, off } = face
  if (value === true && on !== undefined) return { text: on, unit: '' }
  if (value === false && off !== undefined) return { text: off, unit: '' }
  if (typeof value !== 'number') return shown(name, value, locale)
  const plain = shown(unit === undefined ? name : '', value, locale)
  const text =
    decimals === undefined
      ? plain.text
      : value.toLocaleString(locale, {
          minimumFractionDigits: decimals,
          maximumFractionDigits: decimals,
        })
  // Decimals are those of the value itself, which has no larger unit then.
  return { text, unit: unit ?? (decimals === undefined ? plain : shown(name, 1, locale)).unit }
}

/** The same in one text. */
export function textOf(face: Face, name: string, value: Json | undefined, locale: string): string {
  const { text, unit } = shownAs(face, name, value, locale)
  return `${visible(text)} ${unit}`.trim()
}

const LEAST_PART = 0.1

/**
 * The least difference that a drawing of an attr fills: a part of its range, so that noise does not
 * look like a storm. 0 for one without a range.
 */
export const leastSpan = ({ min, max }: Face): number =>
  min === undefined || max === undefined ? 0 : Math.max(0, max - min) * LEAST_PART

/** Returns the name that people read for an attr. */
export const labelOf = ({ label }: Face, name: string): string => visible(label ?? name)

/** The attrs of a Thing that are shown, in their order, each with its face. */
export function facesOf(
  presentation: Presentation,
  thing: Pick<ThingView, 'id' | 'fields' | 'attrs'>,
): readonly (readonly [name: string, face: Face])[] {
  const faces = Object.keys(thing.attrs).map((name): readonly [string, Face] => [
    name,
    faceOf(presentation, thing, name),
  ])
  if (presentation.length === 0) return faces
  const place = ({ order }: Face): number => order ?? Infinity
  return faces
    .filter(([, { hidden }]) => hidden !== true)
    .toSorted(([, a], [, b]) => place(a) - place(b) || 0)
}
