// Runs the jobs of one provider: claims due jobs, sends them, and writes their endings.
//
//   store ─▶ claim ─▶ claimed pushes (bounded) ─▶ queues by device ─▶ provider
//     ▲                                                                  │
//     └────────────── settle, in batches ◀── endings ◀───────────────────┘
//
// Invariants:
//   dispatcher/1. The dispatcher holds at most HELD_MAX pushes, however many jobs are due.
//   dispatcher/2. A dispatcher that stops releases its claims for unsent pushes.
//   dispatcher/3. While the provider does not answer, the dispatcher claims once in POLL_MS. It
//                 defers jobs behind deferred ones, and doing so for a long queue at once would
//                 keep the store from other work.

import { Subject } from 'rxjs'

import type { Readiness, Timers } from '#domain/ports'
import { endedPush } from '#domain/push'
import type { EndedOperations, Provider, Push, PushEnding, PushStore } from '#domain/push'
import type { Logger, Meter } from '#domain/telemetry'
import { Circuit } from './circuit.ts'
import { Concurrency } from './concurrency.ts'
import type { ConcurrencyOptions } from './concurrency.ts'
import { Delivery } from './delivery.ts'
import { measuresOf } from './measures.ts'
import type { Measures } from './measures.ts'
import { deliverInQueues } from './device-queues.ts'
import { EndingWriter } from './ending-writer.ts'
import { RENEW_EVERY_MS, CLAIM_MS, HeldPushes } from './held-pushes.ts'

const HELD_MAX = 2_000
const CLAIM_MAX = 500
const QUEUES = 1_024
/** Milliseconds between claims without a nudge: the bus may lose one, and a worker may die. */
const POLL_MS = 1_000
const BACKLOG_EVERY_MS = 5_000
const SENDING_MS_MAX = 5_000

interface DispatcherPorts {
  readonly store: PushStore
  readonly provider: Provider
  readonly meter: Meter
  readonly logger: Logger
  readonly timers: Timers
  readonly nowMs: () => number
  /** Returns milliseconds that never decrease. */
  readonly monotonicMs: () => number
  /** Returns a number from 0 to below 1. */
  readonly random: () => number
}

interface DispatcherOptions {
  /** Names this process among those that dispatch. */
  readonly worker: string
  readonly concurrency: ConcurrencyOptions
}

export class Dispatcher {
  readonly #ports: DispatcherPorts
  readonly #worker: string
  readonly #pushes = new Subject<Push>()
  readonly #concurrency: Concurrency
  readonly #circuit: Circuit
  readonly #held: HeldPushes
  readonly #delivery: Delivery
  readonly #writer: EndingWriter
  readonly #measure: Measures
  readonly #cancels = new Map<string, () => void>()
  #claiming: Promise<void> | undefined
  #isNudged = false
  /** True when the dispatcher lacked room for another claim. */
  #isFull = false
  #isStopping = false
  #backlog = { jobs: 0, oldestDueMs: undefined as number | undefined }

  constructor(ports: DispatcherPorts, { worker, concurrency }: DispatcherOptions) {
    const { store, provider, meter, timers, nowMs, logger, random } = ports
    this.#ports = ports
    this.#worker = worker
    this.#concurrency = new Concurrency(concurrency)
    const allow = (atOnce: number): void => this.#concurrency.allow(atOnce)
    this.#circuit = new Circuit({ timers, random, allow })
    this.#held = new HeldPushes({ ...ports, worker })
    this.#measure = measuresOf(meter, provider.name, {
      jobs: () => this.#backlog.jobs,
      ageSeconds: () => Math.max(0, nowMs() - (this.#backlog.oldestDueMs ?? nowMs())) / 1000,
      held: () => this.#held.size,
      inFlight: () => this.#concurrency.inFlight,
      concurrency: () => this.#concurrency.limit,
      isCircuitOpen: () => !this.#circuit.isClosed,
      areCredentialsRefused: () => this.#circuit.credentialsReason !== undefined,
    })
    const shared = {
      concurrency: this.#concurrency,
      circuit: this.#circuit,
      claimed: this.#held,
    }
    this.#delivery = new Delivery({ ...ports, ...shared, measure: this.#measure })
    this.#writer = new EndingWriter({
      store,
      worker,
      nowMs,
      logger,
      wait: (delayMs) => new Promise((resolve) => void timers.after(delayMs, resolve)),
      settled: (endings, ended) => this.#onSettled(endings, ended),
    })
    this.#pushes
      .pipe(deliverInQueues({ deliver: (push) => this.#deliver(push), queues: QUEUES }))
      .subscribe()
  }

  start(): void {
    this.#repeat('renew', RENEW_EVERY_MS, () => {
      this.#delivery.forgetEnded()
      return this.#held.renew()
    })
    this.#repeat('backlog', BACKLOG_EVERY_MS, () => this.#readBacklog())
    void this.#readBacklog()
    this.nudge()
  }

  /** Makes the dispatcher look for new jobs at once. */
  nudge(): void {
    this.#isNudged = true
    this.#claiming ??= this.#claimWhileNudged().finally(() => {
      this.#claiming = undefined
    })
  }

  /** Makes the dispatcher try the provider's new credentials at once. */
  credentialsChanged(): void {
    this.#circuit.credentialsChanged()
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
   * Waits for the pushes in flight, writes their endings, and releases the other claims.
   * (dispatcher/2)
   */
  async stop(): Promise<void> {
    this.#isStopping = true
    for (const cancel of this.#cancels.values()) cancel()
    await this.#claiming
    this.#concurrency.close()
    this.#circuit.stop()
    await this.#untilSent()
    await this.#writer.drained()
    await this.#held.release()
  }

  async #claimWhileNudged(): Promise<void> {
    while (this.#isNudged && !this.#isStopping) {
      this.#isNudged = false
      const room = HELD_MAX - this.#held.size // dispatcher/1
      this.#isFull = room < CLAIM_MAX
      if (this.#isFull) return
      try {
        await this.#claim()
      } catch (error) {
        this.#ports.logger.warn('could not claim push jobs', { error: String(error) })
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
    this.#measure.ended('filtered', claimed.filtered)
    this.#setAside(claimed.unreadable)
    for (const push of this.#held.add(claimed.pushes, atMs)) this.#pushes.next(push)
    const dueInMs = (claimed.nextDueMs ?? Infinity) - nowMs()
    const isDown = !this.#circuit.isClosed
    if (claimed.hasMore && !isDown) this.#isNudged = true
    else this.#pollIn(isDown ? POLL_MS : Math.max(1, Math.min(POLL_MS, dueInMs))) // dispatcher/3
  }

  /** W6 */
  #setAside(count: number): void {
    if (count === 0) return
    this.#measure.ended('unreadable', count)
    this.#ports.logger.error('pushes set aside: their entries cannot be read', { count })
  }

  async #deliver(push: Push): Promise<void> {
    const ending = await this.#delivery.deliver(push).catch((error: unknown) => {
      // A provider never rejects, so an error here is a defect.
      this.#ports.logger.error('a push met a defect', { error: String(error) })
      return { kind: 'failed', push: endedPush(push), isGone: false } as const
    })
    if (ending !== undefined) this.#writer.add(ending)
    else if (!this.#isStopping) this.#drop([push])
  }

  #onSettled(endings: readonly PushEnding[], ended: EndedOperations): void {
    this.#measure.operations(ended)
    for (const ending of endings) {
      if (ending.kind !== 'deferred') this.#measure.ended(ending.kind)
      else {
        this.#delivery.deferralWritten(ending.push)
        if (ending.isAttempt) this.#measure.retried()
      }
    }
    this.#drop(endings.map(({ push }) => push))
  }

  #drop(pushes: readonly Pick<Push, 'id'>[]): void {
    this.#held.drop(pushes.map(({ id }) => id))
    if (this.#isFull && HELD_MAX - this.#held.size >= CLAIM_MAX) this.nudge()
  }

  /** Waits for the provider's answers, for at most SENDING_MS_MAX. */
  async #untilSent(): Promise<void> {
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

  #repeat(name: string, everyMs: number, task: () => Promise<void>): void {
    const next = (): void => {
      if (this.#isStopping) return
      this.#cancels.set(
        name,
        this.#ports.timers.after(everyMs, () => void task().finally(next)),
      )
    }
    next()
  }
}
