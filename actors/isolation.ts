// Decides what to do with a submission that fails in a turn of its own. (W6)
//
//   outage ──▶ wait, again and again ──▶ refused for long, though lanes can be taken: park
//   defect ──▶ again ──▶ set aside ──▶ the same for the next ones of its channel: park
//
// Parking needs a commit too. In an outage that commit fails as well, and the lanes wait.

import type { ChannelId } from '#domain/identity'
import { STORE_BUSY, STORE_DEFECT, isOutage } from '#domain/store-ports'
import { isOfChannel } from './turn-item.ts'
import type { Item } from './turn-item.ts'

/**
 * Failures in a row, with growing pauses between them, after which a lone submission is given up.
 */
export const GIVEN_UP_AFTER = 6
/**
 * Refusals in a row of one lone submission, over some seconds, after which its channel is parked.
 */
const PARKED_AFTER = 8
/** Submissions of one channel that the database's errors set aside in a row before it is parked. */
const SET_ASIDE_MAX = 2

/** `again`: try at once. `wait`: all lanes wait, as in an outage. */
export type Verdict = 'again' | 'wait' | 'set-aside' | 'park'

export class Isolation {
  #refused: (Pick<Item, 'lane' | 'placeAfter'> & { readonly times: number }) | undefined
  #setAside: { readonly channelId: ChannelId; readonly times: number } | undefined

  /** `failures`: failed turns in a row, whichever turns they were. */
  verdict(item: Item, error: unknown, failures: number): Verdict {
    if (isOutage(error)) return this.#refusedAgain(item, error) ? 'park' : 'wait'
    if (failures < GIVEN_UP_AFTER) return 'again'
    return this.#setAsideAgain(item, error) ? 'park' : 'set-aside'
  }

  /** Says that a turn was committed, with entries for these channels. */
  committed(entries: ReadonlyMap<ChannelId, unknown>): void {
    this.#refused = undefined
    if (this.#setAside !== undefined && entries.has(this.#setAside.channelId)) {
      this.#setAside = undefined
    }
  }

  #refusedAgain(item: Item, error: unknown): boolean {
    if (!isOfChannel(item.submission)) return false
    if (error instanceof Error && error.name === STORE_BUSY) return false
    const { lane, placeAfter } = item
    const last = this.#refused
    const isSame = last?.lane === lane && last.placeAfter === placeAfter
    const times = isSame ? last.times + 1 : 1
    this.#refused = { lane, placeAfter, times }
    return times >= PARKED_AFTER
  }

  #setAsideAgain({ submission }: Item, error: unknown): boolean {
    if (!isOfChannel(submission)) return false
    if (!(error instanceof Error) || error.name !== STORE_DEFECT) return false
    const { channelId } = submission
    const times = this.#setAside?.channelId === channelId ? this.#setAside.times : 0
    this.#setAside = { channelId, times: times + 1 }
    return times >= SET_ASIDE_MAX
  }
}
