// One invocation of the bench: what was measured once and is used by several rows.
//
// One thing runs at a time: the machine has few cores, and an idle server's timers are noise too.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { spread } from '#test/bench/load/statistics'
import { startBareHttp, startStraightLine } from '#test/bench/rig/denominators'
import { prepareGateway, startPrepared } from '#test/bench/rig/gateway'
import type { Prepared } from '#test/bench/rig/gateway'
import { findKnee } from '#test/bench/rig/knee'
import type { Knee } from '#test/bench/rig/knee'
import { CONNECTIONS, Rig } from '#test/bench/rig/rig'
import type { Step } from '#test/bench/rig/rig'
import type { Subject } from '#test/bench/rig/subject'
import type { DenominatorId } from './row.ts'

const SHORT_MS = 1_500
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

interface Plan {
  readonly name: string
  readonly start: () => Promise<Subject>
  readonly devices: 'with devices' | 'without devices'
  readonly alsoHalf?: boolean
}

export class Session {
  readonly options: SessionOptions
  readonly #measured = new Map<string, Promise<Measured>>()
  #directory: Promise<string> | undefined
  #prepared: Promise<Prepared> | undefined

  constructor(options: SessionOptions) {
    this.options = options
  }

  /** D1 and D4, by the same search as everything that is divided by them. */
  denominator(id: DenominatorId): Promise<Measured> {
    return id === 'D1'
      ? this.#measure({ name: id, start: startBareHttp, devices: 'without devices' })
      : this.#measure({
          name: id,
          start: async () => startStraightLine(await this.scratch()),
          devices: 'with devices',
        })
  }

  /** The product without a device connected. */
  accept(): Promise<Measured> {
    const name = 'accept'
    return this.#measure({ name, start: () => this.#gateway(name), devices: 'without devices' })
  }

  /** The product with every channel subscribed by one WSS device; also at half its knee. */
  endToEnd(): Promise<Measured> {
    const name = 'end-to-end'
    const start = (): Promise<Subject> => this.#gateway(name)
    return this.#measure({ name, start, devices: 'with devices', alsoHalf: true })
  }

  /** A stopped gateway's database with channels and a device, made once. */
  prepared(): Promise<Prepared> {
    this.#prepared ??= this.scratch().then(async (directory) => {
      this.options.say('preparing: 1,000 channels, one password hash each')
      return prepareGateway(join(directory, 'prepared'))
    })
    return this.#prepared
  }

  /** A directory that goes away with the session. */
  scratch(): Promise<string> {
    this.#directory ??= mkdtemp(join(tmpdir(), 'heliograph-bench-'))
    return this.#directory
  }

  async close(): Promise<void> {
    if (this.#directory === undefined) return
    await rm(await this.#directory, { recursive: true, force: true })
  }

  #measure(plan: Plan): Promise<Measured> {
    const known = this.#measured.get(plan.name)
    if (known !== undefined) return known
    const measured = this.#measureOnce(plan)
    this.#measured.set(plan.name, measured)
    return measured
  }

  async #gateway(name: string): Promise<Subject> {
    const prepared = await this.prepared()
    return startPrepared(prepared, join(await this.scratch(), name))
  }

  /**
   * Knee and, if asked for, half of it. What goes wrong or is lost on the way is a failure, with
   * its reason.
   */
  async #measureOnce({ name, start, devices, alsoHalf }: Plan): Promise<Measured> {
    let subject: Subject | undefined
    let rig: Rig | undefined
    try {
      subject = await start()
      rig = await Rig.open(subject, devices)
      const knee = await this.#knee(rig)
      const half = !alsoHalf || knee === undefined ? [] : await this.#half(rig, knee.median)
      await rig.close()
      const failure = knee === undefined ? 'no rate was sustained' : undefined
      return { knee, half, ran: subject.ran, failure }
    } catch (error) {
      await (rig === undefined ? subject?.server.stop().catch(() => undefined) : rig.abandon())
      const failure = error instanceof Error ? error.message : String(error)
      this.options.say(`  ${name}: ${failure}`)
      return { knee: undefined, half: [], ran: subject?.ran, failure }
    }
  }

  async #knee(rig: Rig): Promise<Knee<Step> | undefined> {
    const { secondsPerStep, runs, say } = this.options
    const fullMs = secondsPerStep * MS
    const shortMs = Math.min(SHORT_MS, fullMs)
    // The first step compiles, fills caches and counts for nothing.
    await rig.step({ pace: { kind: 'closed' }, durationMs: shortMs })
    const { load } = await rig.step({ pace: { kind: 'closed' }, durationMs: shortMs })
    say(`  ${rig.subject.name}: ${rate(load.acceptedPerSecond)} in a closed loop of ${CONNECTIONS}`)
    return findKnee<Step>({
      saturationPerSecond: load.acceptedPerSecond,
      runs,
      attempt: async (ratePerSecond, length) => {
        const durationMs = length === 'full' ? fullMs : shortMs
        const step = await rig.step({ pace: { kind: 'open', ratePerSecond }, durationMs })
        say(`  ${rig.subject.name}: ${rate(ratePerSecond)} ${length}: ${sentenceOf(step)}`)
        return step
      },
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
  const micros = (seconds: number, { load }: Step): number => (seconds / load.accepted) * 1e6
  return {
    ran,
    connections: CONNECTIONS,
    cpuMicrosPerSubmission: {
      server: of((step) => micros(step.cpuSeconds.server, step)),
      generator: of((step) => micros(step.cpuSeconds.generator, step)),
      subscriber: of((step) => micros(step.cpuSeconds.subscriber, step)),
    },
    acceptP99Ms: of(({ load }) => load.latency.p99Ms),
    deviceP99Ms: of(({ device }) => device?.latency.p99Ms ?? Number.NaN),
    drainMs: of(({ drainMs }) => drainMs),
    residentMb: steps.map(({ residentMb }) => Math.round(residentMb)),
    sentAsWholeState: steps.at(-1)?.device?.synced,
  }
}
