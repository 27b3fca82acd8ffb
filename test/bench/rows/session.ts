// One invocation of the bench: keeps measurements that several rows use.

import { join } from 'node:path'

import type { Layout } from '#test/bench/rig/cluster'
import { findKnees } from '#test/bench/rig/knee'
import type { Knee, SearchOptions } from '#test/bench/rig/knee'
import { CONNECTIONS, Rig, abandonSubject } from '#test/bench/rig/rig'
import type { Step } from '#test/bench/rig/rig'
import type { Subject } from '#test/bench/rig/subject'
import { rangeOf } from './measured.ts'
import type { Measured } from './measured.ts'
import type { SubjectId } from './row.ts'
import { Subjects } from './subjects.ts'
import type { Engine } from './subjects.ts'
import { warmRate } from './warm.ts'

const SHORT_MS = 1_500
const MS = 1_000

export interface SessionOptions {
  readonly secondsPerStep: number
  readonly runs: number
  /** Prints a line of progress. */
  readonly say: (line: string) => void
}

/** A plan: a subject to put under load. */
export interface Plan {
  readonly name: string
  readonly start: () => Promise<Subject>
  readonly devices: 'with devices' | 'without devices'
  /** Connections that send; CONNECTIONS by default. */
  readonly connections?: number
  /** Steps at half of the knee are wanted too. */
  readonly alsoHalf?: boolean
}

/** The result of work with a rig, or why it failed. */
export type Ending<Result> = { readonly ran: Subject['ran'] | undefined } & (
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'failed'; readonly failure: string }
)

interface Loaded {
  readonly plan: Plan
  readonly rig: Rig
}

type Runs = readonly (Knee<Step> | undefined)[]

export class Session {
  readonly options: SessionOptions
  readonly subjects: Subjects
  readonly #measured = new Map<string, Promise<Measured>>()

  constructor(options: SessionOptions) {
    this.options = options
    this.subjects = new Subjects()
  }

  /** The path of a directory of its own for each run of a row. */
  async *directories(row: string): AsyncGenerator<string> {
    const scratch = await this.subjects.scratch()
    for (let run = 0; run < this.options.runs; run += 1) yield join(scratch, `${row}-${run}`)
  }

  /** The product without a device connected. */
  accept(engine: Engine, layout: Layout = 'even'): Plan {
    const name = `accept-${engine}-${layout}`
    const start = (): Promise<Subject> => this.subjects.product(engine, name, layout)
    return { name, start, devices: 'without devices' }
  }

  /** The product with every channel subscribed by a WSS device; embedded also at half its knee. */
  endToEnd(engine: Engine, layout: Layout = 'even'): Plan {
    const name = `end-to-end-${engine}-${layout}`
    const start = (): Promise<Subject> => this.subjects.product(engine, name, layout)
    return { name, start, devices: 'with devices', alsoHalf: engine === 'embedded' }
  }

  /** The measurement of a plan, made now or before. */
  measure(plan: Plan): Promise<Measured> {
    const known = this.#measured.get(plan.name)
    if (known !== undefined) return known
    const measured = this.#measureInTurn([plan]).then(([only]) => only ?? NOT_MEASURED)
    this.#measured.set(plan.name, measured)
    return measured
  }

  /** A plan and its denominator, by the same search, their steps in turn. */
  async compare(plan: Plan, id: SubjectId): Promise<readonly [Measured, Measured]> {
    const devices = id === 'D1' ? 'without devices' : 'with devices'
    const start = (): Promise<Subject> => this.subjects.denominator(id)
    const measuring = this.#measureInTurn([{ name: id, start, devices }, plan])
    const measured = measuring.then(([, product]) => product ?? NOT_MEASURED)
    this.#measured.set(plan.name, measured)
    const [below = NOT_MEASURED] = await measuring
    return [await measured, below]
  }

  /** A plan and another one in the place of a denominator, by the same search, their steps in turn. */
  async between(plan: Plan, below: Plan): Promise<readonly [Measured, Measured]> {
    const [without = NOT_MEASURED, measured = NOT_MEASURED] = await this.#measureInTurn([
      below,
      plan,
    ])
    return [measured, without]
  }

  /** Works with a rig of its own. An error or a lost submission is a failure, with its reason. */
  async withRig<Result>(
    { name, start, devices, connections }: Plan,
    work: (rig: Rig) => Promise<Result>,
  ): Promise<Ending<Result>> {
    let subject: Subject | undefined
    let rig: Rig | undefined
    try {
      subject = await start()
      rig = await Rig.open(subject, devices, connections)
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

  /** The same with a rig for each plan. When one fails, all end. */
  withRigs<Result>(
    plans: readonly Plan[],
    work: (rigs: readonly Rig[]) => Promise<Result>,
  ): Promise<Ending<Result>> {
    return this.#withLoaded(plans, (loaded) => work(loaded.map(({ rig }) => rig)))
  }

  close(): Promise<void> {
    return this.subjects.close()
  }

  /** One for each plan. When one fails there is no figure of any. */
  async #measureInTurn(plans: readonly Plan[]): Promise<readonly Measured[]> {
    const ending = await this.#withLoaded(plans, (loaded) => this.#measureLoaded(loaded))
    if (ending.kind === 'done') return ending.result
    return plans.map(() => ({ ...NOT_MEASURED, failure: ending.failure }))
  }

  async #withLoaded<Result>(
    plans: readonly Plan[],
    work: (loaded: readonly Loaded[]) => Promise<Result>,
    before: readonly Loaded[] = [],
  ): Promise<Ending<Result>> {
    const [plan, ...rest] = plans
    if (plan === undefined) return { kind: 'done', ran: undefined, result: await work(before) }
    const ending = await this.withRig(plan, (rig) =>
      this.#withLoaded(rest, work, [...before, { plan, rig }]),
    )
    return ending.kind === 'done' ? ending.result : ending
  }

  async #measureLoaded(loaded: readonly Loaded[]): Promise<readonly Measured[]> {
    const searches: SearchOptions<Step>[] = []
    for (const { rig } of loaded) searches.push(await this.#warmed(rig))
    const runs = await findKnees(searches, this.options.runs)
    const measured: Measured[] = []
    for (const [index, each] of loaded.entries()) {
      const found = runs.map((knees) => knees[index])
      measured.push(await this.#measuredOf(each, found))
    }
    return measured
  }

  /** Warms a subject; gives the options of its search. */
  async #warmed(rig: Rig): Promise<SearchOptions<Step>> {
    const { secondsPerStep, say } = this.options
    const fullMs = secondsPerStep * MS
    const shortMs = Math.min(SHORT_MS, fullMs)
    const { name } = rig.subject
    const saturationPerSecond = await this.#warm(rig, shortMs)
    say(`  ${name}: ${rate(saturationPerSecond)} in a closed loop of ${CONNECTIONS}`)
    const attempt = async (ratePerSecond: number, length: 'short' | 'full'): Promise<Step> => {
      const durationMs = length === 'full' ? fullMs : shortMs
      const step = await rig.step({ pace: { kind: 'open', ratePerSecond }, durationMs })
      say(`  ${name}: ${rate(ratePerSecond)} ${length}: ${sentenceOf(step)}`)
      return step
    }
    return { saturationPerSecond, attempt }
  }

  async #measuredOf({ plan, rig }: Loaded, runs: Runs): Promise<Measured> {
    const { ran } = rig.subject
    const rates = runs.flatMap((found) => (found === undefined ? [] : [found.ratePerSecond]))
    const knee = rangeOf(rates)
    if (knee === undefined) return { ...NOT_MEASURED, runs, ran, failure: 'no rate was sustained' }
    const half = plan.alsoHalf === true ? await this.#half(rig, knee.median) : []
    return { runs, knee, half, ran, failure: undefined }
  }

  #warm(rig: Rig, durationMs: number): Promise<number> {
    return warmRate(async () => {
      const { load } = await rig.step({ pace: { kind: 'closed' }, durationMs })
      return load.acceptedPerSecond
    })
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

const NOT_MEASURED: Measured = {
  runs: [],
  knee: undefined,
  half: [],
  ran: undefined,
  failure: 'not measured',
}

const rate = (perSecond: number): string => `${Math.round(perSecond).toLocaleString('en')}/s`

function sentenceOf({ isSustained, reasons, load, device }: Step): string {
  const toDevice = device === undefined ? '' : `, to device ${device.latency.p99Ms.toFixed(1)} ms`
  const p99 = `p99 ${load.latency.p99Ms.toFixed(1)} ms${toDevice}`
  return isSustained ? `sustained, ${p99}` : `too much (${reasons.join('; ')})`
}
