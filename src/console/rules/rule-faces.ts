// How the attrs that a rule names are shown: as those of the Things that it watches.

import { isRecord } from '#domain/record'
import type { Json } from '#domain/submission'
import { faceOf, shownAs } from '#console/model/faces.ts'
import type { Face, Presentation } from '#console/model/faces.ts'
import { hasAttr, ruleFrom } from '#console/state/rule-form.ts'
import type { RuleForm } from '#console/state/rule-form.ts'
import { plain } from '#console/state/text.ts'

/** The face of an attr, which a rule names by a text or a path; a path has none. */
export type FaceOfAttr = (attr: Json | undefined) => Face

/** The faces of attrs of the Things that a rule watches. */
export function facesIn(presentation: Presentation, things: Json | undefined): FaceOfAttr {
  const { ids, prefix, tag } = (isRecord(things) ? things : {}) as Readonly<Record<string, Json>>
  const [first] = Array.isArray(ids) ? (ids as readonly Json[]) : [prefix]
  const thing = { id: plain(first ?? ''), fields: { tags: tag === undefined ? [] : [tag] } }
  return (attr) => (typeof attr === 'string' ? faceOf(presentation, thing, attr) : {})
}

/** An example of what a text of a rule may hold: the first value of its condition with its unit. */
export function placeIn(form: RuleForm, presentation: Presentation, locale: string): string {
  const attr = form.when.find(({ test }) => hasAttr(test))?.attr.trim() ?? ''
  if (attr === '') return '{thing.title}'
  const face = facesIn(presentation, ruleFrom(form)['things'])(attr)
  return `{thing.title}: {${attr}} ${shownAs(face, attr, 0, locale).unit}`.trim()
}
