// Work about a channel that takes long beside requests: few at once, in slices.
//
// Invariants:
//   few-at-once/1. Of one channel so many run at a time, and so many in all: the next one is
//     refused.
//   few-at-once/2. What computes runs for some milliseconds at a time, counted in steps, and
//     requests go on in between.

import { fault, isFault } from '#domain/fault'
import type { Fault } from '#domain/fault'
import type { ChannelId } from '#domain/identity'
import type { Answer } from '#domain/ports'
import type { Runtime } from '#domain/runtime'

export interface Bounds {
  readonly ofChannel: number
  readonly max: number
  /** What they are, for the refusal. */
  readonly what: string
  /** When another attempt is worth it. */
  readonly retryAfterMs: number
}

export class FewAtOnce {
  readonly #bounds: Bounds
  readonly #ofChannel = new Map<ChannelId, number>()
  #running = 0

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  get running(): number {
    return this.#running
  }

  /** The refusal of one more: rate_limited for its channel, server_busy for all. */
  refusal(channelId: ChannelId): Fault | undefined {
    const { ofChannel, max, what, retryAfterMs } = this.#bounds
    if ((this.#ofChannel.get(channelId) ?? 0) >= ofChannel) {
      const detail = `other ${what} of this channel run: at most ${ofChannel} at a time`
      return fault('rate_limited', { detail, retryAfterMs })
    }
    if (this.#running < max) return undefined
    const detail = `other ${what} run: at most ${max} at a time`
    return fault('server_busy', { detail, retryAfterMs })
  }

  /** Counts one, until the function that it returns is called; a fault beyond the bounds. */
  take(channelId: ChannelId): Answer<() => void> {
    const refusal = this.refusal(channelId)
    if (refusal !== undefined) return refusal // few-at-once/1
    this.#count(channelId, 1)
    return () => this.#count(channelId, -1)
  }

  /** Runs a job about a channel; a fault beyond the bounds. */
  async run<Result>(
    channelId: ChannelId,
    job: () => Promise<Answer<Result>>,
  ): Promise<Answer<Result>> {
    const release = this.take(channelId)
    if (isFault(release)) return release
    try {
      return await job()
    } finally {
      release()
    }
  }

  #count(channelId: ChannelId, by: 1 | -1): void {
    this.#running += by
    const running = (this.#ofChannel.get(channelId) ?? 0) + by
    if (running > 0) this.#ofChannel.set(channelId, running)
    else this.#ofChannel.delete(channelId)
  }
}

/** Steps after which work pauses: some 2 ms, and one reading more at worst. (src/rules/work.ts) */
const SLICE_STEPS = 20_000

/**
 * Goes through all parts of some work, which counts its steps. `soon` runs a task once the requests
 * that have arrived are read.
 */
export async function inSlices(
  soon: Runtime['soon'],
  work: { readonly steps: number },
  parts: Generator<void>,
): Promise<void> {
  let end = work.steps + SLICE_STEPS
  while (parts.next().done !== true) {
    if (work.steps < end) continue
    await new Promise<void>((resolve) => soon(resolve)) // few-at-once/2
    end = work.steps + SLICE_STEPS
  }
}
