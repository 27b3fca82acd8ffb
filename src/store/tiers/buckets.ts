// Gathers readings, and buckets of readings, into buckets of one width.
//
// Every number goes this way: a reading is a bucket with the count 1, joining gathers readings,
// merging gathers the buckets of chunks, and so does a reader of series. Series and buckets are
// rows of numbers. (rows.ts)
//
// Invariants:
//   buckets/1. What is added in the order of the feed gives the same buckets however it was
//     gathered before: `last` is the value of the greatest time, and of the later one of two with
//     the same time.
//   buckets/2. A Thing has at most TIER_ATTRS_MAX attrs here; what is added of others is counted
//     and left out. (W7)

import { TIER_ATTRS_MAX } from '#domain/history/series'
import { AT, BUCKET_LENGTH, COUNT, LAST, MAX, MIN, Rows, SUM, numberAt } from './rows.ts'

/** In the place of a series or a bucket: there is none. */
export const NONE = -1

/** Behind the numbers of a bucket: the next one of its series. */
const NEXT = BUCKET_LENGTH

/** The numbers of a series. */
const FIRST = 0
const NEWEST = 1
const SIZE = 2
const SEVERAL = 3
const ATTR = 4
/** When the newest bucket begins. */
const BEGIN = 5
const SERIES_LENGTH = 6

/** Room for a few, which grows. */
const ROWS = 16

/** A Thing with its series, how many buckets these have, and how many of them several readings. */
export interface ThingOfBuckets {
  readonly thing: string
  readonly series: readonly number[]
  readonly buckets: number
  readonly several: number
}

export class Buckets {
  /** The series of each Thing, in the order in which its attrs came. */
  readonly things = new Map<string, number[]>()
  /** What was added of attrs beyond the limit. */
  leftOut = 0
  readonly #width: number
  readonly #buckets: Rows
  readonly #series = new Rows(SERIES_LENGTH, ROWS)
  /** The names of attrs, which series have the numbers of. */
  readonly #attrs: string[] = []
  readonly #attrNumbers = new Map<string, number>()
  /** Series with a bucket behind a later one, or behind one of the same time. */
  readonly #unordered = new Set<number>()
  readonly #reading = new Float64Array(BUCKET_LENGTH)
  /** The last time whose bucket was asked for, and when that begins. */
  #at = 0
  #begin = 0

  /** `width`: milliseconds of a bucket. `rows`: how many buckets there is room for at once. */
  constructor(width: number, rows = ROWS) {
    this.#width = width
    this.#buckets = new Rows(BUCKET_LENGTH + 1, rows)
    this.#reading[COUNT] = 1
  }

  /** The numbers of the buckets: a bucket is the place of its first one. */
  get numbers(): Float64Array {
    return this.#buckets.numbers
  }

  /** Buckets that were made. */
  get size(): number {
    return this.#buckets.size
  }

  /** The number of a series' attr. */
  attrOf(series: number): number {
    return numberAt(this.#series.numbers, series + ATTR)
  }

  nameOf(attr: number): string {
    return this.#attrs[attr] ?? ''
  }

  /** How many buckets a series has. */
  sizeOf(series: number): number {
    this.#settle(series)
    return numberAt(this.#series.numbers, series + SIZE)
  }

  /** The Things with series, in the order in which they came. */
  counted(): ThingOfBuckets[] {
    const { numbers } = this.#series
    const counted: ThingOfBuckets[] = []
    for (const [thing, list] of this.things) {
      if (list.length === 0) continue
      let buckets = 0
      let several = 0
      for (const series of list) {
        this.#settle(series)
        buckets += numberAt(numbers, series + SIZE)
        several += numberAt(numbers, series + SEVERAL)
      }
      counted.push({ thing, series: list, buckets, several })
    }
    return counted
  }

  /** The first bucket of a series, whose buckets come in the order of their times, each once. */
  firstOf(series: number): number {
    this.#settle(series)
    return numberAt(this.#series.numbers, series + FIRST)
  }

  /** The next bucket of the same series; NONE behind the last one. */
  nextOf(bucket: number): number {
    return numberAt(this.numbers, bucket + NEXT)
  }

  /** When a bucket begins. */
  beginOf(bucket: number): number {
    return this.#beginAt(numberAt(this.numbers, bucket + AT))
  }

  /** The attrs of a reading have one time, and a remainder takes as long as the rest of adding. */
  #beginAt(at: number): number {
    if (at !== this.#at) {
      this.#at = at
      this.#begin = at - (at % this.#width)
    }
    return this.#begin
  }

  /** The series of a Thing: a list to which `seriesIn` adds. */
  seriesOf(thing: string): number[] {
    let list = this.things.get(thing)
    if (list === undefined) this.things.set(thing, (list = []))
    return list
  }

  /**
   * The series of an attr in the list of its Thing. `place`: where it stands if the attrs come in
   * the same order again, as most do.
   */
  seriesIn(list: number[], attr: string, place: number): number {
    const likely = list[place]
    if (likely !== undefined && this.nameOf(this.attrOf(likely)) === attr) return likely
    const number = this.#numberOf(attr, place)
    const known = list.find((series) => this.attrOf(series) === number)
    if (known !== undefined) return known
    if (list.length === TIER_ATTRS_MAX) return NONE // buckets/2
    const series = this.#series.add()
    this.#series.numbers[series + ATTR] = number
    this.#clear(series)
    list.push(series)
    return series
  }

  #numberOf(attr: string, likely: number): number {
    if (this.#attrs[likely] === attr) return likely
    let number = this.#attrNumbers.get(attr)
    if (number === undefined) this.#attrNumbers.set(attr, (number = this.#attrs.push(attr) - 1))
    return number
  }

  /** Adds a reading to a series. */
  read(series: number, at: number, value: number): void {
    const reading = this.#reading
    reading[AT] = at
    reading[LAST] = value
    reading[MIN] = value
    reading[MAX] = value
    reading[SUM] = value
    this.add(series, reading, 0)
  }

  /** Adds a bucket to a series: the numbers from a place on. */
  add(series: number, from: Float64Array, place: number): void {
    if (series === NONE) {
      this.leftOut += numberAt(from, place + COUNT)
      return
    }
    const begin = this.#beginAt(numberAt(from, place + AT))
    const newest = numberAt(this.#series.numbers, series + BEGIN)
    if (begin === newest) {
      this.#include(series, from, place)
      return
    }
    if (begin < newest) this.#unordered.add(series)
    const bucket = this.#buckets.add()
    const { numbers } = this
    for (let index = 0; index < BUCKET_LENGTH; index += 1) {
      numbers[bucket + index] = numberAt(from, place + index)
    }
    this.#append(series, bucket)
  }

  /** Forgets what was added of a Thing, which was deleted. */
  drop(thing: string): void {
    this.things.delete(thing)
  }

  /** Forgets all of it. The arrays stay as long as they are. */
  clear(): void {
    this.leftOut = 0
    this.things.clear()
    this.#attrs.length = 0
    this.#attrNumbers.clear()
    this.#buckets.clear()
    this.#series.clear()
    this.#unordered.clear()
  }

  #clear(series: number): void {
    const { numbers } = this.#series
    numbers[series + FIRST] = NONE
    numbers[series + NEWEST] = NONE
    numbers[series + SIZE] = 0
    numbers[series + SEVERAL] = 0
    numbers[series + BEGIN] = NONE
  }

  #append(series: number, bucket: number): void {
    const of = this.#series.numbers
    const newest = numberAt(of, series + NEWEST)
    if (newest === NONE) of[series + FIRST] = bucket
    else this.numbers[newest + NEXT] = bucket
    this.numbers[bucket + NEXT] = NONE
    of[series + NEWEST] = bucket
    of[series + BEGIN] = this.beginOf(bucket)
    of[series + SIZE] = numberAt(of, series + SIZE) + 1
    if (numberAt(this.numbers, bucket + COUNT) > 1) this.#countSeveral(series)
  }

  #countSeveral(series: number): void {
    const of = this.#series.numbers
    of[series + SEVERAL] = numberAt(of, series + SEVERAL) + 1
  }

  /** Adds a bucket to the newest one of a series, behind which it was read. */
  #include(series: number, from: Float64Array, place: number): void {
    const { numbers } = this
    const bucket = numberAt(this.#series.numbers, series + NEWEST)
    if (numberAt(numbers, bucket + COUNT) === 1) this.#countSeveral(series)
    // buckets/1
    if (numberAt(from, place + AT) >= numberAt(numbers, bucket + AT)) {
      numbers[bucket + AT] = numberAt(from, place + AT)
      numbers[bucket + LAST] = numberAt(from, place + LAST)
    }
    numbers[bucket + COUNT] = numberAt(numbers, bucket + COUNT) + numberAt(from, place + COUNT)
    numbers[bucket + MIN] = Math.min(numberAt(numbers, bucket + MIN), numberAt(from, place + MIN))
    numbers[bucket + MAX] = Math.max(numberAt(numbers, bucket + MAX), numberAt(from, place + MAX))
    numbers[bucket + SUM] = numberAt(numbers, bucket + SUM) + numberAt(from, place + SUM)
  }

  /** Puts the buckets of a series in order, if they are not. */
  #settle(series: number): void {
    // Readings of most runs come in order, and this is asked for every series several times.
    if (this.#unordered.size === 0 || !this.#unordered.delete(series)) return
    const buckets: number[] = []
    for (let one = this.firstOf(series); one !== NONE; one = this.nextOf(one)) buckets.push(one)
    // The sort is stable: buckets of the same time stay in the order of the feed. (buckets/1)
    buckets.sort((one, other) => this.beginOf(one) - this.beginOf(other))
    this.#clear(series)
    for (const bucket of buckets) {
      const begin = numberAt(this.#series.numbers, series + BEGIN)
      if (begin === this.beginOf(bucket)) this.#include(series, this.numbers, bucket)
      else this.#append(series, bucket)
    }
  }
}
