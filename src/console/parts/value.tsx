// One attr: its value with the unit, and the time that set it.

import type { Json } from '#domain/submission'
import { labelOf, shownAs } from '#console/model/faces.ts'
import type { Face } from '#console/model/faces.ts'
import { second } from '#console/state/clock.ts'
import { language } from '#console/state/saved.ts'
import { cut } from '#console/state/text.ts'
import { age } from '#console/words/words.ts'
import { Said } from './text.tsx'

interface ValueProps {
  readonly name: string
  readonly value: Json | undefined
  readonly face?: Face
  /** Unix milliseconds; undefined where it is not known. */
  readonly setAt?: number | undefined
}

const SHOWN_MAX = 60

const NO_FACE: Face = {}

export function Value({ name, value, face = NO_FACE, setAt }: ValueProps) {
  const { text, unit } = shownAs(face, name, value, language.value)
  return (
    <span class="value">
      <span class="amount">
        <Said text={cut(text, SHOWN_MAX) || '""'} />
        {unit !== '' && <span class="unit"> {unit}</span>}
      </span>
      <span class="of">
        <bdi>{labelOf(face, name)}</bdi>
        {setAt !== undefined && <span class="since"> · {age(second.value - setAt)}</span>}
      </span>
    </span>
  )
}
