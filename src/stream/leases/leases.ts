// Shares the right to apply lanes among the nodes of a cluster, by rows of the database that holds
// the state: a lane's row has its owner and its epoch, and each node renews a row of its own.
//
//   renew ─▶ view ─▶ plan ─▶ hold, take, release ─▶ rest until the next renewal or a notice
//
// Invariants:
//   leases/1. A node holds nothing once LEASE_MS have passed since it sent its last stored renewal:
//     before any other node may treat it as dead, DEAD_MS after that by the database's clock.
//   leases/2. This node releases a lane only after its actors have stopped applying the lane, or
//     had RELEASE_MS_MAX to do so.
//   leases/3. This node calls `changed` only when the held lanes differ.
//   leases/4. A node that could not renew in time treats no other one as dead until the others had
//     DEAD_MS to renew: what was away for it may have been away for all of them.
//   leases/5. A node renews only while the log answers it: otherwise it would keep lanes that it
//     cannot read.

import type { Lease } from '#domain/lane'
import type { Bus, LaneLeases, LeaseTable, Timers } from '#domain/ports'
import type { Runtime } from '#domain/runtime'
import type { Logger, Meter } from '#domain/telemetry'
import { isSameLeases, planLeases } from './plan.ts'
import type { LeasePlan } from './plan.ts'

export interface LeasePorts {
  readonly table: LeaseTable
  readonly bus: Pick<Bus, 'notify' | 'onNotice'>
  /** Resolves when the log answers. (leases/5) */
  readonly reachLog: () => Promise<unknown>
  readonly meter: Meter | undefined // Counts lanes, and nothing else.
  readonly logger: Logger
  readonly timers: Timers
  readonly monotonicMs: Runtime['monotonicMs']
  readonly entropy: Runtime['entropy']
}

type Changed = (leases: readonly Lease[]) => void | Promise<void>

export const RENEW_MS = 300
export const LEASE_MS = 1300
/** LEASE_MS plus a bound for the drift between two clocks in that time. (leases/1) */
export const DEAD_MS = 1600
/** The longest wait for one answer of the log or the database. */
const ANSWER_MS_MAX = 600
const RELEASE_MS_MAX = 1000

export class SharedLeases implements LaneLeases {
  readonly #ports: LeasePorts
  /** Names this run of this process. */
  readonly #session: string
  #held: readonly Lease[] = []
  #changed: Changed = () => {}
  /** Resolves when this process's actors have adopted the last change. (leases/2) */
  #adopted: Promise<void> = Promise.resolve()
  #validUntilMs = -Infinity
  #patientUntilMs = 0
  #isMoving = false
  #isLeaving = false
  #isWoken = false
  #endRest: () => void = () => {}
  #cancelLapse: () => void = () => {}

  constructor(ports: LeasePorts, nodeName: string) {
    this.#ports = ports
    this.#session = `${nodeName}-${ports.entropy(6).toString('hex')}`
    ports.meter?.gauge('leases_held', {}, () => this.#held.length)
  }

  /** Resolves once the first leases are known, or when the database does not tell them now. */
  async watch(changed: Changed): Promise<() => Promise<void>> {
    const { bus, logger } = this.#ports
    this.#changed = changed
    const first = Promise.withResolvers<void>()
    const stopHearing = bus.onNotice(({ kind }) => {
      if (kind === 'leases-changed') this.#wake()
    })
    const rounds = this.#run(first.resolve)
    await first.promise
    return async () => {
      this.#isLeaving = true
      this.#wake()
      await rounds
      stopHearing()
      await this.#leave().catch((error: unknown) => {
        logger.warn('could not release the leases', { error: String(error) })
      })
    }
  }

  fenced(): void {
    this.#wake()
  }

  async #run(first: () => void): Promise<void> {
    let isFirst = true
    let failures = 0
    while (!this.#isLeaving) {
      const plan = await this.#round().catch((error: unknown) => {
        failures += 1
        const fields = { error: String(error) }
        if (failures === 1) this.#ports.logger.warn('could not renew the leases', fields)
      })
      if (plan !== undefined) failures = 0
      if (isFirst && (plan === undefined || plan.take.length + plan.release.length === 0)) {
        isFirst = false
        if (this.#held.length === 0) await this.#changed([])
        first()
      }
      await this.#rest(plan?.nextMs ?? RENEW_MS)
    }
    first()
  }

  /** Returns the plan, and the milliseconds until it has to be made anew. */
  async #round(): Promise<LeasePlan & { readonly nextMs: number }> {
    const { table, bus, reachLog, monotonicMs } = this.#ports
    await this.#answered(reachLog()) // leases/5
    const sentMs = monotonicMs()
    await this.#answered(table.renew(this.#session))
    if (sentMs >= this.#validUntilMs) {
      this.#patientUntilMs = monotonicMs() + DEAD_MS // leases/4
      bus.notify({ kind: 'leases-changed' })
    }
    this.#extend(sentMs + LEASE_MS)
    // After the renewal: from here on no other node takes what the rows say is this one's.
    const view = await this.#answered(table.view())
    const deadMs = monotonicMs() < this.#patientUntilMs ? Infinity : DEAD_MS
    const plan = planLeases(view, this.#session, deadMs)
    this.#hold(plan.held)
    void this.#move(plan)
    const left = view.holders.map(({ ageMs }) => DEAD_MS - ageMs).filter((ms) => ms >= 0)
    return { ...plan, nextMs: Math.min(RENEW_MS, ...left.map((ms) => ms + 1)) }
  }

  /** leases/1 */
  #extend(validUntilMs: number): void {
    const { timers, monotonicMs } = this.#ports
    this.#validUntilMs = validUntilMs
    this.#cancelLapse()
    this.#cancelLapse = timers.after(validUntilMs - monotonicMs(), () => this.#hold([]))
  }

  /** Takes and releases lanes, one plan at a time; the next round sees the result. */
  async #move({ take, release, dead }: LeasePlan): Promise<void> {
    if (this.#isMoving || take.length + release.length + dead.length === 0) return
    const { table, bus, logger } = this.#ports
    this.#isMoving = true
    try {
      if (release.length > 0) {
        await this.#adopted // leases/2
        await table.release(this.#session, release)
        bus.notify({ kind: 'leases-changed' })
      }
      const request = { lanes: take, dead, deadMs: DEAD_MS }
      if (take.length + dead.length > 0 && (await table.take(this.#session, request))) this.#wake()
    } catch (error) {
      logger.debug('could not change the owners of lanes', { error: String(error) })
    } finally {
      this.#isMoving = false
    }
  }

  /** leases/3 */
  #hold(planned: readonly Lease[]): void {
    const { logger, monotonicMs } = this.#ports
    const isOver = monotonicMs() >= this.#validUntilMs
    const held = isOver ? [] : planned // leases/1
    if (isSameLeases(held, this.#held)) return
    if (isOver) logger.warn('leases lost: not renewed in time', { lanes: this.#held.length })
    else logger.info('the lanes of this process changed', { lanes: held.map(({ lane }) => lane) })
    this.#held = held
    this.#adopted = this.#soonOr(Promise.resolve(this.#changed(held)), RELEASE_MS_MAX) // leases/2
  }

  /** Releases everything at once, so that no node waits until this process counts as dead. */
  async #leave(): Promise<void> {
    const { table, bus } = this.#ports
    this.#hold([])
    this.#cancelLapse()
    await this.#adopted
    await this.#answered(table.leave(this.#session))
    bus.notify({ kind: 'leases-changed' })
  }

  #wake(): void {
    this.#isWoken = true
    this.#endRest()
  }

  async #rest(delayMs: number): Promise<void> {
    if (!this.#isWoken) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#endRest = resolve
      await this.#soonOr(promise, delayMs)
    }
    this.#isWoken = false
  }

  /** Rejects when the answer takes too long. */
  #answered<Answer>(answer: Promise<Answer>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const late = (): void => reject(new Error(`no answer within ${ANSWER_MS_MAX} ms`))
      const cancel = this.#ports.timers.after(ANSWER_MS_MAX, late)
      answer.then(resolve, reject).finally(cancel)
    })
  }

  /** Resolves with the promise, or after so many milliseconds. */
  #soonOr(promise: Promise<void>, delayMs: number): Promise<void> {
    const { timers } = this.#ports
    return new Promise((resolve, reject) => {
      const cancel = timers.after(delayMs, resolve)
      promise.then(resolve, reject).finally(cancel)
    })
  }
}
