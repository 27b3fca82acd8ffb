// Bounds what rules make of the submissions that are on their way: one update of a Thing that a
// thousand rules watch may open a thousand Events, and all others wait behind those.
//
// The owner of a lane tells the reach of a channel's rules, which is how many of them one update
// may set off at most, beside the place up to which it has applied. (announcing/2)
//
// Invariants:
//   following/1. What may follow from the submissions on their way is at most FOLLOWING_MAX changes
//     over all channels with more than FEW_RULES, and half of that for one of them. As many changes
//     as others have submissions a channel may always have. (W8)
//   following/2. A channel that nothing is known of has `unknownMax` submissions on their way,
//     until the first is applied.
//   following/3. A change of rules counts as CHANGE_REACH more rules until it is applied: what is
//     told about its channel before that does not know it.

import { FEW_RULES } from '#domain/rules/stored'

/** Some 0.4 s of the owner. */
export const FOLLOWING_MAX = 8_192
const CHANGE_REACH = 16

/** What is known of the rules of a channel, beside its submissions on their way. */
export interface Followed {
  onTheirWay: number
  /** Undefined until a submission is applied. */
  reach: number | undefined
  /** Changes of rules on their way. */
  changing: number
  /** Changes that may follow from what is on its way; 0 with few rules. */
  following: number
  /** True for a channel whose submissions count as such alone, as those of nearly all do. */
  isPlain: boolean
}

/** A channel without submissions, of which nothing is known. */
export const unfollowed = (): Followed => ({
  onTheirWay: 0,
  reach: undefined,
  changing: 0,
  following: 0,
  isPlain: false,
})

export interface FollowingOptions {
  /** Submissions of a channel that may be on their way before anything is known of it. */
  readonly unknownMax: number
  /** Changes that may always follow from those of one channel. */
  readonly shareMax: number
}

export class Following {
  readonly #options: FollowingOptions
  #sum = 0

  constructor(options: FollowingOptions) {
    this.#options = options
  }

  /** Changes that may follow, over all channels with more than FEW_RULES. */
  get sum(): number {
    return this.#sum
  }

  /** True when one more submission of a channel may go. */
  mayEnter(channel: Followed): boolean {
    const { unknownMax, shareMax } = this.#options
    const { onTheirWay, reach } = channel
    if (reach === undefined && onTheirWay >= unknownMax) return false // following/2
    const each = reachOf(channel)
    const own = each * (onTheirWay + 1)
    if (each <= FEW_RULES || own <= shareMax) return true
    // following/1
    if (onTheirWay > 0 && own > FOLLOWING_MAX / 2) return false
    return this.#sum === 0 || this.#sum + each <= FOLLOWING_MAX
  }

  /** Counts anew what may follow from the submissions of a channel, of which something changed. */
  count(channel: Followed): void {
    const each = reachOf(channel)
    const following = each > FEW_RULES ? each * channel.onTheirWay : 0
    this.#sum += following - channel.following
    channel.following = following
    channel.isPlain = channel.reach !== undefined && each <= FEW_RULES && channel.changing === 0
  }
}

/** following/3 */
const reachOf = ({ reach = 0, changing }: Followed): number => reach + changing * CHANGE_REACH
