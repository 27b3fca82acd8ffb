// One subject under load: runs steps and measures each.
//
// Invariants:
//   rig/1. After every step: answered 200 = operation rows = revisions applied = entries received.
//     A step that lost or doubled anything throws CountsDiffer, and no rate comes of it.
//   rig/2. A step is sustained only when every request was answered 200, p99 stayed under the limit
//     and the rest was applied and delivered within a second.

import type { LoadReport, LoadRequest, SubscriberReport } from '#test/bench/load/messages'
import type { RowCounts } from './database.ts'
import { Generator, Subscribers } from './load-process.ts'
import { cpuSecondsByName, cpuSecondsOf, residentMbOf, secondsBetween } from './processes.ts'
import type { Sustained } from './knee.ts'
import type { Subject } from './subject.ts'

export const P99_LIMIT_MS = 350
const DRAIN_LIMIT_MS = 1_000
/**
 * The time for applying the rest of a step that was too much, so that the next one begins clean.
 */
const SETTLE_LIMIT_MS = 60_000
const POLL_MS = 20
export const CONNECTIONS = 256

export interface Step extends Sustained {
  readonly load: LoadReport
  readonly device: SubscriberReport | undefined
  /** From the last answer until everything was applied and delivered. */
  readonly drainMs: number
  readonly cpuSeconds: {
    readonly server: number
    readonly generator: number
    readonly subscriber: number
    /** The database and NATS processes, by name. */
    readonly backend: Readonly<Record<string, number>>
  }
  readonly residentMb: number
  /** Reasons why it was not sustained. */
  readonly reasons: readonly string[]
}

/** Counts before the first step. */
interface Base {
  readonly counts: RowCounts | undefined
  readonly applied: number
  readonly entries: number
  readonly skipped: number
}

interface Parts {
  readonly generator: Generator
  readonly subscribers: Subscribers | undefined
  readonly base: Base
}

/** Something was lost or doubled. */
export class CountsDiffer extends Error {}

export class Rig {
  readonly subject: Subject
  readonly #generator: Generator
  readonly #subscribers: Subscribers | undefined
  readonly #base: Base
  #accepted = 0
  #skipped: number

  private constructor(subject: Subject, { generator, subscribers, base }: Parts) {
    this.subject = subject
    this.#generator = generator
    this.#subscribers = subscribers
    this.#base = base
    this.#skipped = base.skipped
  }

  /**
   * Connects the generator and, with devices, the subscribers; takes what is there already as the
   * base. `connections`: those of the generator.
   */
  static async open(
    subject: Subject,
    devices: 'with devices' | 'without devices',
    connections = CONNECTIONS,
  ): Promise<Rig> {
    const ports = subject.entrances.map(({ port }) => port)
    const generator = new Generator()
    await generator.connect({ ports, connections, recipe: subject.recipe })
    const subscribers = devices === 'with devices' ? new Subscribers() : undefined
    const { deviceKeys, recipe } = subject
    await subscribers?.request({
      kind: 'connect',
      target: { ports, token: recipe.token, deviceKeys },
    })
    const counts = await subject.count()
    const seen = await subscribers?.request({
      kind: 'await',
      entries: counts?.feed ?? 0,
      timeoutMs: SETTLE_LIMIT_MS,
    })
    const entries = entriesOf(seen)
    if (subscribers !== undefined && entries !== (counts?.feed ?? 0)) {
      throw new CountsDiffer(`devices caught up with ${entries} of ${counts?.feed} entries`)
    }
    const applied = (await subject.applied()) ?? 0
    const base = { counts, applied, entries, skipped: seen?.skipped ?? 0 }
    return new Rig(subject, { generator, subscribers, base })
  }

  /**
   * One run of load, its drain and its counts. `beside` sends submissions of its own meanwhile; it
   * resolves with the number of those that were accepted.
   */
  async step(request: LoadRequest, beside?: () => Promise<number>): Promise<Step> {
    await this.#subscribers?.request({ kind: 'mark' })
    const before = this.#cpu()
    const [load, others = 0] = await Promise.all([this.#generator.load(request), beside?.()])
    this.#accepted += load.accepted + others
    const drain = await this.#drain()
    const after = this.#cpu()
    if (load.lost > 0) throw new CountsDiffer(`${load.lost} connections broke`)
    await this.#check(drain.device) // rig/1
    const skipped = (drain.device?.skipped ?? 0) - this.#skipped
    this.#skipped += skipped
    const reasons = reasonsAgainst(load, { ...drain, skipped })
    return {
      load,
      ...drain,
      reasons,
      isSustained: reasons.length === 0,
      residentMb: this.residentMb(),
      cpuSeconds: cpuBetween(before, after),
    }
  }

  /** Resident memory of all servers together. */
  residentMb(): number {
    return sumOf(this.subject.servers, ({ pid }) => residentMbOf(pid))
  }

  /** Stops everything; the counts must hold once more in what the stopped servers left. */
  async close(): Promise<void> {
    const { subject } = this
    await this.#generator.stop()
    await this.#subscribers?.stop()
    await Promise.all(subject.servers.map((server) => server.stop()))
    this.#checkRows(await subject.count())
    await subject.release()
  }

  /** Ends the processes without looking at anything, after a failure. */
  async abandon(): Promise<void> {
    await Promise.allSettled([this.#generator.stop(), this.#subscribers?.stop()])
    await abandonSubject(this.subject)
  }

  #cpu(): Step['cpuSeconds'] {
    const subscribers = this.#subscribers
    const { servers, backend } = this.subject
    return {
      server: sumOf(servers, ({ pid }) => cpuSecondsOf(pid)),
      generator: cpuSecondsOf(this.#generator.pid),
      subscriber: subscribers === undefined ? 0 : cpuSecondsOf(subscribers.pid),
      backend: cpuSecondsByName(backend),
    }
  }

  async #drain(): Promise<{ drainMs: number; device: SubscriberReport | undefined }> {
    const startMs = performance.now()
    for (let left = SETTLE_LIMIT_MS; left > 0; left -= POLL_MS) {
      const applied = await this.subject.applied()
      if (applied === undefined || applied - this.#base.applied >= this.#accepted) break
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
    const entries = this.#base.entries + this.#accepted
    const timeoutMs = SETTLE_LIMIT_MS
    const device = await this.#subscribers?.request({ kind: 'await', entries, timeoutMs })
    return { drainMs: performance.now() - startMs, device }
  }

  async #check(device: SubscriberReport | undefined): Promise<void> {
    this.#checkRows(await this.subject.count())
    if (device === undefined) return
    const received = entriesOf(device) - this.#base.entries
    throwIfDiffering(deviceDifference(this.#accepted, { received, device }))
  }

  #checkRows(counts: RowCounts | undefined): void {
    const base = this.#base.counts
    if (counts === undefined || base === undefined) return
    throwIfDiffering(rowDifference(this.#accepted, { base, counts }))
  }
}

/** Ends a subject without looking at anything. */
export async function abandonSubject({ servers, release }: Subject): Promise<void> {
  await Promise.allSettled(servers.map((server) => server.kill()))
  await release().catch(() => undefined)
}

/** CPU seconds between two readings of the same processes. */
export function cpuBetween(
  before: Step['cpuSeconds'],
  after: Step['cpuSeconds'],
): Step['cpuSeconds'] {
  return {
    server: after.server - before.server,
    generator: after.generator - before.generator,
    subscriber: after.subscriber - before.subscriber,
    backend: secondsBetween(before.backend, after.backend),
  }
}

const sumOf = <Item>(items: readonly Item[], amount: (item: Item) => number): number =>
  items.reduce((sum, item) => sum + amount(item), 0)

function throwIfDiffering(difference: string | undefined): void {
  if (difference !== undefined) throw new CountsDiffer(difference)
}

/** Compares stored rows with what was accepted; undefined when they are equal. */ // rig/1
export function rowDifference(
  accepted: number,
  { base, counts }: { base: RowCounts; counts: RowCounts },
): string | undefined {
  const grown = {
    operations: counts.operations - base.operations,
    revisions: counts.revisions - base.revisions,
    feed: counts.feed - base.feed,
  }
  const isEqual = Object.values(grown).every((count) => count === accepted)
  return isEqual ? undefined : `accepted ${accepted}, stored ${JSON.stringify(grown)}`
}

/** Compares what devices received with what was accepted; undefined when they are equal. */ // rig/1
export function deviceDifference(
  accepted: number,
  { received, device }: { received: number; device: SubscriberReport },
): string | undefined {
  const { repeated, gaps, closed } = device
  const isEqual = received === accepted && repeated + gaps + closed === 0
  const saw = { received, repeated, gaps, closed }
  return isEqual ? undefined : `accepted ${accepted}, devices saw ${JSON.stringify(saw)}`
}

const entriesOf = (device: SubscriberReport | undefined): number =>
  device === undefined ? 0 : device.entries + device.skipped

export interface Aftermath {
  readonly drainMs: number
  readonly device: SubscriberReport | undefined
  /** Entries that the devices did not get one by one, because they were behind. */
  readonly skipped: number
}

/** Reasons why a step was too much; empty when it was sustained. */ // rig/2
export function reasonsAgainst(
  load: LoadReport,
  { drainMs, device, skipped }: Aftermath,
): readonly string[] {
  const rows: readonly [isAgainst: boolean, reason: string][] = [
    [load.accepted < load.due, `accepted ${load.accepted} of ${load.due}`],
    [!(load.latency.p99Ms < P99_LIMIT_MS), `POST→200 p99 ${load.latency.p99Ms.toFixed(0)} ms`],
    [drainMs > DRAIN_LIMIT_MS, `drained in ${drainMs.toFixed(0)} ms`],
    [skipped > 0, `devices fell behind: ${skipped} updates conflated`],
    [
      device !== undefined && !(device.latency.p99Ms < P99_LIMIT_MS),
      `POST→device p99 ${device?.latency.p99Ms.toFixed(0)} ms`,
    ],
  ]
  return rows.filter(([isAgainst]) => isAgainst).map(([, reason]) => reason)
}
