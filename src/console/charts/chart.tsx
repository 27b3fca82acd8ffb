// A chart of values over time. Charts that stand together have one span and one cursor.

import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

import { second } from '#console/state/clock.ts'
import { pan, pointedMs, zoom } from '#console/state/past/pointed.ts'
import { visible } from '#console/state/text.ts'
import { nearest } from '#console/state/past/thing-history.ts'
import { moment, t } from '#console/words/words.ts'
import { followGestures } from './gestures.ts'
import { Plot, edgesOf } from './plot.tsx'
import type { ChartLine, Drawn } from './plot.tsx'

interface ChartProps extends Drawn {
  /** What the chart shows, for who does not see it. */
  readonly label: string
  /** What stands beside the names of the lines. */
  readonly children?: ComponentChildren
}

export function Chart(props: ChartProps) {
  const { label, lines, isFixed = false, children } = props
  const box = useRef<HTMLDivElement>(null)
  const [size, setSize] = useState({ width: 0, height: 0 })
  const latest = useRef(props)
  latest.current = props
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return undefined
    const measure = (): void =>
      setSize({ width: element.clientWidth, height: element.clientHeight })
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    measure()
    return () => observer.disconnect()
  }, [])
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return undefined
    return followGestures(
      element,
      gesturesOf(element, () => latest.current, isFixed),
    )
  }, [isFixed])
  return (
    <>
      <figcaption>
        {lines.map((line, at) => (
          <Key line={line} at={at} key={line.name} />
        ))}
        <PointedTime />
        {children}
      </figcaption>
      <div
        class={isFixed ? 'plot' : 'plot moved'}
        ref={box}
        role="img"
        tabIndex={0}
        aria-label={label}
        title={isFixed ? undefined : t('chartKeys')}
      >
        {size.width > 0 && <Plot {...props} {...size} />}
      </div>
    </>
  )
}

function gesturesOf(element: HTMLElement, shown: () => Drawn, isFixed: boolean) {
  const timeAt = (place: number): number => {
    const { fromMs, toMs } = shown()
    return fromMs + Math.min(1, Math.max(0, place)) * (toMs - fromMs)
  }
  return {
    placeAt: (clientX: number) => {
      const box = element.getBoundingClientRect()
      const { left, right } = edgesOf(shown().lines, box.width)
      return (clientX - box.left - left) / (right - left)
    },
    point: (place: number | undefined) => {
      pointedMs.value = place === undefined ? undefined : timeAt(place)
    },
    step: (part: number) => {
      const { fromMs, toMs } = shown()
      const place = ((pointedMs.peek() ?? toMs) - fromMs) / (toMs - fromMs)
      pointedMs.value = timeAt(place + part)
    },
    pan: isFixed ? () => {} : pan,
    zoom: isFixed ? () => {} : zoom,
  }
}

/** The name of a line, with its value at the time pointed at. */
function Key({ line, at }: { readonly line: ChartLine; readonly at: number }) {
  const atMs = pointedMs.value
  const found = atMs === undefined ? undefined : nearest(line.line, atMs)
  const isRange = found !== undefined && found.low !== found.high
  return (
    <span class={`key data-${at + 1}`}>
      <bdi>{visible(line.name)}</bdi>{' '}
      {found !== undefined && (
        <span class="of">
          {line.text(found.value)}
          {isRange && ` (${line.text(found.low)} – ${line.text(found.high)})`}
        </span>
      )}
    </span>
  )
}

function PointedTime() {
  const atMs = pointedMs.value
  return atMs === undefined ? null : <time class="of">{moment(atMs, second.peek())}</time>
}
