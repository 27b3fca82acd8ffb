// Searches the highest rate that each subject sustains.
//
// Invariants:
//   knee/1. A knee is a rate whose full-length step was sustained. Short steps only say where to
//     begin.
//   knee/2. The search ends: rates stand on a ladder, and each run takes a bounded number of steps.
//   knee/3. The ladder is open at both ends, so that a bad first guess cannot become the result.
//   knee/4. One step runs at a time. Compared subjects alternate their steps: on a shared machine,
//     one after the other would have different cores.

import { Gate } from '#src/store/jobs/gate'

export interface Sustained {
  readonly isSustained: boolean
}

export interface SearchOptions<Step extends Sustained> {
  /** The rate of the subject in a closed loop: rung 0 of the ladder. */
  readonly saturationPerSecond: number
  readonly attempt: (ratePerSecond: number, length: 'short' | 'full') => Promise<Step>
}

/** The knee of one run. */
export interface Knee<Step extends Sustained> {
  readonly ratePerSecond: number
  /** The sustained full-length step at that rate. */
  readonly step: Step
}

const RUNG_RATIO = 0.95
const SHORT_STEPS_MAX = 7
const FULL_STEPS_MAX = 5

/**
 * The rate of a rung: rung 0 is the saturation, each further one 5 % lower, negative ones higher.
 */
export const rateOf = (saturationPerSecond: number, rung: number): number =>
  Math.max(1, Math.round(saturationPerSecond * RUNG_RATIO ** rung)) // knee/3

/**
 * The knees of subjects, those of one run together; undefined where a run sustained no rate. Each
 * subject has its own search, and they take their steps in turn. (knee/4)
 */
export async function findKnees<Step extends Sustained>(
  subjects: readonly SearchOptions<Step>[],
  runs: number,
): Promise<readonly (readonly (Knee<Step> | undefined)[])[]> {
  const inTurn = new Gate(1, setImmediate) // knee/4
  const searches = subjects.map(
    ({ saturationPerSecond, attempt }) =>
      new KneeSearch<Step>({
        saturationPerSecond,
        attempt: (...step) => inTurn.pass(() => attempt(...step), false),
      }),
  )
  await Promise.all(searches.map((search) => search.approach()))
  const found: (readonly (Knee<Step> | undefined)[])[] = []
  for (let run = 0; run < runs; run += 1) {
    found.push(await Promise.all(searches.map((search) => search.run())))
  }
  return found
}

/** The search for the knee of one subject. */
class KneeSearch<Step extends Sustained> {
  readonly #options: SearchOptions<Step>
  #start = 0

  constructor(options: SearchOptions<Step>) {
    this.#options = options
  }

  /** Finds with short steps where the first run begins. */
  async approach(): Promise<void> {
    const begin = { start: 0, stride: 4, stepsMax: SHORT_STEPS_MAX }
    this.#start = (await this.#search('short', begin))?.rung ?? 0
  }

  /** One run, from where the one before ended; undefined when it sustained no rate. */
  async run(): Promise<Knee<Step> | undefined> {
    const begin = { start: this.#start, stride: 1, stepsMax: FULL_STEPS_MAX }
    const found = await this.#search('full', begin) // knee/1
    if (found === undefined) return undefined
    this.#start = found.rung
    return {
      ratePerSecond: rateOf(this.#options.saturationPerSecond, found.rung),
      step: found.step,
    }
  }

  #search(length: 'short' | 'full', begin: Omit<Search<Step>, 'attempt'>) {
    const { saturationPerSecond, attempt } = this.#options
    return searchRung<Step>({
      ...begin,
      attempt: (rung) => attempt(rateOf(saturationPerSecond, rung), length),
    })
  }
}

interface Search<Step> {
  readonly start: number
  /** The distance from the first step to the second; doubled until a bound is found. */
  readonly stride: number
  readonly stepsMax: number
  readonly attempt: (rung: number) => Promise<Step>
}

/** Doubles its way to a rung that passes and one that fails, then halves what is between. */
async function searchRung<Step extends Sustained>({
  start,
  stride,
  stepsMax,
  attempt,
}: Search<Step>): Promise<{ rung: number; step: Step } | undefined> {
  let best: { rung: number; step: Step } | undefined
  let failing: number | undefined
  let rung = start
  let reach = stride
  for (let taken = 0; taken < stepsMax; taken += 1) {
    const step = await attempt(rung)
    if (step.isSustained) best = { rung, step }
    else failing = rung
    if (best !== undefined && failing !== undefined) {
      if (best.rung - failing <= 1) return best
      rung = Math.floor((best.rung + failing) / 2)
    } else {
      rung += step.isSustained ? -reach : reach
      reach *= 2
    }
  }
  return best // knee/2
}
