// One invocation of the bench: what was measured once and is used by several rows.
//
// One thing runs at a time: the machine has few cores, and an idle server's timers are noise too.

import { spread } from '#test/bench/load/statistics'
import { findKnee } from '#test/bench/rig/knee'
import type { Knee } from '#test/bench/rig/knee'
import { CONNECTIONS, Rig, abandonSubject } from '#test/bench/rig/rig'
import type { Step } from '#test/bench/rig/rig'
import type { Subject } from '#test/bench/rig/subject'
import type { DenominatorId } from './row.ts'
import { Subjects } from './subjects.ts'
import type { Engine } from './subjects.ts'

const SHORT_MS = 1_500
const WARM_STEPS_MAX = 10
/** A step that gives less than this much of the best one before has gained nothing. */
const WARMER_RATIO = 1.05
const MS = 1_000

export interface SessionOptions {
  readonly secondsPerStep: number
  readonly runs: number
  /** Where progress is told. */
  readonly say: (line: string) => void
}

/** A subject's knee, and with `half` steps at half of it. */
export interface Measured {
  readonly knee: Knee<Step> | undefined
  readonly half: readonly Step[]
  readonly ran: Subject['ran'] | undefined
  /** Why there is no figure: something was lost, or nothing could be sustained. */
  readonly failure: string | undefined
}

/** What is put under load. */
export interface Plan {
  readonly name: string
  readonly start: () => Promise<Subject>
  readonly devices: 'with devices' | 'without devices'
}

/** What was done with a rig, or why it came to nothing. */
export type Ending<Result> = { readonly ran: Subject['ran'] | undefined } & (
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'failed'; readonly failure: string }
)

export class Session {
  readonly options: SessionOptions
  readonly subjects: Subjects
  readonly #measured = new Map<string, Promise<Measured>>()

  constructor(options: SessionOptions) {
    this.options = options
    this.subjects = new Subjects(options.say)
  }

  /** D1 and D4, by the same search as everything that is divided by them. */
  denominator(id: DenominatorId): Promise<Measured> {
    const devices = id === 'D1' ? 'without devices' : 'with devices'
    return this.#measure({ name: id, start: () => this.subjects.denominator(id), devices })
  }

  /** The product without a device connected. */
  accept(engine: Engine): Promise<Measured> {
    const name = `accept-${engine}`
    const start = (): Promise<Subject> => this.subjects.product(engine, name)
    return this.#measure({ name, start, devices: 'without devices' })
  }

  /** The product with every channel subscribed by a WSS device; embedded also at half its knee. */
  endToEnd(engine: Engine): Promise<Measured> {
    const name = `end-to-end-${engine}`
    const start = (): Promise<Subject> => this.subjects.product(engine, name)
    const alsoHalf = engine === 'embedded'
    return this.#measure({ name, start, devices: 'with devices', alsoHalf })
  }

  /** The same cluster with one node that takes requests and sessions and one that applies. */
  endToEndSplit(): Promise<Measured> {
    const name = 'end-to-end-split'
    const start = (): Promise<Subject> => this.subjects.product('cluster', name, 'split')
    return this.#measure({ name, start, devices: 'with devices' })
  }

  /**
   * Works with a rig of its own. What goes wrong or is lost on the way is a failure, with its
   * reason.
   */
  async withRig<Result>(
    { name, start, devices }: Plan,
    work: (rig: Rig) => Promise<Result>,
  ): Promise<Ending<Result>> {
    let subject: Subject | undefined
    let rig: Rig | undefined
    try {
      subject = await start()
      rig = await Rig.open(subject, devices)
      const result = await work(rig)
      await rig.close()
      return { kind: 'done', ran: subject.ran, result }
    } catch (error) {
      if (rig !== undefined) await rig.abandon()
      else if (subject !== undefined) await abandonSubject(subject)
      const failure = error instanceof Error ? error.message : String(error)
      this.options.say(`  ${name}: ${failure}`)
      return { kind: 'failed', ran: subject?.ran, failure }
    }
  }

  close(): Promise<void> {
    return this.subjects.close()
  }

  #measure(plan: Plan & { readonly alsoHalf?: boolean }): Promise<Measured> {
    const known = this.#measured.get(plan.name)
    if (known !== undefined) return known
    const measured = this.#measureOnce(plan)
    this.#measured.set(plan.name, measured)
    return measured
  }

  /** Knee and, if asked for, half of it. */
  async #measureOnce(plan: Plan & { readonly alsoHalf?: boolean }): Promise<Measured> {
    const ending = await this.withRig(plan, async (rig) => {
      const knee = await this.#knee(rig)
      const half =
        plan.alsoHalf !== true || knee === undefined ? [] : await this.#half(rig, knee.median)
      return { knee, half }
    })
    const { ran } = ending
    if (ending.kind === 'failed') return { knee: undefined, half: [], ran, failure: ending.failure }
    const failure = ending.result.knee === undefined ? 'no rate was sustained' : undefined
    return { ...ending.result, ran, failure }
  }

  async #knee(rig: Rig): Promise<Knee<Step> | undefined> {
    const { secondsPerStep, runs, say } = this.options
    const fullMs = secondsPerStep * MS
    const shortMs = Math.min(SHORT_MS, fullMs)
    const saturationPerSecond = await this.#warm(rig, shortMs)
    say(`  ${rig.subject.name}: ${rate(saturationPerSecond)} in a closed loop of ${CONNECTIONS}`)
    return findKnee<Step>({
      saturationPerSecond,
      runs,
      attempt: async (ratePerSecond, length) => {
        const durationMs = length === 'full' ? fullMs : shortMs
        const step = await rig.step({ pace: { kind: 'open', ratePerSecond }, durationMs })
        say(`  ${rig.subject.name}: ${rate(ratePerSecond)} ${length}: ${sentenceOf(step)}`)
        return step
      },
    })
  }

  /**
   * What a closed loop gives once it gains no more: code is compiled and caches are filled under
   * load, and whoever has more of both takes longer.
   */
  async #warm(rig: Rig, durationMs: number): Promise<number> {
    let best = 0
    for (let step = 0; step < WARM_STEPS_MAX; step += 1) {
      const { load } = await rig.step({ pace: { kind: 'closed' }, durationMs })
      const isWarm = step > 0 && load.acceptedPerSecond < best * WARMER_RATIO
      best = Math.max(best, load.acceptedPerSecond)
      if (isWarm) break
    }
    return best
  }

  async #half(rig: Rig, knee: number): Promise<readonly Step[]> {
    const durationMs = this.options.secondsPerStep * MS
    const steps: Step[] = []
    for (let run = 0; run < this.options.runs; run += 1) {
      const pace = { kind: 'open', ratePerSecond: Math.round(knee / 2) } as const
      const step = await rig.step({ pace, durationMs })
      this.options.say(`  ${rig.subject.name}: half of the knee: ${sentenceOf(step)}`)
      steps.push(step)
    }
    return steps
  }
}

const rate = (perSecond: number): string => `${Math.round(perSecond).toLocaleString('en')}/s`

function sentenceOf({ isSustained, reasons, load, device }: Step): string {
  const toDevice = device === undefined ? '' : `, to device ${device.latency.p99Ms.toFixed(1)} ms`
  const p99 = `p99 ${load.latency.p99Ms.toFixed(1)} ms${toDevice}`
  return isSustained ? `sustained, ${p99}` : `too much (${reasons.join('; ')})`
}

/** What is worth knowing of a measurement, beside its figure. */
export function detailsOf({ knee, ran }: Measured): Readonly<Record<string, unknown>> {
  const steps = knee?.steps ?? []
  const of = (value: (step: Step) => number): number => spread(steps.map(value)).median
  return {
    ran,
    connections: CONNECTIONS,
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
  const secondsOf = ({ cpuSeconds: { backing, ...rest } }: Pick<Step, 'cpuSeconds'>) => ({
    ...rest,
    ...backing,
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
