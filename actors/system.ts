// The owner of lanes: adopts leases, reads the log, takes turns, rests and sleeps.
//
//   adopt leases ─▶ tidy ─▶ collect ─┬▶ apply ─▶ rest ─┐
//         ▲                          └▶ sleep until ───┤
//         └──────────────────────────── woken ─────────┘

import { LogMismatch } from '#domain/lane'
import { retryDelayMs } from './backoff.ts'
import { ChannelDirectory } from './channel.ts'
import { Deadlines } from './deadlines.ts'
import { OwnedLanes } from './owned-lanes.ts'
import type { SystemOptions, SystemPorts } from './options.ts'
import { purgeApplied } from './purge.ts'
import type { Applied } from './purge.ts'
import { measuresOf } from './measures.ts'
import type { Measures } from './measures.ts'
import type { Item } from './turn-item.ts'
import { TurnLine } from './turn-line.ts'

const REST_TURNS = 3
const CYCLE_MS = 20

/** Applies the lanes that this process holds leases for. */
export class ActorSystem {
  readonly #ports: SystemPorts
  readonly #options: SystemOptions
  readonly #directory: ChannelDirectory
  readonly #ownedLanes: OwnedLanes
  readonly #deadlines: Deadlines
  readonly #measure: Measures
  readonly #line: TurnLine
  readonly #caughtUp = Promise.withResolvers<void>()
  #wake: (() => void) | undefined
  #awake = true
  #phase: 'running' | 'draining' | 'halted' = 'running'
  #outages = 0
  /** True while turns follow one another without a rest. */
  isBusy = false
  /** The round under way. Once it resolves, nothing is applied under earlier leases. */
  #round: Promise<void> = Promise.resolve()
  #running: Promise<void> = Promise.resolve()
  #stops: (() => void | Promise<void>)[] = []

  constructor(ports: SystemPorts, options: SystemOptions) {
    this.#ports = ports
    this.#options = options
    const { store, logger, meter, bus, leases } = ports
    const directory = new ChannelDirectory(options)
    const deadlines = new Deadlines(ports)
    this.#deadlines = deadlines
    const ownedLanes = new OwnedLanes({
      deadlines,
      store,
      logger,
      forgetAll: () => directory.sleepAll(),
      taken: (lane) => bus.notify({ kind: 'lane-taken', lane }),
      fenced: (lease) => leases.fenced(lease),
    })
    const measure = measuresOf(meter, directory)
    const isHalted = (): boolean => this.#phase === 'halted'
    this.#directory = directory
    this.#ownedLanes = ownedLanes
    this.#measure = measure
    const wakeUp = (): void => this.#wakeUp()
    this.#line = new TurnLine(
      { ...ports, directory, ownedLanes, deadlines, measure, wakeUp, isHalted },
      options,
    )
    meter.gauge('refused_channels', {}, () => ownedLanes.refused.size)
  }

  /** Lanes that this process applies now. */
  get ownedLanes(): number {
    return this.#ownedLanes.lanes.size
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
        if (notice.kind === 'channel-deleted') this.#directory.forget(notice.channelId)
      }),
      await leases.watch((held) => {
        this.#ownedLanes.lease(held)
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

  /** Stops after the turn that is being committed. The rest stays in the log. */
  async halt(): Promise<void> {
    this.#phase = 'halted'
    await this.drain()
  }

  /** Purges from the log what is applied and old. (W4) */
  purge(): Promise<void> {
    return purgeApplied(this.#ports, this.places(), this.#options.logKeepMs)
  }

  /** Works off what is due by now. Called at intervals. (R8) */
  checkDeadlines(): void {
    if (this.#phase === 'running') this.#deadlines.check()
  }

  /** Counts deadlines for the metrics. Called at intervals. */
  countDeadlines(): Promise<void> {
    return this.#deadlines.count()
  }

  /** The places up to which this process's lanes are applied. */
  places(): readonly Applied[] {
    return this.#ownedLanes.places()
  }

  #onWake(lane: number): void {
    const owned = this.#ownedLanes.lanes.get(lane)
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

  /**
   * Runs one round. Before the loop sleeps or ends a drain, it reads what came during the last
   * read.
   */
  async #takeRound(): Promise<'drained' | 'goes on'> {
    await this.#ownedLanes.adopt()
    this.#directory.tidy(this.#ports.nowMs())
    const items = await this.#line.collect()
    if (items.length > 0) await this.#applyAndRest(items)
    else if (this.#awake) this.#awake = false
    else if (this.#phase === 'draining' && !this.#line.isPausing) return 'drained'
    else {
      this.isBusy = false
      await this.#sleep()
    }
    return 'goes on'
  }

  /**
   * Rests after a short turn for as long as a few such turns. Meanwhile the log takes more, so
   * turns are few and large; a quiet gateway rests for a moment only. Turn and rest together take
   * CYCLE_MS at most: submissions behind a long turn must not wait for its rest as well. Behind one
   * of CYCLE_MS the thread receives its messages: what it has of the log may be many such turns,
   * and questions would wait for the last of them.
   */
  async #applyAndRest(items: readonly Item[]): Promise<void> {
    const { nowMs, wait } = this.#ports
    const startedMs = nowMs()
    const isLarge = this.#line.isLarge(items)
    await this.#line.apply(items)
    this.#outages = 0
    const tookMs = nowMs() - startedMs
    const restMs = Math.min(REST_TURNS * tookMs, CYCLE_MS - tookMs)
    const isLong = tookMs >= CYCLE_MS
    this.isBusy = isLarge || restMs <= 0
    if ((!this.isBusy || isLong) && this.#phase === 'running') await wait(Math.max(0, restMs))
  }

  async #sleep(): Promise<void> {
    if (this.#ownedLanes.lanes.size > 0 && !this.#line.isPausing) this.#caughtUp.resolve()
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    this.#wake = undefined
    this.#awake = false
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
    this.#ownedLanes.forget() // owned-lanes/1
  }
}
