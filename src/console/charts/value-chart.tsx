// The chart of one attr of a Thing over a time that is given, as the view of an Event shows it.

import { useMemo } from 'preact/hooks'

import type { LiveChannel } from '#console/state/live-channel.ts'
import type { Limit } from '#console/state/past/limits.ts'
import { attrTexts } from '#console/state/past/attr-texts.ts'
import type { AttrTexts } from '#console/state/past/attr-texts.ts'
import { second } from '#console/state/clock.ts'
import { useCourses } from '#console/state/past/live-courses.ts'
import { language } from '#console/state/saved.ts'
import { lineOf, rangeOf } from '#console/state/past/thing-history.ts'
import type { Course } from '#console/state/past/thing-history.ts'
import { t } from '#console/words/words.ts'
import { Failure } from '#console/parts/page.tsx'
import { Chart } from './chart.tsx'
import type { ChartLine, Shade } from './plot.tsx'

interface ValueChartProps {
  readonly channel: LiveChannel
  /** The id of the Thing. */
  readonly thing: string
  readonly attr: string
  /** Unix milliseconds. */
  readonly from: number
  readonly to: number
  readonly limit?: Limit | undefined
  readonly events?: readonly Shade[]
}

const NO_LIMITS: readonly Limit[] = []
const NO_SHADES: readonly Shade[] = []
const MINUTE_MS = 60_000

/** The values of an attr between two times, with its limit; nothing where no number is kept. */
export function ValueChart(props: ValueChartProps) {
  const { channel, thing: thingId, attr, from, to, limit, events = NO_SHADES } = props
  // A time that is still to come brings more: the chart reads what there is, and follows.
  const isOver = to <= second.peek()
  const span = useMemo(
    () => ({ lengthMs: to - from, toMs: isOver ? to : undefined }),
    [from, to, isOver],
  )
  const read = useMemo(
    () => (isOver ? span : { lengthMs: Math.max(MINUTE_MS, second.peek() - from) }),
    [span, isOver, from],
  )
  const courses = useCourses(channel, [{ thingId, attrs: [attr] }], read)
  const course = courses.of(thingId, attr)
  const texts = attrTexts(channel, channel.things.get(thingId) ?? { id: thingId, fields: {} }, attr)
  const lines = useMemo(
    () => [chartLine(texts.label, texts, course, to)],
    [course, to, language.value],
  )
  const limits = useMemo(() => (limit === undefined ? NO_LIMITS : [limit]), [limit])
  if (courses.failure !== undefined) return <Failure error={courses.failure} />
  if (!lines.some(({ line }) => line.values.some((value) => value !== null))) return null
  return (
    <figure class="chart">
      <Chart
        label={chartText(texts.label, texts, course)}
        lines={lines}
        fromMs={from}
        toMs={to}
        limits={limits}
        shades={events}
        isFixed
      >
        <Limits limits={limits} text={texts.text} />
      </Chart>
    </figure>
  )
}

interface LimitsProps {
  readonly limits: readonly Limit[]
  readonly text: (value: number) => string
}

/** The limits of a chart in words. */
export const Limits = ({ limits, text }: LimitsProps) =>
  limits.map(({ side, value }) => (
    <span class="key limit" key={`${side} ${value}`}>
      {t(side === 'above' ? 'limitAbove' : 'limitBelow', { value: text(value) })}
    </span>
  ))

/** The line of a course, whose last step ends at a time. */
export const chartLine = (
  name: string,
  texts: AttrTexts,
  course: Course,
  untilMs: number,
): ChartLine => ({
  name,
  line: lineOf(course, untilMs),
  unit: texts.shown(0).unit,
  text: texts.text,
  leastSpan: texts.leastSpan,
})

/** What a chart shows, for who does not see it. */
export function chartText(name: string, texts: AttrTexts, course: Course): string {
  const range = rangeOf(course)
  const last = course.values.findLast((value) => typeof value === 'number')
  if (range === undefined) return `${name}: ${texts.text(last)}`
  const [low, high] = [texts.text(range.low), texts.text(range.high)]
  return t('chartOf', { attr: name, low, high, last: texts.text(last) })
}
