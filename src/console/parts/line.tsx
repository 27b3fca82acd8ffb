// The line of a value in a row of the overview, since a person looked at it, for an hour at most.

import { labelOf, leastSpan, textOf } from '#console/model/faces.ts'
import type { Face } from '#console/model/faces.ts'
import { second } from '#console/state/clock.ts'
import type { Readings } from '#console/state/readings.ts'
import { linePath } from '#console/state/readings.ts'
import { language } from '#console/state/saved.ts'
import { moment, t } from '#console/words/words.ts'

const WIDTH = 60
const HEIGHT = 18

interface LineProps {
  readonly attr: string
  readonly face: Face
  readonly readings: Readings
  /** That of the readings, so that a change of them is one of the line. */
  readonly version: number
}

export function Line({ attr, face, readings }: LineProps) {
  const path = linePath(readings, WIDTH, HEIGHT, leastSpan(face))
  if (path === '') return <span class="line" />
  const text = (value: number): string => textOf(face, attr, value, language.value)
  const [low, high] = [Math.min(...readings.values), Math.max(...readings.values)]
  const since = moment(readings.times[0] ?? 0, second.peek())
  const label = t('lineOf', { attr: labelOf(face, attr), since, low: text(low), high: text(high) })
  return (
    <svg class="line" viewBox={`0 -2 ${WIDTH} ${HEIGHT + 4}`} role="img" aria-label={label}>
      <path d={path} vector-effect="non-scaling-stroke" />
    </svg>
  )
}
