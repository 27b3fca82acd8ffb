// The way of a Thing that moves: its places over time, and where they lie in a drawing.

import { recordOf, textIn } from '#domain/record'
import type { FeedRecord } from '#src/client/bodies'

export interface Place {
  readonly time: number
  readonly latitude: number
  readonly longitude: number
}

const COORDINATES = /^\s*(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)\s*$/

/** The place of a `location_value` of type geo; undefined for one of another form. */
export function placeIn(value: unknown, time: number): Place | undefined {
  const [, latitude, longitude] = COORDINATES.exec(textIn(value) ?? '') ?? []
  if (latitude === undefined || Math.abs(Number(latitude)) > 90) return undefined
  if (Math.abs(Number(longitude)) > 180) return undefined
  return { time, latitude: Number(latitude), longitude: Number(longitude) }
}

/** The places that entries of a Thing's feed tell, in the order of their observation. */
export const placesIn = (entries: readonly FeedRecord[]): readonly Place[] =>
  entries
    .flatMap(({ payload, accepted_at: acceptedAt }) => {
      const { observed_at: observedAt, location_value: value } = recordOf(payload) ?? {}
      return placeIn(value, typeof observedAt === 'number' ? observedAt : acceptedAt) ?? []
    })
    .toSorted((a, b) => a.time - b.time)

const METRES_PER_DEGREE = 111_320
/** Places that are closer together than this are drawn as one. */
const EXTENT_MIN_METRES = 200
const MARGIN = 0.12

export interface Drawing {
  readonly at: (place: Place) => readonly [x: number, y: number]
  /** How many metres a pixel of the drawing is long. */
  readonly metres: number
}

/** A drawing of these sizes that has all places, north up and with true proportions. */
export function drawingOf(places: readonly Place[], width: number, height: number): Drawing {
  const latitudes = places.map(({ latitude }) => latitude)
  const longitudes = places.map(({ longitude }) => longitude)
  const [south, north] = [Math.min(...latitudes), Math.max(...latitudes)]
  const [west, east] = [Math.min(...longitudes), Math.max(...longitudes)]
  const middle = { latitude: (south + north) / 2, longitude: (west + east) / 2 }
  const narrowing = Math.max(0.01, Math.cos((middle.latitude * Math.PI) / 180))
  const room = 1 - 2 * MARGIN
  const metres =
    Math.max(
      ((east - west) * narrowing * METRES_PER_DEGREE) / (width * room),
      ((north - south) * METRES_PER_DEGREE) / (height * room),
      EXTENT_MIN_METRES / width,
    ) || 1
  const scale = METRES_PER_DEGREE / metres
  return {
    metres,
    at: ({ latitude, longitude }) => [
      width / 2 + (longitude - middle.longitude) * narrowing * scale,
      height / 2 - (latitude - middle.latitude) * scale,
    ],
  }
}

/** The longest round length, in metres, that is at most so many pixels long. */
export function scaleLength(metres: number, pixels: number): number {
  const size = 10 ** Math.floor(Math.log10(metres * pixels))
  const [fits = 1] = [5, 2, 1].filter((times) => times * size <= metres * pixels)
  return fits * size
}
