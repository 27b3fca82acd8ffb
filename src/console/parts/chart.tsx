// A chart of one value over time, by uPlot, which is loaded when the first chart is drawn: a line
// for numbers, steps for false and true.

import { useEffect, useRef } from 'preact/hooks'
import type uPlot from 'uplot'

import { second } from '#console/state/clock.ts'
import { language, theme } from '#console/state/saved.ts'
import { visible } from '#console/state/text.ts'
import { shown } from '#console/state/units.ts'
import { clockText, moment } from '#console/words/words.ts'

interface ChartProps {
  readonly label: string
  /** The name of the attr, which decides the unit. */
  readonly name: string
  /** Unix milliseconds. */
  readonly times: readonly number[]
  readonly values: readonly (number | null)[]
  /** True for values that are false or true, as 0 and 1: each holds until the next. */
  readonly isSteps?: boolean
}

export function Chart({ label, name, times, values, isSteps = false }: ChartProps) {
  const box = useRef<HTMLDivElement>(null)
  const pointed = useRef<HTMLElement>(null)
  const chart = useRef<uPlot>(undefined)
  const data: uPlot.AlignedData = [times.map((time) => time / 1_000), [...values]]
  const latest = useRef(data)
  latest.current = data
  useEffect(() => {
    const element = box.current
    if (element === null) return undefined
    let isOver = false
    const observer = new ResizeObserver(() => chart.current?.setSize(sizeOf(element)))
    void import('uplot').then(({ default: Plot }) => {
      if (isOver) return
      const options = optionsFor(element, name)
      const { stepped } = Plot.paths
      const drawn = isSteps ? stepsIn(options, stepped?.({ align: 1 })) : options
      const tell = (plot: uPlot): void => {
        if (pointed.current !== null) pointed.current.textContent = pointedAt(plot, name, isSteps)
      }
      chart.current = new Plot({ ...drawn, hooks: { setCursor: [tell] } }, latest.current, element)
      observer.observe(element)
    })
    return () => {
      isOver = true
      observer.disconnect()
      chart.current?.destroy()
      chart.current = undefined
    }
  }, [name, isSteps, theme.value, language.value])
  useEffect(() => chart.current?.setData(latest.current), [times, values])
  return (
    <>
      <figcaption>
        <bdi>{visible(name)}</bdi> <span class="of" ref={pointed} />
      </figcaption>
      <div ref={box} role="img" aria-label={label} />
    </>
  )
}

/** The time and the value under the pointer; '' where there is none. */
function pointedAt(
  { data: [times, values], cursor }: uPlot,
  name: string,
  isSteps: boolean,
): string {
  const at = cursor.idx
  const value = at === null || at === undefined ? undefined : values?.[at]
  if (value === null || value === undefined) return ''
  const text = isSteps ? String(value === 1) : amountOf(name, value)
  return `${text} · ${moment((times[at ?? 0] ?? 0) * 1_000, second.peek())}`
}

const sizeOf = (element: Element): { readonly width: number; readonly height: number } => ({
  width: element.clientWidth,
  height: element.clientHeight,
})

/** The present value of a colour: a canvas knows neither variables nor light-dark(). */
const colourOf =
  (element: HTMLElement) =>
  (variable: string): string => {
    element.style.color = `var(${variable})`
    return getComputedStyle(element).color
  }

/** Points between two gaps, of which no line would be seen. */
const alone: uPlot.Series.Points = {
  show: true,
  size: 4,
  filter: ({ data }, series) => {
    const values = data[series] ?? []
    const isGap = (at: number): boolean => (values[at] ?? null) === null
    return [...values.keys()].filter((at) => !isGap(at) && isGap(at - 1) && isGap(at + 1))
  },
}

function optionsFor(element: HTMLElement, name: string): uPlot.Options {
  const colour = colourOf(element)
  const axis: uPlot.Axis = {
    stroke: colour('--muted'),
    grid: { stroke: colour('--edge'), width: 1 },
    ticks: { show: false },
  }
  return {
    ...sizeOf(element),
    legend: { show: false },
    cursor: { y: false },
    axes: [
      { ...axis, size: 30, values: (_, splits) => splits.map((at) => clockText(at * 1_000)) },
      { ...axis, size: 64, values: (_, splits) => splits.map((value) => amountOf(name, value)) },
    ],
    series: [
      {},
      {
        label: name,
        stroke: colour('--line'),
        width: 1.5,
        points: { ...alone, fill: colour('--line') },
      },
    ],
  }
}

/** The same chart for false and true. */
const stepsIn = (
  {
    axes: [times = {}, values = {}] = [],
    series: [time = {}, line = {}],
    ...options
  }: uPlot.Options,
  paths: uPlot.Series.PathBuilder | undefined,
): uPlot.Options => ({
  ...options,
  scales: { y: { range: [-0.1, 1.1] } },
  axes: [
    times,
    { ...values, splits: () => [0, 1], values: (_, splits) => splits.map((at) => `${at === 1}`) },
  ],
  series: [time, { ...line, ...(paths && { paths }) }],
})

const amountOf = (name: string, value: number): string => {
  const { text, unit } = shown(name, value, language.value)
  return `${text} ${unit}`.trim()
}
