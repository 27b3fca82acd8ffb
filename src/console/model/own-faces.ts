// Joins a person's changes with the faces that a channel has for its attrs.

import type { Face, Presentation, PresentedThings } from '#console/model/faces.ts'

export const TEXTS = ['label', 'unit', 'on', 'off'] as const
export const NUMBERS = ['min', 'max', 'decimals', 'order'] as const
type FaceMember = (typeof TEXTS | typeof NUMBERS)[number]

/** The members that a person has written; the others stay as they are. */
export type Written = Readonly<Partial<Record<FaceMember, string>>>

export const isNumber = (name: string): boolean => NUMBERS.some((each) => each === name)

/** The face with what a person wrote of it: a blank member goes, one left alone stays. */
export function changedFace(known: Face, written: Written, isHidden: boolean): Face {
  const face: Record<string, unknown> = { ...known }
  for (const name of [...TEXTS, ...NUMBERS]) {
    const text = written[name]?.trim()
    if (text === '') delete face[name]
    else if (text !== undefined) face[name] = isNumber(name) ? Number(text) : text
  }
  if (isHidden) face['hidden'] = true
  else delete face['hidden']
  return face
}

const isSame = (a: PresentedThings['things'], b: PresentedThings['things']): boolean =>
  a.prefix === b.prefix && a.tag === b.tag

export const ownFace = (own: Presentation, things: PresentedThings['things'], attr: string): Face =>
  own.find((entry) => isSame(entry.things, things))?.attrs[attr] ?? {}

/**
 * Sets the face of an attr in the entry of the same Things. A new entry stands behind the others,
 * but one for all Things before them, which say more.
 */
export function withFace(
  own: Presentation,
  things: PresentedThings['things'],
  attr: string,
  face: Face,
): Presentation {
  const known = own.find((entry) => isSame(entry.things, things))
  const entry = { things, attrs: { ...known?.attrs, [attr]: face } }
  if (known !== undefined) return own.map((each) => (each === known ? entry : each))
  return isSame(things, {}) ? [entry, ...own] : [...own, entry]
}

/** Without what the entry of these Things says of an attr. */
export const without = (own: Presentation, things: PresentedThings['things'], attr: string) =>
  own
    .map((each) => {
      if (!isSame(each.things, things)) return each
      const { [attr]: _, ...attrs } = each.attrs
      return { things, attrs }
    })
    .filter(({ attrs }) => Object.keys(attrs).length > 0)
