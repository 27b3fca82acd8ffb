// Where Things are: their places on the earth, and on a map of a size.

import type { ThingView } from '#src/client/view'

export type Place = readonly [latitude: number, longitude: number]

/** The place of a Thing: its location of the type `geo`, or its attrs latitude and longitude. */
export function placeOf({ fields, attrs }: Pick<ThingView, 'fields' | 'attrs'>): Place | undefined {
  const { location_type: type, location_value: text } = fields
  const [latitude, longitude] =
    type === 'geo' && typeof text === 'string'
      ? text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
      : [attrs['latitude'], attrs['longitude']]
  if (typeof latitude !== 'number' || typeof longitude !== 'number') return undefined
  const isOnEarth = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180
  return isOnEarth ? [latitude, longitude] : undefined
}

const WIDTH = 1_000
const HEIGHT = 600
const MARGIN = 60
const METRES_A_DEGREE = 111_320
const LEAST_DEGREES = 0.002
const BARS_M = [50, 100, 500, 1_000, 5_000, 10_000, 50_000, 100_000, 500_000, 1_000_000]

/** A map that shows all of the places: where each stands, and a bar of a known length. */
export function mapOf(places: readonly Place[]) {
  const latitudes = places.map(([latitude]) => latitude)
  const longitudes = places.map(([, longitude]) => longitude)
  const [south, north] = [Math.min(...latitudes), Math.max(...latitudes)]
  const [west, east] = [Math.min(...longitudes), Math.max(...longitudes)]
  // A degree of longitude is shorter the further it is from the equator.
  const shorter = Math.max(0.05, Math.cos((((south + north) / 2) * Math.PI) / 180))
  const across = Math.max(LEAST_DEGREES, (east - west) * shorter)
  const down = Math.max(LEAST_DEGREES, north - south)
  const scale = Math.min((WIDTH - 2 * MARGIN) / across, (HEIGHT - 2 * MARGIN) / down)
  const at = ([latitude, longitude]: Place): readonly [x: number, y: number] => [
    WIDTH / 2 + (longitude - (west + east) / 2) * shorter * scale,
    HEIGHT / 2 - (latitude - (south + north) / 2) * scale,
  ]
  const metre = scale / METRES_A_DEGREE
  const metres = BARS_M.findLast((length) => length * metre <= WIDTH / 4) ?? BARS_M[0] ?? 0
  const text = metres < 1_000 ? `${metres} m` : `${metres / 1_000} km`
  return { width: WIDTH, height: HEIGHT, at, bar: { length: metres * metre, text } }
}
