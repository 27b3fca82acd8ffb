// One caller that follows the Messages and Events of channels.
//
// Invariants:
//   follower/1. The bus only wakes: entries come from the feed, in order and without holes. A lost
//               announcement costs LIFE_MS at most.
//   follower/2. At each sign of life the follower checks whether its caller may still read, before
//               it tells of a quiet time; it ends when the caller may not.
//   follower/3. From a notice on, nothing is told before the caller has proven itself anew, and the
//               following ends when nobody can tell. Without a notice a store that does not answer
//               ends nothing.

import type { ChannelId } from '#domain/identity'
import type { NowMs, Timers } from '#domain/ports'

/** Tells whether the caller may read the channels at a time; 'unknown' when nobody can tell. */
export type StillOpens = (receivedAtMs: number) => Promise<'yes' | 'no' | 'unknown'>

interface FollowerPorts {
  readonly timers: Timers
  readonly nowMs: NowMs
  readonly stillOpens: StillOpens
}

/** A wait ends with the channels that have news, with nothing, or with the end of the following. */
export type FeedUpdate = ReadonlySet<ChannelId> | 'quiet' | 'end'

/** Milliseconds between signs of life, at which the feed is read without an announcement. */
const LIFE_MS = 45_000

export class Follower {
  readonly #ports: FollowerPorts
  readonly #stop: () => void
  readonly #leave: () => void
  #cancelLife: () => void
  #news = new Set<ChannelId>()
  #isQuiet = false
  #isOver = false
  /** True while nothing may be told. (follower/3) */
  #isHeld = false
  #checking: Promise<void> | undefined
  #isCheckedAgain = false
  #resolve: ((update: FeedUpdate) => void) | undefined

  constructor(ports: FollowerPorts, signal: AbortSignal, stop: () => void) {
    this.#ports = ports
    const end = (): void => this.end()
    signal.addEventListener('abort', end)
    this.#leave = () => signal.removeEventListener('abort', end)
    this.#stop = stop
    this.#cancelLife = ports.timers.after(LIFE_MS, () => void this.#live())
    if (signal.aborted) end()
  }

  /** Returns the channels with news since the last call, or waits for one. One call at a time. */
  next(): Promise<FeedUpdate> {
    const { promise, resolve } = Promise.withResolvers<FeedUpdate>()
    this.#resolve = resolve
    this.#tell()
    return promise
  }

  wake(channelId: ChannelId): void {
    this.#news.add(channelId)
    this.#tell()
  }

  /** Resolves with true once the caller is proven to have access; ends otherwise. (follower/3) */
  async prove(): Promise<boolean> {
    this.#isHeld = true
    await this.check()
    return !this.#isOver
  }

  /** Resolves when it is checked, with what is known from now on, whether the caller may read. */
  check(): Promise<void> {
    this.#isCheckedAgain = true
    this.#checking ??= this.#check().finally(() => (this.#checking = undefined))
    return this.#checking
  }

  end(): void {
    this.#isOver = true
    this.#cancelLife()
    this.#tell()
  }

  stop(): void {
    this.end()
    this.#leave()
    this.#stop()
  }

  async #check(): Promise<void> {
    let answer: Awaited<ReturnType<StillOpens>> = 'yes'
    // Once more for each change meanwhile, as long as the caller may read.
    while (!this.#isOver && this.#isCheckedAgain && answer === 'yes') {
      this.#isCheckedAgain = false
      answer = await this.#ports.stillOpens(this.#ports.nowMs()).catch(() => 'unknown' as const)
    }
    if (answer === 'no' || (answer === 'unknown' && this.#isHeld)) this.end()
    this.#isHeld = false
    this.#tell()
  }

  async #live(): Promise<void> {
    await this.check() // follower/2
    if (this.#isOver) return
    this.#isQuiet = true
    this.#cancelLife = this.#ports.timers.after(LIFE_MS, () => void this.#live())
    this.#tell()
  }

  /** Answers the one that waits, when there is something to tell. */
  #tell(): void {
    const update = this.#resolve && this.#update()
    if (update === undefined) return
    this.#resolve?.(update)
    this.#resolve = undefined
  }

  #update(): FeedUpdate | undefined {
    if (this.#isOver) return 'end'
    if (this.#isHeld) return undefined // follower/3
    const news = this.#news
    // A quiet time is a reading of every channel.
    if (!this.#isQuiet && news.size === 0) return undefined
    this.#news = new Set()
    if (!this.#isQuiet) return news
    this.#isQuiet = false
    return 'quiet' // follower/1
  }
}
