// One live actor per channel, and the bounded set of those that are awake.
//
// Invariants:
//   A5. At most `liveMax` actors are awake, and together they remember at most `entitiesMax`
//       entities: the least recently used go to sleep first. Sleep loses nothing, because memory is
//       only a cache.

import { createActor } from 'xstate'
import type { ActorRefFrom, SnapshotFrom } from 'xstate'

import type { ChannelId } from '#domain/identity'
import type { ChannelHead } from '#domain/store-ports'
import { channelMachine } from '#machines/channel'
import type { Memory, TurnInput, TurnOutcome } from '#machines/channel'
import type { Rules } from '#machines/decide'

/** A channel's actor as the system uses it. */
export class ChannelActor {
  readonly channelId: ChannelId
  lastUsedMs = 0
  readonly #actor: ActorRefFrom<typeof channelMachine>

  constructor(channelId: ChannelId, rules: Rules) {
    this.channelId = channelId
    this.#actor = createActor(channelMachine, { input: rules })
    this.#actor.start()
  }

  get isAsleep(): boolean {
    return this.#snapshot().value === 'asleep'
  }

  /** What the actor remembers, so that a turn loads only the rest. */
  get memory(): Memory {
    return this.#snapshot().context.memory
  }

  get remembered(): number {
    return this.memory.things.size + this.memory.events.size
  }

  load(head: ChannelHead): void {
    this.#actor.send({ type: 'load', head })
  }

  /** Decides a turn. The outcome is the channel's truth only after `committed`. (A2) */
  take(turn: TurnInput): TurnOutcome {
    const isResting = this.#snapshot().value === 'resting' // A1
    this.#actor.send({ type: 'take', turn })
    const { decided } = this.#snapshot().context
    if (!isResting || decided === undefined) {
      throw new Error('a channel that is not resting was given a turn')
    }
    return decided
  }

  committed(): void {
    this.#actor.send({ type: 'committed' })
  }

  failed(): void {
    this.#actor.send({ type: 'failed' })
  }

  stop(): void {
    this.#actor.stop()
  }

  #snapshot(): SnapshotFrom<typeof channelMachine> {
    return this.#actor.getSnapshot()
  }
}

export interface DirectoryLimits extends Rules {
  readonly liveMax: number
  readonly entitiesMax: number
  readonly idleMs: number
}

/** The actors that are awake, least recently used first. */
export class ChannelDirectory {
  readonly #awake = new Map<ChannelId, ChannelActor>()
  readonly #limits: DirectoryLimits

  constructor(limits: DirectoryLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#awake.size
  }

  get remembered(): number {
    let sum = 0
    for (const actor of this.#awake.values()) sum += actor.remembered
    return sum
  }

  /** The channel's actor, started on first use. */
  wake(channelId: ChannelId, nowMs: number): ChannelActor {
    const found = this.#awake.get(channelId)
    const actor = found ?? new ChannelActor(channelId, this.#limits)
    if (found !== undefined) this.#awake.delete(channelId)
    this.#awake.set(channelId, actor)
    actor.lastUsedMs = nowMs
    return actor
  }

  /** Forgets a channel, for instance because it was deleted. Its next turn loads. */
  sleep(channelId: ChannelId): void {
    this.#awake.get(channelId)?.stop()
    this.#awake.delete(channelId)
  }

  /** Forgets every channel: each loads at its next turn. Called between turns. */
  sleepAll(): void {
    for (const channelId of this.#awake.keys()) this.sleep(channelId)
  }

  /** A5: puts to sleep what is too much or idle. Called between turns, never within one. */
  trim(nowMs: number): void {
    let remembered = this.remembered
    for (const [channelId, actor] of this.#awake) {
      const tooMany = this.#awake.size > this.#limits.liveMax
      const tooMuch = remembered > this.#limits.entitiesMax
      const idle = nowMs - actor.lastUsedMs > this.#limits.idleMs
      if (!tooMany && !tooMuch && !idle) break
      remembered -= actor.remembered
      this.sleep(channelId)
    }
  }
}
