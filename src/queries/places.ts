// Places of Things whose location_type is `geo`: how far one lies from another.

import type { Fields } from '#domain/submission'
import { textIn } from './facts.ts'

/** Degrees. */
export type Place = readonly [latitude: number, longitude: number]

/** The mean radius of the Earth. */
const RADIUS_METRES = 6_371_008.8
/** Half of its circumference: nothing is farther away. */
export const METRES_MAX = 20_015_115

const RADIANS = Math.PI / 180
const PLACE = /^\s*(-?\d{1,2}(?:\.\d{1,18})?)\s*[,;]\s*(-?\d{1,3}(?:\.\d{1,18})?)\s*$/

export const isPlace = ([latitude, longitude]: Place): boolean =>
  Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180

/** Where a Thing is: `48.2082,16.3738`; undefined when it does not say so. */
export function placeIn(fields: Fields): Place | undefined {
  if (textIn(fields, 'location_type').trim().toLowerCase() !== 'geo') return undefined
  const [, latitude, longitude] = PLACE.exec(textIn(fields, 'location_value')) ?? []
  const place = [Number(latitude), Number(longitude)] as const
  return latitude !== undefined && isPlace(place) ? place : undefined
}

/** Metres between two places on a sphere: half a percent less or more than on the Earth. */
export function metresBetween([lat1, lng1]: Place, [lat2, lng2]: Place): number {
  const half = (degrees: number): number => Math.sin((degrees * RADIANS) / 2) ** 2
  const inner =
    half(lat2 - lat1) + Math.cos(lat1 * RADIANS) * Math.cos(lat2 * RADIANS) * half(lng2 - lng1)
  return 2 * RADIUS_METRES * Math.asin(Math.min(1, Math.sqrt(inner)))
}
