// The form of a chunk: the buckets of some Things, column by column.
//
// A bucket takes 20 bytes with one reading, whose value is all of last, min, max and sum, and 44
// with more. Numbers are doubles in the order of bytes of every machine that runs the gateway.
//
// Invariants:
//   chunk/1. Buckets read back equal to what was written.

import { deflateRawSync, inflateRawSync } from 'node:zlib'

import { StoreDefect } from '#src/store/store-error'
import { NONE } from './buckets.ts'
import type { Buckets, ThingOfBuckets } from './buckets.ts'
import { AT, BUCKET_LENGTH, COUNT, LAST, MAX, MIN, SUM, numberAt } from './rows.ts'

/** The first byte. */
const FORM = { plain: 0, deflated: 1 } as const
/**
 * Level 6 takes two to six times the CPU for 6 to 8 % fewer bytes. zstd would be better in bytes,
 * but Node.js 20 has none.
 */
const LEVEL = 1

/** What stands behind the columns, as JSON. */
interface Names {
  readonly things: readonly string[]
  readonly attrs: readonly string[]
}

/** How many there are of each. */
interface Counts {
  readonly buckets: number
  /** Buckets of several readings. */
  readonly several: number
  readonly things: number
  readonly series: number
}

/** In the order in which they stand in front of the columns. */
interface Sizes extends Counts {
  readonly textBytes: number
}

interface Columns {
  /** Of each bucket. */
  readonly at: Float64Array
  readonly last: Float64Array
  /** min, max and sum of each bucket of several readings. */
  readonly several: Float64Array
  readonly count: Uint32Array
  /** For each Thing how many series it has. */
  readonly things: Uint32Array
  /** For each series the number of its attr, and how many buckets it has. */
  readonly series: Uint32Array
}

/** The form and the sizes: behind them doubles may stand. */
const HEAD_LENGTH = 6
const HEAD_BYTES = 4 * HEAD_LENGTH

const bytesOf = ({ textBytes, buckets, several, things, series }: Sizes): number =>
  HEAD_BYTES + 20 * buckets + 24 * several + 4 * things + 8 * series + textBytes

/** The columns of a body. Throws RangeError when it is too short. */
function columnsIn(body: ArrayBuffer, { buckets, several, things, series }: Counts): Columns {
  let at = HEAD_BYTES
  const next = <Column extends Float64Array | Uint32Array>(column: Column): Column => {
    at += column.byteLength
    return column
  }
  const doubles = (length: number): Float64Array => next(new Float64Array(body, at, length))
  const whole = (length: number): Uint32Array => next(new Uint32Array(body, at, length))
  return {
    at: doubles(buckets),
    last: doubles(buckets),
    several: doubles(3 * several),
    count: whole(buckets),
    things: whole(things),
    series: whole(2 * series),
  }
}

/** A chunk as bytes, and how many they are before they are compressed. */
export interface Written {
  readonly content: Buffer
  readonly bytes: number
}

/** Writes the buckets of some Things. */
export function writeChunk(
  buckets: Buckets,
  things: readonly ThingOfBuckets[],
  { isCompressed }: { readonly isCompressed: boolean },
): Written {
  const counts = countsOf(things)
  const body = new ArrayBuffer(bytesOf({ textBytes: 0, ...counts }))
  const attrs = fill(columnsIn(body, counts), buckets, things)
  const names: Names = { things: things.map(({ thing }) => thing), attrs }
  const text = Buffer.from(JSON.stringify(names))
  const head = [FORM.plain, text.length, counts.buckets, counts.several, counts.things]
  new Uint32Array(body, 0, HEAD_LENGTH).set([...head, counts.series])
  const plain = Buffer.concat([Buffer.from(body), text])
  if (!isCompressed) return { content: plain, bytes: plain.length }
  const deflated = deflateRawSync(plain, { level: LEVEL })
  return { content: Buffer.concat([Buffer.of(FORM.deflated), deflated]), bytes: plain.length }
}

function countsOf(things: readonly ThingOfBuckets[]): Counts {
  const counts = { buckets: 0, several: 0, things: things.length, series: 0 }
  for (const { buckets, several, series } of things) {
    counts.buckets += buckets
    counts.several += several
    counts.series += series.length
  }
  return counts
}

/** Fills the columns, and gives the names of the attrs in the order of their numbers. */
function fill(columns: Columns, buckets: Buckets, things: readonly ThingOfBuckets[]): string[] {
  const { numbers } = buckets
  const names: string[] = []
  /** The number of each attr of the buckets in this chunk. */
  const attrs: number[] = []
  let row = 0
  let next = 0
  let at = 0
  for (const [index, { series: list }] of things.entries()) {
    columns.things[index] = list.length
    for (const series of list) {
      const before = row
      let bucket = buckets.firstOf(series)
      for (; bucket !== NONE; bucket = buckets.nextOf(bucket)) {
        const count = numberAt(numbers, bucket + COUNT)
        columns.at[row] = numberAt(numbers, bucket + AT)
        columns.last[row] = numberAt(numbers, bucket + LAST)
        columns.count[row] = count
        row += 1
        if (count === 1) continue
        columns.several[next] = numberAt(numbers, bucket + MIN)
        columns.several[next + 1] = numberAt(numbers, bucket + MAX)
        columns.several[next + 2] = numberAt(numbers, bucket + SUM)
        next += 3
      }
      const attr = buckets.attrOf(series)
      columns.series[at] = attrs[attr] ??= names.push(buckets.nameOf(attr)) - 1
      columns.series[at + 1] = row - before
      at += 2
    }
  }
  return names
}

function unpacked(content: Uint8Array): { readonly columns: Columns; readonly names: Names } {
  try {
    const isDeflated = content[0] === FORM.deflated
    // A copy, in which numbers may stand where they are.
    const { buffer } = new Uint8Array(isDeflated ? inflateRawSync(content.subarray(1)) : content)
    const head = new Uint32Array(buffer, 0, HEAD_LENGTH)
    const [, textBytes = 0, buckets = 0, several = 0, things = 0, series = 0] = head
    const sizes = { textBytes, buckets, several, things, series }
    const columns = columnsIn(buffer, sizes)
    const text = Buffer.from(buffer, bytesOf(sizes) - textBytes, textBytes).toString()
    return { columns, names: JSON.parse(text) as Names }
  } catch {
    throw new StoreDefect('damaged', 'a chunk of a tier is damaged')
  }
}

/** Which Things and attrs of a chunk are wanted. */
export type Wanted = (thing: string, attr: string) => boolean

/**
 * Adds the buckets of a chunk to others, in their order; those of a series that is not wanted are
 * stepped over. Throws StoreDefect for a damaged chunk. (chunk/1)
 */
export function addChunk(buckets: Buckets, content: Uint8Array, isWanted: Wanted): void {
  const { columns, names } = unpacked(content)
  const bucket = new Float64Array(BUCKET_LENGTH)
  let row = 0
  let next = 0
  let at = 0
  for (const [index, thing] of names.things.entries()) {
    for (let place = 0; place < numberAt(columns.things, index); place += 1) {
      const attr = names.attrs[numberAt(columns.series, at)] ?? ''
      const end = row + numberAt(columns.series, at + 1)
      at += 2
      const series = isWanted(thing, attr)
        ? buckets.seriesIn(buckets.seriesOf(thing), attr, place)
        : undefined
      for (; row < end; row += 1) {
        if (series !== undefined) {
          readBucket(bucket, columns, row, next)
          buckets.add(series, bucket, 0)
        }
        if (numberAt(columns.count, row) > 1) next += 3
      }
    }
  }
}

/** Reads a bucket. `next`: the place of its several numbers. */
function readBucket(bucket: Float64Array, columns: Columns, row: number, next: number): void {
  const count = numberAt(columns.count, row)
  bucket.fill(numberAt(columns.last, row))
  bucket[AT] = numberAt(columns.at, row)
  bucket[COUNT] = count
  if (count > 1) {
    bucket[MIN] = numberAt(columns.several, next)
    bucket[MAX] = numberAt(columns.several, next + 1)
    bucket[SUM] = numberAt(columns.several, next + 2)
  }
}
