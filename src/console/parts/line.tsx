// The line of the last hour in a row of the board.

import type { Readings } from '#console/state/readings.ts'
import { linePath } from '#console/state/readings.ts'
import { language } from '#console/state/saved.ts'
import { shown } from '#console/state/units.ts'
import { t } from '#console/words/words.ts'

const WIDTH = 120
const HEIGHT = 28

interface LineProps {
  readonly attr: string
  readonly readings: Readings
  /** That of the readings, so that a change of them is one of the line. */
  readonly version: number
}

export function Line({ attr, readings }: LineProps) {
  const path = linePath(readings, WIDTH, HEIGHT)
  if (path === '') return <span class="line" />
  const text = (value: number): string => {
    const { text: amount, unit } = shown(attr, value, language.value)
    return `${amount} ${unit}`.trim()
  }
  const [low, high] = [Math.min(...readings.values), Math.max(...readings.values)]
  const label = t('lastHour', { attr, low: text(low), high: text(high) })
  return (
    <svg class="line" viewBox={`0 -2 ${WIDTH} ${HEIGHT + 4}`} role="img" aria-label={label}>
      <path d={path} vector-effect="non-scaling-stroke" />
    </svg>
  )
}
