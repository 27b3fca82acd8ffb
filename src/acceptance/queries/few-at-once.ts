// Work about a channel that takes long beside requests: few at once, in slices.
//
// Invariants:
//   few-at-once/1. Of one channel so many run at a time, and so many in all: the next one is
//     refused.
//   few-at-once/2. What computes runs for some milliseconds at a time, counted in steps, and
//     requests go on in between.

import { Slots } from '#domain/bounds/slots'
import type { Slot, SlotRefusal } from '#domain/bounds/slots'
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
  /** By channel: an id is no address, and so counts as it is. */
  readonly #slots: Slots

  constructor(bounds: Bounds) {
    this.#bounds = bounds
    this.#slots = new Slots({ total: bounds.max, perAddress: bounds.ofChannel })
  }

  get running(): number {
    return this.#slots.taken
  }

  /** The refusal of one more: rate_limited for its channel, server_busy for all. */
  refusal(channelId: ChannelId): Fault | undefined {
    const code = this.#slots.refusal(channelId)
    return code && this.#fault(code)
  }

  /** Counts one, until the slot is released; a fault beyond the bounds. */
  take(channelId: ChannelId): Answer<Slot> {
    const slot = this.#slots.take(channelId) // few-at-once/1
    return typeof slot === 'string' ? this.#fault(slot) : slot
  }

  /** Runs a job about a channel; a fault beyond the bounds. */
  async run<Result>(
    channelId: ChannelId,
    job: () => Promise<Answer<Result>>,
  ): Promise<Answer<Result>> {
    const slot = this.take(channelId)
    if (isFault(slot)) return slot
    try {
      return await job()
    } finally {
      slot.release()
    }
  }

  #fault(code: SlotRefusal): Fault {
    const { ofChannel, max, what, retryAfterMs } = this.#bounds
    const [where, most] = code === 'rate_limited' ? [' of this channel', ofChannel] : ['', max]
    const detail = `other ${what}${where} run: at most ${most} at a time`
    return fault(code, { detail, retryAfterMs })
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
