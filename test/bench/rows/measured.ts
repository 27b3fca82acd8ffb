// The measurement of a subject: its knees, run by run, and details.

import { spread } from '#test/bench/load/statistics'
import type { Knee } from '#test/bench/rig/knee'
import { CONNECTIONS } from '#test/bench/rig/rig'
import type { Step } from '#test/bench/rig/rig'
import type { Subject } from '#test/bench/rig/subject'
import type { Range } from './row.ts'

/** A subject's knees, and with `half` steps at half of their median. */
export interface Measured {
  /** One a run; undefined where none was found. */
  readonly runs: readonly (Knee<Step> | undefined)[]
  readonly knee: Range | undefined
  readonly half: readonly Step[]
  readonly ran: Subject['ran'] | undefined
  /** The reason for a missing figure: something was lost, or no rate was sustained. */
  readonly failure: string | undefined
}

interface Rates {
  readonly runs: readonly (Pick<Knee<Step>, 'ratePerSecond'> | undefined)[]
}

/** Sustained full-length steps, the one at the knee of each run. */
export const stepsOf = ({ runs }: Pick<Measured, 'runs'>): readonly Step[] =>
  runs.flatMap((knee) => (knee === undefined ? [] : [knee.step]))

/** Median, least and greatest; undefined without a value. */
export const rangeOf = (values: readonly number[]): Range | undefined =>
  values.length === 0 ? undefined : spread(values)

/**
 * One knee divided by another, run by run: the machine's speed changes between runs, and one run
 * has the same speed for both.
 */
export function divided({ runs }: Rates, below: Rates): Range | undefined {
  const ratios = runs.flatMap((knee, run) => {
    const denominator = below.runs[run]
    if (knee === undefined || denominator === undefined) return []
    return [knee.ratePerSecond / denominator.ratePerSecond]
  })
  return rangeOf(ratios)
}

/** Details of a measurement beside its figure. */
export function detailsOf(measured: Measured): Readonly<Record<string, unknown>> {
  const { runs, ran } = measured
  const steps = stepsOf(measured)
  const of = (value: (step: Step) => number): number => spread(steps.map(value)).median
  return {
    ran,
    connections: CONNECTIONS,
    kneesPerSecond: runs.map((knee) => knee?.ratePerSecond),
    cpuMicrosPerSubmission: cpuMicrosOf(steps),
    acceptP99Ms: of(({ load }) => load.latency.p99Ms),
    deviceP99Ms: of(({ device }) => device?.latency.p99Ms ?? Number.NaN),
    drainMs: of(({ drainMs }) => drainMs),
    residentMb: steps.map(({ residentMb }) => Math.round(residentMb)),
    sentAsWholeState: steps.at(-1)?.device?.synced,
  }
}

/** CPU time by process, in microseconds a submission; the median of the steps. */
export function cpuMicrosOf(
  steps: readonly Pick<Step, 'cpuSeconds' | 'load'>[],
): Readonly<Record<string, number>> {
  const secondsOf = ({ cpuSeconds: { backend, ...rest } }: Pick<Step, 'cpuSeconds'>) => ({
    ...rest,
    ...backend,
  })
  const [first] = steps
  if (first === undefined) return {}
  return Object.fromEntries(
    Object.keys(secondsOf(first)).map((name) => {
      const micros = steps.map((step) => {
        const seconds: Readonly<Record<string, number>> = secondsOf(step)
        return ((seconds[name] ?? 0) / step.load.accepted) * 1e6
      })
      return [name, spread(micros).median]
    }),
  )
}
