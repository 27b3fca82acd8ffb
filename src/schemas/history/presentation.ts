// Reads how the attrs of Things are shown, as it is sent and as it is kept.
//
// Invariants:
//   presentation/1. A presentation is bounded in entries, in attrs, and in the bytes of each text.

import { isFault } from '#domain/fault'
import type {
  AttrFace,
  Discovered,
  DiscoveredFace,
  KeptPresentation,
  PresentedThings,
  Presentation,
  SaidOfAttr,
} from '#domain/history/presentation'
import type { Answer } from '#domain/ports'
import { bare, isRecord, isSafeText, jsonOf } from '#domain/record'
import { invalid, isBlank, isLonger, noObject, readEach, readableIn } from '#src/schemas/values'
import type { ATTR_FACE } from './presentation-schemas.ts'
import {
  DECIMALS_MAX,
  FACE_TEXT_BYTES_MAX,
  NAME_BYTES_MAX,
  ORDER_MAX,
  PRESENTATION_MAX,
  PRESENTED_ATTRS_MAX,
} from './presentation-schemas.ts'

/** A rule of a value, and the words that tell it. */
interface Form {
  readonly rule: string
  readonly fits: (sent: unknown) => boolean
}

const isText = (sent: unknown, bytesMax: number): sent is string =>
  typeof sent === 'string' && isSafeText(sent) && !isLonger(sent, bytesMax)
const textForm = (bytesMax: number): Form => ({
  rule: `must be a text of 1 to ${bytesMax} bytes`,
  fits: (sent) => isText(sent, bytesMax) && !isBlank(sent),
})
const wholeForm = (min: number, max: number): Form => ({
  rule: `must be a whole number from ${min} to ${max}`,
  fits: (sent) => Number.isInteger(sent) && Number(sent) >= min && Number(sent) <= max,
})

const TEXT = textForm(FACE_TEXT_BYTES_MAX)
const NAME = textForm(NAME_BYTES_MAX)
const NUMBER: Form = { rule: 'must be a number', fits: Number.isFinite }

const FACE_FORMS: Readonly<Record<keyof typeof ATTR_FACE.properties, Form>> = {
  label: TEXT,
  unit: {
    rule: `must be a text of at most ${FACE_TEXT_BYTES_MAX} bytes`,
    fits: (sent) => isText(sent, FACE_TEXT_BYTES_MAX),
  },
  min: NUMBER,
  max: NUMBER,
  decimals: wholeForm(0, DECIMALS_MAX),
  on: TEXT,
  off: TEXT,
  order: wholeForm(-ORDER_MAX, ORDER_MAX),
  hidden: { rule: 'must be true or false', fits: (sent) => typeof sent === 'boolean' },
}
const THINGS_FORMS = { prefix: NAME, tag: NAME }
const NO_OBJECT = 'must be an object'

/** The members that are there, each in its form; null counts as absent. */
function membersOf<Name extends string>(
  sent: unknown,
  forms: Readonly<Record<Name, Form>>,
  field: string,
): Answer<Readonly<Partial<Record<Name, unknown>>>> {
  if (!isRecord(sent)) return noObject(field)
  const members: Partial<Record<string, unknown>> = {}
  for (const [name, value] of Object.entries(sent)) {
    const form = Object.hasOwn(forms, name) ? forms[name as Name] : undefined
    if (form === undefined) {
      return invalid(field, `has another member than ${Object.keys(forms).join(', ')}`)
    }
    if (value === null) continue
    if (!form.fits(value)) return invalid(`${field}.${name}`, form.rule)
    members[name] = value
  }
  return members as Partial<Record<Name, unknown>>
}

function readFace(sent: unknown, field: string): Answer<AttrFace> {
  const face = membersOf(sent, FACE_FORMS, field) as Answer<AttrFace> // Each has its form.
  if (isFault(face)) return face
  const { min = -Infinity, max = Infinity } = face
  return min < max ? face : invalid(`${field}.min`, 'must be less than max')
}

function readPresented(sent: unknown, field: string): Answer<PresentedThings> {
  const forms = { things: ANY, attrs: ANY }
  const members = membersOf(sent, forms, field)
  if (isFault(members)) return members
  const { things: whose, attrs: sentAttrs } = members
  if (whose === undefined) return invalid(`${field}.things`, `${NO_OBJECT}, {} for all Things`)
  const things = membersOf(whose, THINGS_FORMS, `${field}.things`)
  if (isFault(things)) return things
  if (!isRecord(sentAttrs)) return invalid(`${field}.attrs`, NO_OBJECT)
  const faces = Object.entries(sentAttrs)
  if (faces.length > PRESENTED_ATTRS_MAX) {
    return invalid(`${field}.attrs`, `must be at most ${PRESENTED_ATTRS_MAX}`)
  }
  const attrs = bare<AttrFace>()
  for (const [name, sentFace] of faces) {
    if (!NAME.fits(name)) return invalid(`${field}.attrs`, `each name ${NAME.rule}`)
    const face = readFace(sentFace, `${field}.attrs.${name}`)
    if (isFault(face)) return face
    attrs[name] = face
  }
  return { things: things as PresentedThings['things'], attrs }
}

const ANY: Form = { rule: '', fits: () => true }

/** Reads a presentation; the refusal names the member, as `presentation[1].attrs.t.decimals`. */
export function readPresentation(sent: readonly unknown[]): Answer<Presentation> {
  const field = 'presentation'
  // presentation/1
  if (sent.length > PRESENTATION_MAX) return invalid(field, `must be at most ${PRESENTATION_MAX}`)
  return readEach(field, sent, readPresented)
}

/** What a device says of an attr, as far as it can be shown. (presentation/1) */
export function saidOfAttr(name: string, label: unknown, unit: unknown): readonly SaidOfAttr[] {
  const face = { ...(TEXT.fits(label) && { label }), ...(TEXT.fits(unit) && { unit }) }
  const isShown = NAME.fits(name) && Object.keys(face).length > 0
  return isShown ? [[name, face as DiscoveredFace]] : [] // Each has its form.
}

/** What a person has set, without what this version cannot read. */
export const presentationIn = (kept: KeptPresentation | undefined): Presentation =>
  readableIn(jsonOf(kept?.presentation ?? '[]'), readPresented)

/** What devices say of attrs of all Things, as the first entry; none where they say nothing. */
export function discoveredIn(kept: KeptPresentation | undefined): Presentation {
  const said = jsonOf(kept?.discovered ?? '{}')
  if (!isRecord(said)) return []
  const attrs = Object.entries(said as Discovered).flatMap(([name, { label, unit }]) => {
    const face = { ...(label && { label }), ...(unit && { unit }) }
    return Object.keys(face).length === 0 ? [] : [[name, face] as const]
  })
  return attrs.length === 0 ? [] : [{ things: {}, attrs: Object.fromEntries(attrs) }]
}
