// A chart of one value over time, by uPlot, which is loaded when the first chart is drawn.

import { useEffect, useRef } from 'preact/hooks'
import type uPlot from 'uplot'

import { language, theme } from '#console/state/saved.ts'
import { shown } from '#console/state/units.ts'
import { clockText } from '#console/words/words.ts'

interface ChartProps {
  readonly label: string
  /** The name of the attr, which decides the unit. */
  readonly name: string
  /** Unix milliseconds. */
  readonly times: readonly number[]
  readonly values: readonly number[]
}

export function Chart({ label, name, times, values }: ChartProps) {
  const box = useRef<HTMLDivElement>(null)
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
      chart.current = new Plot(optionsFor(element, name), latest.current, element)
      observer.observe(element)
    })
    return () => {
      isOver = true
      observer.disconnect()
      chart.current?.destroy()
      chart.current = undefined
    }
  }, [name, theme.value, language.value])
  useEffect(() => chart.current?.setData(latest.current), [times, values])
  return <div ref={box} role="img" aria-label={label} />
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
    series: [{}, { label: name, stroke: colour('--line'), width: 1.5, points: { show: false } }],
  }
}

const amountOf = (name: string, value: number): string => {
  const { text, unit } = shown(name, value, language.value)
  return `${text} ${unit}`.trim()
}
