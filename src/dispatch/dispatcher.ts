// Runs the jobs of one provider: claims due jobs, sends them, and writes their endings.
//
//   store ─▶ claim ─▶ window (bounded) ─▶ lanes by device ─▶ provider
//     ▲                                                          │
//     └────────────── settle, in batches ◀── endings ◀───────────┘
//
// Invariants:
//   dispatcher/1. At most WINDOW_MAX pushes are held, however many jobs there are.
//   dispatcher/2. Pushes that are held and unsent when it stops are given back.
//   dispatcher/3. While the provider is away, it claims once in POLL_MS: due jobs behind deferred
//                 ones are put off, and a long queue of them would keep the store from other work.

import { Subject } from 'rxjs'

import type { Readiness, Timers } from '#domain/ports'
import type {
  EndedOperations,
  EndedPush,
  Provider,
  Push,
  PushEnding,
  PushStore,
} from '#domain/push'
import type { Logger, Meter } from '#domain/telemetry'
import { Circuit } from './circuit.ts'
import { Concurrency } from './concurrency.ts'
import type { ConcurrencyOptions } from './concurrency.ts'
import { Delivery } from './delivery.ts'
import { measuresOf } from './measures.ts'
import type { Measures } from './measures.ts'
import { pipeline } from './pipeline.ts'
import { EndingWriter } from './ending-writer.ts'
import { RENEW_EVERY_MS, CLAIM_MS, Window } from './window.ts'

const WINDOW_MAX = 2_000
const CLAIM_MAX = 500
const LANES = 1_024
/**
 * Milliseconds between looks at the store: a nudge may be lost, and another worker may have gone.
 */
const POLL_MS = 1_000
const BACKLOG_EVERY_MS = 5_000
const SENDING_MS_MAX = 5_000

export interface DispatcherPorts {
  readonly store: PushStore
  readonly provider: Provider
  readonly meter: Meter
  readonly logger: Logger
  readonly timers: Timers
  readonly nowMs: () => number
  /** Milliseconds that only grow. */
  readonly monotonicMs: () => number
  /** From 0 to below 1. */
  readonly random: () => number
}

export interface DispatcherOptions {
  /** The name of this process among those that dispatch. */
  readonly worker: string
  readonly concurrency: ConcurrencyOptions
}

export class Dispatcher {
  readonly #ports: DispatcherPorts
  readonly #worker: string
  readonly #pushes = new Subject<Push>()
  readonly #concurrency: Concurrency
  readonly #circuit: Circuit
  readonly #window: Window
  readonly #delivery: Delivery
  readonly #writer: EndingWriter
  readonly #measure: Measures
  readonly #cancels = new Map<string, () => void>()
  #claiming: Promise<void> | undefined
  #isNudged = false
  /** True when more jobs were due than there was room for. */
  #isStarved = false
  #isStopping = false
  #backlog = { jobs: 0, oldestDueMs: undefined as number | undefined }

  constructor(ports: DispatcherPorts, { worker, concurrency }: DispatcherOptions) {
    const { store, provider, meter, timers, nowMs, logger, random } = ports
    this.#ports = ports
    this.#worker = worker
    this.#concurrency = new Concurrency(concurrency)
    const pass = (atOnce: number): void => this.#concurrency.pass(atOnce)
    this.#circuit = new Circuit({ timers, random, pass })
    this.#window = new Window({ ...ports, worker })
    this.#measure = measuresOf(meter, provider.name, {
      jobs: () => this.#backlog.jobs,
      ageSeconds: () => Math.max(0, nowMs() - (this.#backlog.oldestDueMs ?? nowMs())) / 1000,
      held: () => this.#window.size,
      underWay: () => this.#concurrency.underWay,
      concurrency: () => this.#concurrency.limit,
      isCircuitOpen: () => !this.#circuit.isClosed,
      areCredentialsRefused: () => this.#circuit.credentialsReason !== undefined,
    })
    const shared = { concurrency: this.#concurrency, circuit: this.#circuit, window: this.#window }
    this.#delivery = new Delivery({ ...ports, ...shared, measure: this.#measure })
    this.#writer = new EndingWriter({
      store,
      worker,
      nowMs,
      logger,
      wait: (delayMs) => new Promise((resolve) => void timers.after(delayMs, resolve)),
      settled: (endings, ended) => this.#settled(endings, ended),
    })
    this.#pushes
      .pipe(pipeline({ deliver: (push) => this.#deliver(push), lanes: LANES }))
      .subscribe()
  }

  start(): void {
    this.#repeat('renew', RENEW_EVERY_MS, () => {
      this.#delivery.tidy()
      return this.#window.renew()
    })
    this.#repeat('backlog', BACKLOG_EVERY_MS, () => this.#readBacklog())
    void this.#readBacklog()
    this.nudge()
  }

  /** Says that there may be new jobs. */
  nudge(): void {
    this.#isNudged = true
    this.#claiming ??= this.#claimWhileNudged().finally(() => {
      this.#claiming = undefined
    })
  }

  /** Says that the provider has other credentials now. */
  renewed(): void {
    this.#circuit.renewed()
  }

  readiness(): Readiness {
    const { name } = this.#ports.provider
    const reason = this.#circuit.credentialsReason
    if (reason !== undefined) {
      const detail = `the provider refuses the credentials: ${reason}`
      return { name, ready: false, detail, isOptional: true }
    }
    const isClosed = this.#circuit.isClosed
    const detail = isClosed ? 'answers' : 'does not answer; pushes wait'
    return { name, ready: isClosed, detail, isOptional: true }
  }

  /**
   * Finishes the pushes under way, writes their endings, and gives the rest back. (dispatcher/2)
   */
  async stop(): Promise<void> {
    this.#isStopping = true
    for (const cancel of this.#cancels.values()) cancel()
    await this.#claiming
    this.#concurrency.close()
    this.#circuit.stop()
    await this.#sent()
    await this.#writer.drained()
    await this.#window.release()
  }

  async #claimWhileNudged(): Promise<void> {
    while (this.#isNudged && !this.#isStopping) {
      this.#isNudged = false
      const room = WINDOW_MAX - this.#window.size // dispatcher/1
      this.#isStarved = room < CLAIM_MAX
      if (this.#isStarved) return
      try {
        await this.#claim()
      } catch (error) {
        this.#ports.logger.warn('push jobs could not be claimed', { error: String(error) })
        this.#pollIn(POLL_MS)
        return
      }
    }
  }

  async #claim(): Promise<void> {
    const { store, provider, nowMs, monotonicMs } = this.#ports
    const atMs = monotonicMs()
    const now = nowMs()
    const claimed = await store.claim({
      provider: provider.name,
      worker: this.#worker,
      limit: CLAIM_MAX,
      nowMs: now,
      untilMs: now + CLAIM_MS,
    })
    this.#measure.operations(claimed.ended)
    this.#measure.ended('expired', claimed.expired)
    this.#measure.ended('superseded', claimed.superseded)
    for (const push of this.#window.take(claimed.pushes, atMs)) this.#pushes.next(push)
    const dueInMs = (claimed.nextDueMs ?? Infinity) - nowMs()
    const isAway = !this.#circuit.isClosed
    if (claimed.hasMore && !isAway) this.#isNudged = true
    else this.#pollIn(isAway ? POLL_MS : Math.max(1, Math.min(POLL_MS, dueInMs))) // dispatcher/3
  }

  async #deliver(push: Push): Promise<void> {
    const ending = await this.#delivery.deliver(push).catch((error: unknown) => {
      // A provider gives values; a throw is a defect of that push.
      this.#ports.logger.error('a push met a defect', { error: String(error) })
      return { kind: 'failed', push, isGone: false } as const
    })
    if (ending !== undefined) this.#writer.add({ ...ending, push: endedPush(push) })
    else if (!this.#isStopping) this.#dropped([push])
  }

  #settled(endings: readonly PushEnding[], ended: EndedOperations): void {
    this.#measure.operations(ended)
    for (const ending of endings) {
      if (ending.kind !== 'deferred') this.#measure.ended(ending.kind)
      else {
        this.#delivery.written(ending.push)
        if (ending.isAttempt) this.#measure.retried()
      }
    }
    this.#dropped(endings.map(({ push }) => push))
  }

  #dropped(pushes: readonly Pick<Push, 'id'>[]): void {
    this.#window.drop(pushes.map(({ id }) => id))
    if (this.#isStarved && WINDOW_MAX - this.#window.size >= CLAIM_MAX) this.nudge()
  }

  /** Waits for the pushes at the provider, within a bound. */
  async #sent(): Promise<void> {
    let cancel = (): void => {}
    const bound = new Promise<void>((resolve) => {
      cancel = this.#ports.timers.after(SENDING_MS_MAX, resolve)
    })
    await Promise.race([this.#concurrency.idle(), bound])
    cancel()
  }

  async #readBacklog(): Promise<void> {
    const { store, provider } = this.#ports
    const backlog = await store.backlog(provider.name).catch(() => undefined)
    if (backlog !== undefined) this.#backlog = { ...backlog, oldestDueMs: backlog.oldestDueMs }
  }

  #pollIn(delayMs: number): void {
    this.#cancels.get('poll')?.()
    if (this.#isStopping) return
    this.#cancels.set(
      'poll',
      this.#ports.timers.after(delayMs, () => this.nudge()),
    )
  }

  #repeat(name: string, everyMs: number, chore: () => Promise<void>): void {
    const next = (): void => {
      if (this.#isStopping) return
      this.#cancels.set(
        name,
        this.#ports.timers.after(everyMs, () => void chore().finally(next)),
      )
    }
    next()
  }
}

const endedPush = ({ id, route, attempts, entry: { model } }: Push): EndedPush => ({
  id,
  route,
  attempts,
  entry: { model },
})
