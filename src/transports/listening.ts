// Keeps the channels that one session listens to.

import type { Position } from '#domain/feed'
import type { ChannelId } from '#domain/identity'
import type { ChannelListeners } from './channel-listeners.ts'

export class Listening<Member> {
  readonly #listeners: ChannelListeners<Member>
  readonly #member: Member
  /**
   * The channels that the session listens to, each with the number of its join: leaving and joining
   * again gives another number. Undefined before the first.
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

  /** Begins to listen; gives the number of this join. */
  join(channelId: ChannelId): number {
    const known = this.#channels?.get(channelId)
    if (known !== undefined) return known
    this.#channels ??= new Map()
    this.#joins += 1
    this.#channels.set(channelId, this.#joins)
    this.#listeners.join(channelId, this.#member)
    return this.#joins
  }

  /** True while the session listens since the join of that number. */
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

  /** The position with its head raised to the highest announced seq. (connection/1) */
  corrected(position: Position): Position {
    const announced = this.#listeners.headOf(position.channelId)
    return announced > position.headSeq ? { ...position, headSeq: announced } : position
  }
}
