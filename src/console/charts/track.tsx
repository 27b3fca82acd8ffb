// The way of a Thing that moves, as a drawing of its own: no map of a third party is loaded.

import { second } from '#console/state/clock.ts'
import { pointedMs } from '#console/state/past/pointed.ts'
import { drawingOf, scaleLength } from '#console/state/past/track.ts'
import type { Place } from '#console/state/past/track.ts'
import { moment, t } from '#console/words/words.ts'

const WIDTH = 640
const HEIGHT = 300
const SCALE_PX = 120

export function Track({ places }: { readonly places: readonly Place[] }) {
  const last = places.at(-1)
  if (last === undefined) return null
  const { at, metres } = drawingOf(places, WIDTH, HEIGHT)
  const path = places.map((place, index) => `${index === 0 ? 'M' : 'L'}${pointOf(at(place))}`)
  const [x, y] = at(last)
  const length = scaleLength(metres, SCALE_PX)
  return (
    <>
      <figcaption>
        <span class="key data-1">{t('track')}</span>
        <PointedPlace places={places} />
      </figcaption>
      <svg
        class="track"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={t('trackOf', { n: places.length, place: textOf(last) })}
      >
        <path class="way" d={path.join('')} />
        <circle class="here" cx={x} cy={y} r="6" />
        <PointedMark places={places} at={at} />
        <path class="scale" d={`M16 ${HEIGHT - 16}v6h${length / metres}v-6`} />
        <text x="16" y={HEIGHT - 22}>
          {length < 1_000 ? `${length} m` : `${length / 1_000} km`}
        </text>
        <text x={WIDTH - 16} y="24" text-anchor="end">
          {t('north')} ↑
        </text>
      </svg>
    </>
  )
}

const pointOf = ([x, y]: readonly [number, number]): string => `${x.toFixed(1)} ${y.toFixed(1)}`
const textOf = ({ latitude, longitude }: Place): string =>
  `${latitude.toFixed(5)}, ${longitude.toFixed(5)}`

/** Where the Thing was at the time pointed at. */
const placeAt = (places: readonly Place[], atMs: number | undefined): Place | undefined =>
  atMs === undefined ? undefined : places.findLast(({ time }) => time <= atMs)

interface MarkProps {
  readonly places: readonly Place[]
  readonly at: (place: Place) => readonly [number, number]
}

function PointedMark({ places, at }: MarkProps) {
  const place = placeAt(places, pointedMs.value)
  if (place === undefined) return null
  const [x, y] = at(place)
  return <circle class="then" cx={x} cy={y} r="5" />
}

function PointedPlace({ places }: Pick<MarkProps, 'places'>) {
  const place = placeAt(places, pointedMs.value) ?? places.at(-1)
  if (place === undefined) return null
  return (
    <span class="of">
      {textOf(place)} · {moment(place.time, second.value)}
    </span>
  )
}
