// One attr: its value with the unit, and the time that set it.

import type { Json } from '#domain/submission'
import { second } from '#console/state/clock.ts'
import { language } from '#console/state/saved.ts'
import { visible } from '#console/state/text.ts'
import { shown } from '#console/state/units.ts'
import { age } from '#console/words/words.ts'

interface ValueProps {
  readonly name: string
  readonly value: Json | undefined
  /** Unix milliseconds; undefined where it is not known. */
  readonly setAt?: number | undefined
  /** The time that stands at the row: a narrow one does not repeat it. */
  readonly rowAt?: number
}

const SHOWN_MAX = 60

export function Value({ name, value, setAt, rowAt }: ValueProps) {
  const { text, unit } = shown(name, value, language.value)
  const cut = text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text || '""'
  return (
    <span class="value">
      <span class="amount">
        <bdi>{visible(cut)}</bdi>
        {unit !== '' && <span class="unit"> {unit}</span>}
      </span>
      <span class="of">
        <bdi>{visible(name)}</bdi>
        {setAt !== undefined && (
          <span class={setAt === rowAt ? 'since repeated' : 'since'}>
            {' '}
            · {age(second.value - setAt)}
          </span>
        )}
      </span>
    </span>
  )
}
