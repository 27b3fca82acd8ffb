// The budget of what rules compute, counted in steps.
//
// Invariants:
//   work/1. What rules compute for one reading, for one deadline and for one expression is bounded.
//     The steps follow from rules and values alone, never from a clock: a replay fails where the
//     first run failed. (W3)
//   work/2. A step is taken before its work, which is a node of an expression, an item of a list, a
//     condition, or a few characters that are looked at or made. The names of one object are the
//     exception: they are counted once they are read, and a Thing has 64 KiB of them at most.

/** Steps of all rules together for one reading: 5 ms at worst, and 1,000 rules of 50 steps. */
export const READING_STEPS_MAX = 50_000
/** Steps of one rule for one deadline. A turn takes a thousand of these. (R7) */
export const DEADLINE_STEPS_MAX = 10_000
/** Steps of one evaluation of an expression. */
export const EXPRESSION_STEPS_MAX = 10_000

/** Characters of texts that are one step: looking at them takes as long as a node. */
const CHARACTERS_OF_STEP = 8

/** Why a condition fails when nothing is left for it. */
export const OUT_OF_STEPS = 'the rules take too many steps'

export class Work {
  readonly #max: number
  #left: number
  /** What must be left: more than 0 while a part has a bound of its own. */
  #floor = 0

  constructor(max: number) {
    this.#max = max
    this.#left = max
  }

  /** The steps that were taken; one more than the bound once there are none. */
  get taken(): number {
    return this.#max - this.#left
  }

  /** True once more was asked for than there was: then nothing is given any more. */
  get isSpent(): boolean {
    return this.#left < 0
  }

  /** Takes steps; false when there are not so many, and from then on. */
  take(steps: number): boolean {
    const left = this.#left - steps
    this.#left = left >= this.#floor ? left : Math.min(this.#left, this.#floor - 1) // work/1
    return left >= this.#floor
  }

  /** Takes the steps of so many characters. */
  takeText(length: number): boolean {
    return this.take(Math.ceil(length / CHARACTERS_OF_STEP))
  }

  /** Runs a job that may take so many steps, and no more than are left; undefined beyond them. */
  within<Result>(max: number, job: () => Result): Result | undefined {
    this.#floor = Math.max(0, this.#left - max)
    try {
      const result = job()
      return this.#left >= this.#floor ? result : undefined
    } finally {
      this.#floor = 0
    }
  }
}
