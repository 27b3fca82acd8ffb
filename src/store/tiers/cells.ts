// Cuts the Things of a channel into cells, so that a reader of one Thing reads little.
//
// A Thing has a place by the hash of its id. A cell is a range of places that halving makes, so two
// cells are apart, or one holds the other: what covers a Thing begins at one of few places.

import { hash } from 'node:crypto'

import type { Buckets, ThingOfBuckets } from './buckets.ts'

/** Places are whole numbers of so many bits, and cells as small as 256 of them. */
const PLACE_BITS = 32
const HALVINGS_MAX = 24
const PLACE_MAX = 2 ** PLACE_BITS - 1

/** Bytes of buckets in a chunk; more only where a single Thing has more. */
const CELL_BYTES = 24_576
/** Bytes of a bucket of several readings, and of the names of a Thing. */
const BUCKET_BYTES = 44
const NAMES_BYTES = 64

export interface Cell {
  readonly firstPlace: number
  readonly lastPlace: number
}

export const WHOLE: Cell = { firstPlace: 0, lastPlace: PLACE_MAX }

/**
 * The place of a Thing. A hash for signatures: nobody finds many ids with one place, which would
 * make a cell that cannot be cut.
 */
export function placeOf(thing: string): number {
  const digest = hash('sha1', thing, 'binary') // A character for each byte: half the time of hex.
  let place = 0
  for (let byte = 0; byte < PLACE_BITS / 8; byte += 1) place = place * 256 + digest.charCodeAt(byte)
  return place
}

/** The places at which a cell begins that holds this place. */
export const beginsOf = (place: number): readonly number[] =>
  Array.from({ length: HALVINGS_MAX + 1 }, (_, halvings) => {
    const size = 2 ** (PLACE_BITS - halvings)
    return place - (place % size)
  })

/** True when a cell holds a place. */
export const holds = ({ firstPlace, lastPlace }: Cell, place: number): boolean =>
  firstPlace <= place && place <= lastPlace

export const isSmallest = ({ firstPlace, lastPlace }: Cell): boolean =>
  lastPlace - firstPlace < 2 ** (PLACE_BITS - HALVINGS_MAX)

/** The two halves of a cell. */
export function halvesOf({ firstPlace, lastPlace }: Cell): readonly [Cell, Cell] {
  const middle = firstPlace + (lastPlace - firstPlace + 1) / 2
  return [
    { firstPlace, lastPlace: middle - 1 },
    { firstPlace: middle, lastPlace },
  ]
}

/** The most cells that lie over each other, of cells in their order. */
export function depthOf(cells: readonly Cell[]): number {
  const over: number[] = []
  let depth = 0
  for (const { firstPlace, lastPlace } of cells) {
    while (over.length > 0 && (over.at(-1) ?? 0) < firstPlace) over.pop()
    over.push(lastPlace)
    depth = Math.max(depth, over.length)
  }
  return depth
}

interface Placed {
  readonly of: ThingOfBuckets
  readonly place: number
}

export interface CellOfThings {
  readonly cell: Cell
  readonly things: readonly ThingOfBuckets[]
}

/** Cuts the Things of buckets that are within a cell into cells of about CELL_BYTES. */
export function* cellsOf(buckets: Buckets, within: Cell = WHOLE): Generator<CellOfThings> {
  const things = buckets.counted()
  if (within === WHOLE && isSmall(things)) {
    yield* whole(things, WHOLE) // Nobody needs to know the places of few Things.
    return
  }
  const placed: Placed[] = []
  for (const of of things) {
    const place = placeOf(of.thing)
    if (holds(within, place)) placed.push({ of, place })
  }
  placed.sort((one, other) => one.place - other.place)
  yield* cut(placed, within)
}

function* cut(placed: readonly Placed[], cell: Cell): Generator<CellOfThings> {
  const things = placed.map(({ of }) => of)
  if (placed.length <= 1 || isSmall(things) || isSmallest(cell)) {
    yield* whole(things, cell)
    return
  }
  const [left, right] = halvesOf(cell)
  const found = placed.findIndex(({ place }) => place >= right.firstPlace)
  const middle = found < 0 ? placed.length : found
  yield* cut(placed.slice(0, middle), left)
  yield* cut(placed.slice(middle), right)
}

function* whole(things: readonly ThingOfBuckets[], cell: Cell): Generator<CellOfThings> {
  if (things.length > 0) yield { cell, things }
}

function isSmall(things: readonly ThingOfBuckets[]): boolean {
  let bytes = 0
  for (const { buckets } of things) bytes += NAMES_BYTES + buckets * BUCKET_BYTES
  return bytes <= CELL_BYTES
}
