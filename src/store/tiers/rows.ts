// A bucket is some numbers in a row of an array: an object for each would take most of the time of
// joining.

/** The places of its numbers. `at`: the time of its last reading, which says where it begins. */
export const AT = 0
export const COUNT = 1
export const LAST = 2
export const MIN = 3
export const MAX = 4
export const SUM = 5
/** How many they are. */
export const BUCKET_LENGTH = 6

/** A number of an array that is there. */
export const numberAt = (numbers: ArrayLike<number>, place: number): number =>
  numbers[place] ?? Number.NaN

/** Rows of numbers in one array. A row is named by the place of its first number. */
export class Rows {
  #numbers: Float64Array
  #end = 0
  readonly #length: number

  /** `length`: numbers of a row. `rows`: how many there is room for at once. */
  constructor(length: number, rows: number) {
    this.#length = length
    this.#numbers = new Float64Array(rows * length)
  }

  /** Forgets the rows. The array stays as long as it is. */
  clear(): void {
    this.#end = 0
  }

  /** The array until the next row is added. */
  get numbers(): Float64Array {
    return this.#numbers
  }

  /** How many rows there are. */
  get size(): number {
    return this.#end / this.#length
  }

  /** Adds a row, whose numbers are to be set. */
  add(): number {
    const row = this.#end
    this.#end += this.#length
    if (this.#end > this.#numbers.length) {
      const longer = new Float64Array(2 * this.#numbers.length)
      longer.set(this.#numbers)
      this.#numbers = longer
    }
    return row
  }
}
