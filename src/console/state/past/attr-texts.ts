// How an attr of a Thing reads in charts and beside them.

import { faceOf, labelOf, leastSpan, shownAs, textOf } from '#console/model/faces.ts'
import type { Json } from '#domain/submission'
import type { ThingView } from '#src/client/view'
import type { LiveChannel } from '#console/state/live-channel.ts'
import { language } from '#console/state/saved.ts'
import type { Shown } from '#console/state/units.ts'

export interface AttrTexts {
  readonly label: string
  /** The value as a person reads it, beside its unit. */
  readonly shown: (value: Json | undefined) => Shown
  /** The same in one text. */
  readonly text: (value: Json | undefined) => string
  /** The least difference that a drawing fills. */
  readonly leastSpan: number
}

/** The texts of an attr, as its channel shows it. */
export function attrTexts(
  channel: LiveChannel,
  thing: Pick<ThingView, 'id' | 'fields'>,
  attr: string,
): AttrTexts {
  const face = faceOf(channel.presentation.value, thing, attr)
  return {
    label: labelOf(face, attr),
    shown: (value) => shownAs(face, attr, value, language.value),
    text: (value) => textOf(face, attr, value, language.value),
    leastSpan: leastSpan(face),
  }
}
