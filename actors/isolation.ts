// Decides what to do with a submission that fails in a turn of its own. (W6)
//
//   outage ──▶ wait, again and again ──▶ refused for long, though lanes can be taken: set aside
//   defect ──▶ again ──▶ set aside
//
// The database's errors refuse a channel: the submissions behind are set aside at once, for a
// while. A tick belongs to no channel. It is tried with fewer and fewer of the rows that are due;
// when one alone fails, that row is put off, and the others go on.
//
// Setting aside needs a commit too. In an outage that commit fails as well, and the lanes wait.

import type { ChannelId } from '#domain/identity'
import type { ChannelTurn } from '#machines/channel-turn'
import { DUE_MAX } from '#domain/rules/stored'
import { STORE_BUSY, STORE_DEFECT, isOutage } from '#domain/store-ports'
import { isOfChannel, isTick } from './turn-item.ts'
import type { Item } from './turn-item.ts'

/**
 * Failures in a row, with growing pauses between them, after which a lone submission is given up.
 */
const GIVEN_UP_AFTER = 6
/**
 * Refusals in a row of one lone submission, over some seconds, after which its channel is refused.
 */
const REFUSED_AFTER = 8
/** Submissions of a channel that are set aside in a row for errors of the database before it is. */
const SET_ASIDE_MAX = 2

/**
 * `again`: try at once. `wait`: all lanes wait, as in an outage. `refuse`: set aside, and so are
 * those behind of its channel. `put-off`: the first row that is due to a tick.
 */
export type Verdict = 'again' | 'wait' | 'set-aside' | 'refuse' | 'put-off'

interface Trouble {
  /** Failed turns in a row, whichever turns they were. */
  readonly failures: number
  /** Rows that a lone tick had at most. */
  readonly dueMax: number
}

const isBusy = (error: unknown): boolean => error instanceof Error && error.name === STORE_BUSY

export class Isolation {
  #refused: (Pick<Item, 'lane' | 'placeAfter'> & { readonly times: number }) | undefined
  /** The place behind the last tick that was to put a row off. */
  #putOff = -1
  #setAside: { readonly channelId: ChannelId; readonly times: number } | undefined

  verdict(item: Item, error: unknown, trouble: Trouble): Verdict {
    if (isTick(item)) return this.#onTick(item, error, trouble)
    const { failures } = trouble
    if (isOutage(error)) {
      const isRefused = isOfChannel(item.submission) && this.#refusedAgain(item, error)
      return isRefused ? 'refuse' : 'wait'
    }
    if (failures < GIVEN_UP_AFTER) return 'again'
    return this.#setAsideAgain(item, error) ? 'refuse' : 'set-aside'
  }

  /** The same for the attempt of a channel that is refused. (refused-channels/1) */
  again(error: unknown): Verdict {
    return isBusy(error) ? 'wait' : 'refuse'
  }

  /** The same for a tick with so many of the rows that are due. (W6) */
  #onTick(item: Item, error: unknown, { failures, dueMax }: Trouble): Verdict {
    const isRefused = isOutage(error)
    if (isRefused && (isBusy(error) || dueMax === DUE_MAX)) {
      if (!this.#refusedAgain(item, error)) return 'wait'
    }
    if (dueMax > 1 || failures < GIVEN_UP_AFTER) return 'again'
    const isTried = this.#putOff === item.placeAfter
    this.#putOff = item.placeAfter
    return isTried && !isRefused ? 'set-aside' : 'put-off'
  }

  /** Says that a turn was committed, with what each of its channels decided. */
  committed(
    channels: ReadonlyMap<ChannelId, { readonly turn: Pick<ChannelTurn, 'entries'> }>,
  ): void {
    this.#refused = undefined
    const setAside = this.#setAside && channels.get(this.#setAside.channelId)
    if (setAside !== undefined && setAside.turn.entries.length > 0) this.#setAside = undefined
  }

  #refusedAgain(item: Item, error: unknown): boolean {
    if (isBusy(error)) return false
    const { lane, placeAfter } = item
    const last = this.#refused
    const isSame = last?.lane === lane && last.placeAfter === placeAfter
    const times = isSame ? last.times + 1 : 1
    this.#refused = { lane, placeAfter, times }
    return times >= REFUSED_AFTER
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
