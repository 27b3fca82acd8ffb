// The channels that one session listens to.

import type { Position } from '#domain/feed'
import type { ChannelId } from '#domain/identity'
import type { ChannelListeners } from './channel-listeners.ts'

export class Listening<Member> {
  readonly #listeners: ChannelListeners<Member>
  readonly #member: Member
  /**
   * Channels that the session listens to; a channel that is left and joined again gets another
   * number. Undefined before the first.
   */
  #channels: Map<ChannelId, number> | undefined
  #joins = 0

  constructor(listeners: ChannelListeners<Member>, member: Member) {
    this.#listeners = listeners
    this.#member = member
  }

  get channelIds(): readonly ChannelId[] {
    return [...(this.#channels?.keys() ?? [])]
  }

  has(channelId: ChannelId): boolean {
    return this.#channels?.has(channelId) === true
  }

  /** Begins to listen; gives a number for this period of listening. */
  join(channelId: ChannelId): number {
    const known = this.#channels?.get(channelId)
    if (known !== undefined) return known
    this.#channels ??= new Map()
    this.#joins += 1
    this.#channels.set(channelId, this.#joins)
    this.#listeners.join(channelId, this.#member)
    return this.#joins
  }

  /** True while the period of `joined` goes on. */
  isSince(channelId: ChannelId, joined: number): boolean {
    return this.#channels?.get(channelId) === joined
  }

  /** Stops listening; false when it did not listen. */
  leave(channelId: ChannelId): boolean {
    if (this.#channels?.delete(channelId) !== true) return false
    this.#listeners.leave(channelId, this.#member)
    return true
  }

  leaveAll(): void {
    for (const channelId of this.channelIds) this.leave(channelId)
  }

  /** The position, its head raised to the highest seq heard while it was read. (connection/1) */
  corrected(position: Position): Position {
    const heard = this.#listeners.headOf(position.channelId)
    return heard > position.headSeq ? { ...position, headSeq: heard } : position
  }
}
