// When something is due in the lanes that this process owns, and the ticks that work it off.
//
//   next due of a lane ─▶ tick in its log ─▶ turn ─▶ ask for the next due
//
// Invariants:
//   R7. Time enters through the log: a deadline has no effect but by a tick, whose time is that of
//     the node which appends it. A tick of a former owner is only an older one.
//   deadlines/1. One time a lane is in memory. It is at most that of the earliest row: a deadline
//     that a turn writes while the store is asked for the next one is kept in mind.
//   deadlines/2. A lane has one tick under way. One that works off nothing, because its channel is
//     refused for instance, is followed by a pause.
//   deadlines/3. The clock is compared at intervals, so one that is set forward makes the deadlines
//     up to it due and no more, and one that is set back fires nothing twice.

import type { Appended } from '#domain/lane'
import type { NowMs } from '#domain/ports'
import type { ChannelWrites, TurnStore } from '#domain/store-ports'
import type { Tick } from '#domain/submission'
import type { Logger, Meter } from '#domain/telemetry'
import { isTick } from './turn-item.ts'
import type { Turn } from './turn-item.ts'

export interface DeadlinePorts {
  readonly store: Pick<TurnStore, 'nextDue' | 'deadlines'>
  readonly nowMs: NowMs
  readonly logger: Logger
  readonly meter: Meter
  /** Appends a tick to the log of a lane. */
  readonly appendTick: (lane: number, tick: Tick) => Promise<Appended>
}

/** Checks that a lane waits for its tick, and after one without effect. */
const UNDER_WAY_CHECKS = 40
const PAUSE_CHECKS = 20

export class Deadlines {
  readonly #ports: DeadlinePorts
  readonly #next = new Map<number, number>()
  /** Checks until a lane may have another tick. */
  readonly #resting = new Map<number, number>()
  /** The deadlines of lanes as they were counted last. */
  readonly #counted = new Map<number, number>()
  readonly #late: (seconds: number) => void

  constructor(ports: DeadlinePorts) {
    this.#ports = ports
    this.#late = ports.meter.histogram('deadline_late_seconds', {})
    ports.meter.gauge('lanes_with_deadlines', {}, () => this.#next.size)
    ports.meter.gauge('deadlines_waiting', {}, () =>
      [...this.#counted.values()].reduce((sum, count) => sum + count, 0),
    )
  }

  /** Notes the next due time of a lane that was taken; undefined for none. */
  know(lane: number, next: number | undefined): void {
    const noted = Math.min(next ?? Infinity, this.#next.get(lane) ?? Infinity)
    if (noted === Infinity) this.#next.delete(lane)
    else this.#next.set(lane, noted)
  }

  forget(lane: number): void {
    this.#next.delete(lane)
    this.#resting.delete(lane)
    this.#counted.delete(lane)
  }

  forgetAll(): void {
    this.#next.clear()
    this.#resting.clear()
    this.#counted.clear()
  }

  /** deadlines/1: notes what a committed turn wrote; asks for the next due after a tick. */
  async committed(turn: Turn, channels: readonly ChannelWrites[]): Promise<void> {
    for (const { rules, scheduled } of channels) {
      for (const { kept } of rules?.watches ?? []) {
        if (rules !== undefined && kept?.due !== undefined) this.know(rules.lane, kept.due)
      }
      for (const { kept } of scheduled?.messages ?? []) {
        if (scheduled !== undefined && kept !== undefined) this.know(scheduled.lane, kept.deliverAt)
      }
    }
    const tick = turn.items.find(isTick)
    if (tick === undefined || tick.submission.model !== 'tick') return
    const { lane, submission } = tick
    const upTo = submission.acceptedAt
    const due = this.#next.get(lane) ?? upTo
    if (due <= upTo) this.#late(Math.max(0, this.#ports.nowMs() - due) / 1000)
    const isIdle =
      turn.tick?.putsOff !== true &&
      !channels.some(({ rules, scheduled }) => rules?.lane === lane || scheduled?.lane === lane)
    await this.#ask(lane, isIdle ? upTo : -Infinity)
  }

  /** Appends a tick to each lane in which something is due. Called at intervals. (deadlines/3) */
  check(): void {
    const { nowMs } = this.#ports
    for (const [lane, checks] of this.#resting) {
      if (checks > 1) this.#resting.set(lane, checks - 1)
      else this.#resting.delete(lane)
    }
    const now = nowMs()
    for (const [lane, next] of this.#next) if (next <= now) this.#tick(lane, now)
  }

  /** Counts the deadlines of one lane, each time of another. Called at intervals. */
  async count(): Promise<void> {
    for (const lane of this.#counted.keys()) if (!this.#next.has(lane)) this.#counted.delete(lane)
    const lanes = [...this.#next.keys()]
    const lane = lanes.find((one) => !this.#counted.has(one)) ?? this.#counted.keys().next().value
    if (lane === undefined) return
    const count = await this.#ports.store.deadlines(lane)
    this.#counted.delete(lane) // The one that was counted last stands last.
    if (this.#next.has(lane)) this.#counted.set(lane, count)
  }

  /** `idleTo`: the time up to which the last tick found nothing to work off. */
  async #ask(lane: number, idleTo: number): Promise<void> {
    this.#next.delete(lane)
    try {
      this.know(lane, await this.#ports.store.nextDue(lane))
    } catch (error) {
      this.#ports.logger.warn('the next deadline is not known', { lane, error: String(error) })
      this.know(lane, this.#ports.nowMs())
      idleTo = Infinity
    }
    const next = this.#next.get(lane) ?? Infinity
    if (next <= idleTo) this.#resting.set(lane, PAUSE_CHECKS) // deadlines/2
    else {
      this.#resting.delete(lane)
      const now = this.#ports.nowMs()
      if (next <= now) this.#tick(lane, now)
    }
  }

  /** deadlines/2 */
  #tick(lane: number, acceptedAt: number): void {
    if (this.#resting.has(lane)) return
    this.#resting.set(lane, UNDER_WAY_CHECKS)
    void this.#ports.appendTick(lane, { model: 'tick', acceptedAt }).then(
      ({ kind }) => {
        if (kind === 'refused') this.#resting.set(lane, 1)
      },
      () => this.#resting.set(lane, 1),
    )
  }
}
