// What becomes of a submission that fails alone, in a turn of its own. (W6)
//
//   outage ──▶ wait, again and again ──▶ refused for long, though lanes can be taken: park
//   defect ──▶ again ──▶ set aside ──▶ the same for the next ones of its channel: park
//
// To park needs a commit as well. In an outage that fails too, and the lanes wait.

import type { ChannelId } from '#domain/identity'
import { STORE_BUSY, STORE_DEFECT, isOutage } from '#domain/store-ports'
import type { Item } from './turn-item.ts'

/** Failures in a row, with growing pauses between them, before a submission alone is given up. */
export const GIVEN_UP_AFTER = 6
/** Refusals of one submission alone in a row, over some seconds, before its channel is parked. */
const PARKED_AFTER = 8
/** Submissions of a channel set aside in a row for what the database said, before it is parked. */
const SET_ASIDE_MAX = 2

/** `again`: at once. `wait`: with all lanes, as in an outage. */
export type Verdict = 'again' | 'wait' | 'set-aside' | 'park'

export class Isolation {
  #refused: (Pick<Item, 'lane' | 'placeAfter'> & { readonly times: number }) | undefined
  #setAside: { readonly channelId: ChannelId; readonly times: number } | undefined

  /** `failures`: those in a row, of whatever turns. */
  verdict(item: Item, error: unknown, failures: number): Verdict {
    if (isOutage(error)) return this.#refusedAgain(item, error) ? 'park' : 'wait'
    if (failures < GIVEN_UP_AFTER) return 'again'
    return this.#setAsideAgain(item, error) ? 'park' : 'set-aside'
  }

  /** A turn was committed: the channels of these entries are written to. */
  committed(entries: ReadonlyMap<ChannelId, unknown>): void {
    this.#refused = undefined
    if (this.#setAside !== undefined && entries.has(this.#setAside.channelId)) {
      this.#setAside = undefined
    }
  }

  #refusedAgain(item: Item, error: unknown): boolean {
    if (item.submission.model === 'unreadable') return false
    if (error instanceof Error && error.name === STORE_BUSY) return false
    const { lane, placeAfter } = item
    const last = this.#refused
    const isSame = last?.lane === lane && last.placeAfter === placeAfter
    const times = isSame ? last.times + 1 : 1
    this.#refused = { lane, placeAfter, times }
    return times >= PARKED_AFTER
  }

  #setAsideAgain({ submission }: Item, error: unknown): boolean {
    if (submission.model === 'unreadable') return false
    if (!(error instanceof Error) || error.name !== STORE_DEFECT) return false
    const { channelId } = submission
    const times = this.#setAside?.channelId === channelId ? this.#setAside.times : 0
    this.#setAside = { channelId, times: times + 1 }
    return times >= SET_ASIDE_MAX
  }
}
