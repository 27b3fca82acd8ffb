// Searches the highest rate that a subject sustains.
//
// Invariants:
//   B6. A knee is a rate whose full-length step was sustained. Short steps only say where to begin.
//   B7. The search ends: rates stand on a ladder, and each run takes a bounded number of steps.
//   B10. The ladder is open at both ends, so that a bad first guess cannot become the result.

import { spread } from '#test/bench/load/statistics'

export interface Sustained {
  readonly isSustained: boolean
}

export interface KneeOptions<Step extends Sustained> {
  /** What the subject does in a closed loop: where the ladder hangs. */
  readonly saturationPerSecond: number
  /** How many knees to find; the median of them counts. */
  readonly runs: number
  readonly attempt: (ratePerSecond: number, length: 'short' | 'full') => Promise<Step>
}

export interface Knee<Step extends Sustained> {
  readonly median: number
  readonly min: number
  readonly max: number
  /** One sustained full-length step per run, the one at its knee. */
  readonly steps: readonly Step[]
}

const RUNG_RATIO = 0.95
const SHORT_STEPS_MAX = 7
const FULL_STEPS_MAX = 5

/**
 * The rate of a rung: rung 0 is the saturation, each further one 5 % lower, negative ones higher.
 */
export const rateOf = (saturationPerSecond: number, rung: number): number =>
  Math.max(1, Math.round(saturationPerSecond * RUNG_RATIO ** rung)) // B10

/** Undefined when no rate could be sustained in any run. */
export async function findKnee<Step extends Sustained>({
  saturationPerSecond,
  runs,
  attempt,
}: KneeOptions<Step>): Promise<Knee<Step> | undefined> {
  const search = (length: 'short' | 'full', begin: Omit<Search<Step>, 'attempt'>) =>
    searchRung({ ...begin, attempt: (rung) => attempt(rateOf(saturationPerSecond, rung), length) })
  const short = await search('short', { start: 0, stride: 4, stepsMax: SHORT_STEPS_MAX })
  let start = short?.rung ?? 0
  const rates: number[] = []
  const steps: Step[] = []
  for (let run = 0; run < runs; run += 1) {
    const found = await search('full', { start, stride: 1, stepsMax: FULL_STEPS_MAX }) // B6
    if (found === undefined) continue
    start = found.rung
    rates.push(rateOf(saturationPerSecond, found.rung))
    steps.push(found.step)
  }
  return rates.length === 0 ? undefined : { ...spread(rates), steps }
}

interface Search<Step> {
  readonly start: number
  /** How far the second step is from the first; doubled until a bound is found. */
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
  return best // B7
}
