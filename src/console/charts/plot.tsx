// The drawing of a chart: lines with bands between low and high, limits, and the times of Events as
// shades.

import { pointedMs } from '#console/state/past/pointed.ts'
import type { Limit } from '#console/state/past/limits.ts'
import type { Line } from '#console/state/past/thing-history.ts'
import { clockText } from '#console/words/words.ts'
import { bandOf, pathsOf, rangeOfLines, roundTimes, roundValues } from './scales.ts'

/** One line of a chart. */
export interface ChartLine {
  readonly name: string
  readonly line: Line
  /** The unit: lines of two units have an axis each. */
  readonly unit: string
  readonly text: (value: number) => string
  readonly leastSpan: number
}

/** The time of an Event, with its severity. */
export interface Shade {
  readonly fromMs: number
  readonly toMs: number
  readonly isGrave: boolean
}

export interface Drawn {
  readonly lines: readonly ChartLine[]
  readonly limits: readonly Limit[]
  readonly shades: readonly Shade[]
  readonly fromMs: number
  readonly toMs: number
  /** True for one that stays as it is, and shows every limit. */
  readonly isFixed?: boolean
}

/** The room for the amounts of an axis, which strips leave free as well. */
const AXIS_PX = 68
const BELOW_PX = 24
const ABOVE_PX = 8
const VALUE_PX = 36
const TIME_PX = 90
/** The newest point stands at the right edge, and is seen whole. */
const RIGHT_PX = 5
/** A time nearer to the edge would be cut. */
const EDGE_PX = 24

/** The left and the right edge of the lines in a chart of a width, in pixels. */
export function edgesOf(lines: readonly ChartLine[], width: number) {
  const hasOther = lines.some(({ unit }) => unit !== lines[0]?.unit)
  return { left: AXIS_PX, right: Math.max(AXIS_PX + 1, width - (hasOther ? AXIS_PX : RIGHT_PX)) }
}

interface PlotProps extends Drawn {
  readonly width: number
  readonly height: number
}

export function Plot(props: PlotProps) {
  const { lines, limits, shades, fromMs, toMs, width, height, isFixed } = props
  const { left, right } = edgesOf(lines, width)
  const [across, up] = [right - left, Math.max(1, height - ABOVE_PX - BELOW_PX)]
  const x = (atMs: number): number => ((atMs - fromMs) / (toMs - fromMs)) * across
  const isFirst = ({ unit }: ChartLine): boolean => unit === lines[0]?.unit
  const axes = [lines.filter(isFirst), lines.filter((line) => !isFirst(line))]
    .filter((ofAxis) => ofAxis.length > 0)
    .map((ofAxis, at) => {
      const drawn = ofAxis.map(({ line }) => line)
      const near = isFixed === true ? Infinity : undefined
      const leastSpan = Math.max(...ofAxis.map((line) => line.leastSpan))
      const seen = { fromMs, toMs, leastSpan }
      const range = rangeOfLines(drawn, seen, at === 0 ? limits : [], near)
      const y = (value: number): number =>
        up - ((value - range.low) / (range.high - range.low)) * up
      return { y, text: ofAxis[0]?.text ?? String, values: roundValues(range, up / VALUE_PX) }
    })
  const [first] = axes
  const times = roundTimes(fromMs, toMs, across / TIME_PX).filter(
    (time) => x(time) > EDGE_PX - left && x(time) < across - EDGE_PX,
  )
  return (
    <svg width={width} height={height} aria-hidden="true">
      {axes.map(({ y, text, values }, at) =>
        withNames(values, text).map(([value, name]) => (
          <text
            key={`${at} ${value}`}
            class={at === 0 ? 'amounts' : undefined}
            x={at === 0 ? left - 6 : right + 6}
            y={ABOVE_PX + y(value) + 4}
          >
            {name}
          </text>
        )),
      )}
      {times.map((time) => (
        <text class="times" key={time} x={left + x(time)} y={height - 7}>
          {clockText(time)}
        </text>
      ))}
      <svg x={left} y={ABOVE_PX} width={across + RIGHT_PX} height={up}>
        <path
          class="grid"
          d={
            times.map((time) => `M${x(time).toFixed(1)} 0v${up}`).join('') +
            (first?.values.map((value) => `M0 ${first.y(value).toFixed(1)}h${across}`).join('') ??
              '')
          }
        />
        <Shades {...{ shades, x, across, up }} />
        {limits.map(({ side, value }) => (
          <path class="limit" key={`${side} ${value}`} d={`M0 ${first?.y(value) ?? 0}h${across}`} />
        ))}
        {lines.map((line, at) => {
          const y = axes[isFirst(line) ? 0 : 1]?.y ?? x
          const band = bandOf(line.line, x, y)
          const { path, dots } = pathsOf(line.line, x, y)
          return (
            <g class={`data-${at + 1}`} key={line.name}>
              {band !== '' && <path class="band" d={band} />}
              {path !== '' && <path class="curve" d={path} />}
              {dots !== '' && <path class="curve dots" d={dots} />}
            </g>
          )
        })}
        <Cursor x={x} up={up} />
      </svg>
    </svg>
  )
}

/** The values that an axis names: of two that read alike, as decimals end, the first. */
const withNames = (values: readonly number[], text: (value: number) => string) =>
  values
    .map((value) => [value, text(value)] as const)
    .filter(([, name], at, all) => name !== all[at - 1]?.[1])

interface PlaceProps {
  readonly x: (atMs: number) => number
  readonly up: number
}

function Shades({
  shades,
  x,
  across,
  up,
}: PlaceProps & Pick<Drawn, 'shades'> & { across: number }) {
  return shades.map(({ fromMs, toMs, isGrave }) => {
    // An Event that is open ends with the chart.
    const [from, to] = [Math.max(0, x(fromMs)), Math.min(across, x(toMs))]
    if (from > across || to < 0) return null
    return (
      <rect
        class={isGrave ? 'shade grave' : 'shade'}
        key={fromMs}
        x={from}
        width={Math.max(2, to - from)}
        height={up}
      />
    )
  })
}

function Cursor({ x, up }: PlaceProps) {
  const atMs = pointedMs.value
  return atMs === undefined ? null : <path class="cursor" d={`M${x(atMs)} 0v${up}`} />
}
