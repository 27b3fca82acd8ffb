// The owner of lanes: reads the log, takes turns, and survives everything that can go wrong in one.
//
//   lanes ─▶ collect ─▶ turn ──▶ committed: move on, announce
//                         ├────▶ fenced: another epoch has the lane; ask the database
//                         └────▶ no answer: ask the database where the lanes stand, try again
//
// Invariants:
//   A6. One turn at a time, over all owned lanes: under load turns grow and cost less.
//   A7. After anything but a commit that answered, places come from the database alone.
//   W6. A turn that fails while the store is well is halved until the submission that breaks it
//       stands alone; that one becomes a dead letter, and the lane goes on.

import type { ChannelId } from '#domain/identity'
import { LogMismatch, positionOf } from '#domain/lane'
import type { LaneMove } from '#domain/store-ports'
import { retryDelayMs } from './backoff.ts'
import { ChannelDirectory } from './channel.ts'
import { Holdings } from './holdings.ts'
import { collect, isNext, movesOf } from './lanes.ts'
import type { SystemOptions, SystemPorts } from './options.ts'
import { purgeApplied } from './purge.ts'
import type { Applied } from './purge.ts'
import { measuresOf } from './measures.ts'
import type { Measures } from './measures.ts'
import { takeTurn } from './turn.ts'
import type { Item, TurnEnd } from './turn.ts'

const TRIM_EVERY_MS = 1000
const REST_TURNS = 3
const CYCLE_MS = 20
/**
 * Failures in a row, with growing pauses between them, before a submission alone is given up. (W6)
 */
const DOOMED_AFTER = 6

/** Applies the lanes that this process holds leases for. */
export class ActorSystem {
  readonly #ports: SystemPorts
  readonly #options: SystemOptions
  readonly #directory: ChannelDirectory
  readonly #holdings: Holdings
  readonly #forgotten: ChannelId[] = []
  readonly #measure: Measures
  readonly #caughtUp = Promise.withResolvers<void>()
  #wake: (() => void) | undefined
  #awake = true
  #phase: 'running' | 'draining' | 'halted' = 'running'
  #turnMax: number
  #failures = 0
  #outages = 0
  #trimmedMs = 0
  /** Resolves once nothing is done any more under the leases as they were when it began. */
  #round: Promise<void> = Promise.resolve()
  #running: Promise<void> = Promise.resolve()
  #stops: (() => void | Promise<void>)[] = []

  constructor(ports: SystemPorts, options: SystemOptions) {
    this.#ports = ports
    this.#options = options
    this.#turnMax = options.turnMax
    this.#directory = new ChannelDirectory(options)
    const { store, logger } = ports
    const forgetAll = (): void => this.#directory.sleepAll()
    this.#holdings = new Holdings({ store, logger, forgetAll })
    this.#measure = measuresOf(ports.meter, this.#directory)
  }

  /** Lanes that this process applies now. */
  get ownedLanes(): number {
    return this.#holdings.lanes.size
  }

  /** Resolves once everything that the log held at the start is applied. */
  get caughtUp(): Promise<void> {
    return this.#caughtUp.promise
  }

  /** Submissions applied since the start. */
  get applied(): number {
    return this.#measure.submissions()
  }

  /** Begins to apply. Resolves once the first leases are known. */
  async start(): Promise<void> {
    const { leases, log, bus } = this.#ports
    this.#stops.push(
      log.watch((lane) => this.#onWake(lane)),
      bus.onNotice((notice) => {
        if (notice.kind === 'channel-deleted') this.#forgotten.push(notice.channelId)
      }),
      await leases.watch((held) => {
        this.#holdings.lease(held)
        this.#wakeUp()
        return this.#round
      }),
    )
    this.#running = this.#run()
  }

  /** Applies what the log still holds, then stops. */
  async drain(): Promise<void> {
    if (this.#phase === 'running') this.#phase = 'draining'
    this.#wakeUp()
    await this.#running
    for (const stop of this.#stops.splice(0).toReversed()) await stop()
  }

  /** Stops after the turn that is under way. What is left stays in the log. */
  async halt(): Promise<void> {
    this.#phase = 'halted'
    await this.drain()
  }

  /** Lets the log forget what is applied and old. (W4) */
  purge(): Promise<void> {
    return purgeApplied(this.#ports, this.places(), this.#options.logKeepMs)
  }

  /** How far the lanes of this process are applied. */
  places(): readonly Applied[] {
    return this.#holdings.places()
  }

  #onWake(lane: number): void {
    const owned = this.#holdings.lanes.get(lane)
    if (owned !== undefined) owned.mayHaveMore = true
    this.#wakeUp()
  }

  #wakeUp(): void {
    this.#awake = true
    this.#wake?.()
  }

  async #run(): Promise<void> {
    while (this.#phase !== 'halted') {
      const round = this.#takeRound()
      this.#round = round.then(
        () => {},
        () => {},
      )
      try {
        if ((await round) === 'drained') return
      } catch (error) {
        await this.#recover(error)
      }
    }
  }

  /** What came while the lanes were read is looked at before the loop sleeps, or ends a drain. */
  async #takeRound(): Promise<'drained' | 'goes on'> {
    await this.#holdings.adopt()
    this.#tidy()
    const items = await this.#collect()
    if (items.length > 0) await this.#applyAndRest(items)
    else if (this.#awake) this.#awake = false
    else if (this.#phase === 'draining') return 'drained'
    else await this.#sleep()
    return 'goes on'
  }

  /**
   * A6: a short turn is followed by a rest as long as a few. Meanwhile the log takes more: turns
   * are few and large, and a quiet gateway rests for a moment only. Turn and rest together take
   * CYCLE_MS at most: what waits behind a long turn would wait for its rest as well.
   */
  async #applyAndRest(items: readonly Item[]): Promise<void> {
    const { nowMs, wait } = this.#ports
    const startedMs = nowMs()
    const isFull = items.length >= this.#turnMax
    await this.#apply(items)
    const tookMs = nowMs() - startedMs
    const restMs = Math.min(REST_TURNS * tookMs, CYCLE_MS - tookMs)
    if (!isFull && restMs > 0 && this.#phase === 'running') await wait(restMs)
  }

  #collect(): Promise<readonly Item[]> {
    const lanes = [...this.#holdings.lanes.values()]
    const first = this.#measure.turns() % Math.max(1, lanes.length)
    const fair = [...lanes.slice(first), ...lanes.slice(0, first)]
    return collect(fair, this.#ports.log, this.#turnMax)
  }

  async #sleep(): Promise<void> {
    if (this.#holdings.lanes.size > 0) this.#caughtUp.resolve()
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    this.#wake = undefined
    this.#awake = false
  }

  /** Between turns only: an actor that is in a turn is never put to sleep. */
  #tidy(): void {
    const now = this.#ports.nowMs()
    for (const channelId of this.#forgotten.splice(0)) this.#directory.sleep(channelId)
    if (now - this.#trimmedMs < TRIM_EVERY_MS && this.#directory.size <= this.#options.liveMax)
      return
    this.#trimmedMs = now
    this.#directory.trim(now)
  }

  async #apply(items: readonly Item[], doomed?: ReadonlyMap<Item, string>): Promise<void> {
    const { store, nowMs } = this.#ports
    const startedMs = nowMs()
    const moves = movesOf(items, this.#holdings.lanes)
    const turn = { items, moves, nowMs: startedMs, ...(doomed !== undefined && { doomed }) }
    const end = await takeTurn({ store, directory: this.#directory }, turn).catch(
      (error: unknown) => this.#defect(items, error),
    )
    if (end === 'recovered') return
    if (end.kind === 'fenced') return this.#holdings.askAgain(end.lanes)
    this.#moveOn(moves, end)
    this.#measure.turn((nowMs() - startedMs) / 1000, items.length, end)
  }

  #moveOn(moves: readonly LaneMove[], end: Extract<TurnEnd, { kind: 'committed' }>): void {
    const { bus, logger } = this.#ports
    this.#failures = 0
    this.#outages = 0
    this.#turnMax = Math.min(this.#options.turnMax, this.#turnMax * 2)
    bus.announce([...end.entries].map(([channelId, entries]) => ({ channelId, entries })))
    this.#holdings.moveOn(moves)
    for (const { lane, to } of moves) {
      bus.notify({ kind: 'applied', lane, position: positionOf(to) })
    }
    if (end.deadLetters > 0) {
      logger.error('submissions set aside as dead letters', { count: end.deadLetters })
    }
  }

  /** W6: halves the turn while the store is well, until one submission stands alone. */
  async #defect(items: readonly Item[], error: unknown): Promise<'recovered'> {
    this.#measure.retried()
    await this.#holdings.askAgain([...this.#holdings.lanes.keys()])
    const [only] = items
    const place = only === undefined ? undefined : this.#holdings.lanes.get(only.lane)?.place
    // The turn has happened and only its answer was lost, or the lane is in other hands.
    if (only === undefined || place === undefined || !isNext(only, place)) return 'recovered'
    this.#failures += 1
    this.#ports.logger.warn('a turn failed and is taken again', {
      error: String(error),
      submissions: items.length,
    })
    if (this.#failures < 2) return 'recovered'
    await this.#ports.wait(retryDelayMs(this.#failures - 2))
    if (this.#phase === 'halted') return 'recovered'
    if (items.length > 1) {
      this.#turnMax = Math.max(1, Math.floor(items.length / 2))
    } else if (this.#failures >= DOOMED_AFTER) {
      await this.#apply([only], new Map([[only, String(error)]]))
    }
    return 'recovered'
  }

  async #recover(error: unknown): Promise<void> {
    const { wait, logger, onMismatch } = this.#ports
    if (error instanceof LogMismatch) {
      this.#phase = 'halted'
      onMismatch(error.message) // W5
      return
    }
    const delayMs = retryDelayMs(this.#outages)
    this.#outages += 1
    logger.error('the store did not answer; the lanes wait', { error: String(error), delayMs })
    if (this.#phase === 'halted') return
    await wait(delayMs)
    this.#holdings.forget() // A7
  }
}
