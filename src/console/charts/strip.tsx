// The states of a value over time, as a strip of colours: false and true, or words.

import type { TargetedEvent } from 'preact'
import { useMemo } from 'preact/hooks'

import { second } from '#console/state/clock.ts'
import { pointedMs } from '#console/state/past/pointed.ts'
import { plain } from '#console/state/text.ts'
import type { Run } from '#console/state/past/thing-history.ts'
import { moment, span, t } from '#console/words/words.ts'
import { Said } from '#console/parts/text.tsx'

const WIDTH = 1_000

interface StripProps {
  readonly name: string
  readonly runs: readonly Run[]
  readonly text: (value: Run['value']) => string
  readonly fromMs: number
  readonly toMs: number
}

/** The classes of colours: false is the palest, true the first. */
const classOf = (value: Run['value'], at: number): string =>
  value === false ? 'off' : `data-${(at % 6) + 1}`

export function Strip({ name, runs, text, fromMs, toMs }: StripProps) {
  const seen = runs.filter((run) => run.toMs >= fromMs && run.fromMs <= toMs)
  const states = useMemo(() => statesOf(runs), [runs])
  const x = (atMs: number): number =>
    (Math.min(1, Math.max(0, (atMs - fromMs) / (toMs - fromMs))) || 0) * WIDTH
  const point = (event: TargetedEvent<SVGElement, PointerEvent>): void => {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    pointedMs.value = fromMs + ((event.clientX - left) / Math.max(1, width)) * (toMs - fromMs)
  }
  const last = runs.at(-1)
  const label = t('stripOf', {
    attr: name,
    n: Math.max(0, seen.length - 1),
    last: last === undefined ? '' : text(last.value),
  })
  return (
    <>
      <figcaption>
        <span class="key">
          <Said text={name} />
        </span>
        <Pointed runs={runs} text={text} />
        {[...states].map(([key, at]) => (
          <span class={`key ${classOf(valueOf(key), at)}`} key={key}>
            <Said text={text(valueOf(key))} />
          </span>
        ))}
      </figcaption>
      <svg
        class="states"
        viewBox={`0 0 ${WIDTH} 20`}
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
        onPointerMove={point}
        onPointerLeave={() => {
          pointedMs.value = undefined
        }}
      >
        {seen.map((run) => (
          <rect
            key={run.fromMs}
            class={classOf(run.value, states.get(plainKey(run.value)) ?? 0)}
            x={x(run.fromMs)}
            width={Math.max(1, x(run.toMs) - x(run.fromMs))}
            height="20"
          />
        ))}
        <Cursor x={x} />
      </svg>
    </>
  )
}

const plainKey = (value: Run['value']): string => JSON.stringify(value)
const valueOf = (key: string): Run['value'] => JSON.parse(key) as Run['value']

/** The distinct values, in the order in which they came. */
export const statesOf = (runs: readonly Run[]): ReadonlyMap<string, number> => {
  const keys = [...new Set(runs.map(({ value }) => plainKey(value)))]
  return new Map(
    keys.sort((a, b) => Number(b === 'true') - Number(a === 'true')).map((key, at) => [key, at]),
  )
}

function Cursor({ x }: { readonly x: (atMs: number) => number }) {
  const atMs = pointedMs.value
  return atMs === undefined ? null : <path class="cursor" d={`M${x(atMs)} 0V20`} />
}

function Pointed({ runs, text }: Pick<StripProps, 'runs' | 'text'>) {
  const atMs = pointedMs.value
  if (atMs === undefined) return null
  const run = runs.find(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs)
  if (run === undefined) return null
  return (
    <span class="of">
      <Said text={text(run.value)} /> · {moment(run.fromMs, second.peek())} ·{' '}
      {span(run.toMs - run.fromMs)}
    </span>
  )
}

const SHOWN = 5
const TEXT_MAX = 200

/** The changes of a value that has too many states for a strip, the newest first. */
export const Changes = ({
  name,
  runs,
}: {
  readonly name: string
  readonly runs: readonly Run[]
}) => (
  <>
    <figcaption>
      <Said text={name} />
    </figcaption>
    <ol class="updates">
      {runs
        .slice(-SHOWN)
        .toReversed()
        .map(({ fromMs, value }) => (
          <li key={fromMs}>
            <time>{moment(fromMs, second.value)}</time>
            <span class="news">
              <Said text={plain(value).slice(0, TEXT_MAX)} />
            </span>
          </li>
        ))}
    </ol>
  </>
)
