// One live actor per channel, and the bounded set of awake actors.
//
// Invariants:
//   actor/1. Turns of one channel are decided and committed one after the other; at most one is
//     decided while another commits.
//   actor/2. Between turns at most `liveMax` actors are awake, and together they remember at most
//     `cachedBytesMax` bytes: the least recently used go to sleep first. Sleep loses nothing,
//     because memory is only a cache.

import { createActor, fromTransition } from 'xstate'
import type { ActorRefFrom, AnyActorRef, SnapshotFrom } from 'xstate'

import type { ChannelId } from '#domain/identity'
import type { StoredRule } from '#domain/rules/stored'
import type { ChannelHead } from '#domain/store-ports'
import { channelBytes, channelLogic, isKnown, openEventsOf, rulesOf } from '#machines/channel'
import type { ChannelRules, Decided, Memory } from '#machines/channel'
import { ChannelTurn } from '#machines/channel-turn'
import { SharedRules } from '#machines/shared-rules'
import { NO_RULES } from '#machines/watching'

type ActorLimits = Omit<ChannelRules, 'compile'>

/** Tells the parent to stop a child: XState lets no child stop itself. */
interface StopSignal {
  readonly type: 'stop'
  readonly child: AnyActorRef
}

/**
 * The parent of actors of channels. As its children they are of one system; a system for each takes
 * twice the time to wake and as much memory again.
 */
const parentLogic = fromTransition((state: null, { child }: StopSignal, scope) => {
  scope.stopChild(child)
  return state
}, null)

/** The actors of a directory share these. */
class Siblings {
  readonly shared = new SharedRules()
  readonly parent = createActor(parentLogic).start()
  /** What all of them remember. */
  bytes = 0
}

/** A channel's actor as the system uses it. */
export class ChannelActor {
  readonly channelId: ChannelId
  lastUsedMs = 0
  #uncommitted = 0
  #bytes = 0
  #rules = NO_RULES
  readonly #actor: ActorRefFrom<typeof channelLogic>
  readonly #siblings: Siblings

  constructor(channelId: ChannelId, limits: ActorLimits, siblings = new Siblings()) {
    this.channelId = channelId
    this.#siblings = siblings
    const { parent, shared } = siblings
    const input = { ...limits, compile: shared.compile }
    this.#actor = createActor(channelLogic, { parent, input }).start()
  }

  get isAsleep(): boolean {
    return this.#snapshot().context.state === 'asleep'
  }

  /** True when a turn need not load this entity. */
  knows(kind: keyof Memory, id: string): boolean {
    return isKnown(this.#snapshot().context, kind, id)
  }

  /** The open Events of rules for a Thing whose watches it knows. */
  openEventsOf(thingId: string): readonly string[] {
    return openEventsOf(this.#snapshot().context, thingId)
  }

  /** Things, Events and watched Things that it remembers. */
  get remembered(): number {
    const { memory, decided } = this.#snapshot().context
    const newest =
      decided === undefined ? 0 : decided.things.size + decided.events.size + decided.watches.size
    return memory.things.size + memory.events.size + memory.watches.size + newest
  }

  /** An estimate of the bytes that these take, with the rules but what those share. */
  get bytes(): number {
    return this.#bytes
  }

  /** True when a turn may need the watches of the Things that it touches. */
  get hasRules(): boolean {
    return this.isAsleep || this.rules > 0
  }

  get rules(): number {
    return this.#rules.size
  }

  load(head: ChannelHead, rules: readonly StoredRule[] = []): void {
    this.#actor.send({ type: 'load', head, rules })
    this.#weigh()
  }

  /** Begins a turn on top of the turn before it, in the channel's lane. */
  begin(lane: number): ChannelTurn {
    // actor/1
    if (this.#uncommitted > 1) throw new Error('a channel was given a third turn at once')
    const turn = new ChannelTurn(this.#snapshot().context, lane)
    this.#uncommitted += 1
    return turn
  }

  /**
   * Takes over what a turn decided. That is the channel's state only after `committed`. (turn/1)
   */
  end(decided: Decided): void {
    this.#actor.send({ type: 'taken', decided })
    this.#weigh()
  }

  /** Says that the oldest uncommitted turn is committed. No effect after `failed`. */
  committed(): void {
    if (this.#uncommitted > 0) this.#uncommitted -= 1
  }

  /**
   * Says that a commit gave no answer: the channel forgets what it knows. No effect without an
   * uncommitted turn.
   */
  failed(): void {
    if (this.#uncommitted === 0) return
    this.#uncommitted = 0
    this.#actor.send({ type: 'failed' })
    this.#weigh()
  }

  stop(): void {
    this.#siblings.parent.send({ type: 'stop', child: this.#actor })
    this.#keep(NO_RULES, 0)
  }

  #weigh(): void {
    const { context } = this.#snapshot()
    this.#keep(rulesOf(context), channelBytes(context))
  }

  #keep(rules: typeof NO_RULES, bytes: number): void {
    if (rules !== this.#rules) this.#siblings.shared.replace(this.#rules, rules)
    this.#rules = rules
    this.#siblings.bytes += bytes - this.#bytes
    this.#bytes = bytes
  }

  #snapshot(): SnapshotFrom<typeof channelLogic> {
    return this.#actor.getSnapshot()
  }
}

const TRIM_EVERY_MS = 1000
/** The share of the bytes that is left once there were too many: tidying is not for each turn. */
const TRIMMED_TO = 7 / 8

export interface DirectoryLimits extends ActorLimits {
  readonly liveMax: number
  /** Bytes that all actors remember together. */
  readonly cachedBytesMax: number
  readonly idleMs: number
}

/** The actors that are awake, least recently used first. */
export class ChannelDirectory {
  readonly #awake = new Map<ChannelId, ChannelActor>()
  readonly #limits: DirectoryLimits
  /** Awake actors that the next tidying puts to sleep. */
  readonly #forgotten = new Set<ChannelId>()
  readonly #siblings = new Siblings()
  #trimmedMs = 0

  constructor(limits: DirectoryLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#awake.size
  }

  /** An estimate of the bytes that the actors remember. */
  get bytes(): number {
    const { bytes, shared } = this.#siblings
    return bytes + shared.bytes
  }

  /** Entities that the actors remember. */
  get remembered(): number {
    let sum = 0
    for (const actor of this.#awake.values()) sum += actor.remembered
    return sum
  }

  /** The rules of the channels that are awake. */
  get rules(): number {
    let sum = 0
    for (const actor of this.#awake.values()) sum += actor.rules
    return sum
  }

  /** The different ones among them. */
  get compiledRules(): number {
    return this.#siblings.shared.size
  }

  /** The channel's actor, started on first use. */
  wake(channelId: ChannelId, nowMs: number): ChannelActor {
    const found = this.#awake.get(channelId)
    const actor = found ?? new ChannelActor(channelId, this.#limits, this.#siblings)
    if (found !== undefined) this.#awake.delete(channelId)
    this.#awake.set(channelId, actor)
    actor.lastUsedMs = nowMs
    return actor
  }

  /** True when there is nothing to tidy. */
  isTidy(nowMs: number): boolean {
    const sinceMs = nowMs - this.#trimmedMs
    const isRecent = sinceMs >= 0 && sinceMs < TRIM_EVERY_MS // The clock may be set back.
    return isRecent && !this.#isFull && this.#forgotten.size === 0
  }

  get #isFull(): boolean {
    const { liveMax, cachedBytesMax } = this.#limits
    return this.size > liveMax || this.bytes > cachedBytesMax
  }

  /** Puts actors to sleep. Called between turns only: an actor in a turn must stay awake. */
  tidy(nowMs: number): void {
    if (this.isTidy(nowMs)) return
    for (const channelId of this.#forgotten) this.sleep(channelId)
    this.#trimmedMs = nowMs
    this.trim(nowMs)
  }

  /**
   * Says that the channel was deleted: its actor is forgotten between turns. A sleeping channel
   * needs no note, because its next turn loads it. (Notes about the deletions of all nodes would
   * grow without bound on an idle node.)
   */
  forget(channelId: ChannelId): void {
    if (this.#awake.has(channelId)) this.#forgotten.add(channelId)
  }

  /** Forgets a channel. Its next turn loads. */
  sleep(channelId: ChannelId): void {
    this.#awake.get(channelId)?.stop()
    this.#awake.delete(channelId)
    this.#forgotten.delete(channelId)
  }

  /** Forgets every channel: each loads at its next turn. Called between turns. */
  sleepAll(): void {
    for (const channelId of this.#awake.keys()) this.sleep(channelId)
  }

  /**
   * actor/2: puts idle actors to sleep, and the least recently used beyond the limits. Called
   * between turns, never within one.
   */
  trim(nowMs: number): void {
    const { liveMax, cachedBytesMax, idleMs } = this.#limits
    const bytesMax = this.bytes > cachedBytesMax ? cachedBytesMax * TRIMMED_TO : cachedBytesMax
    for (const [channelId, actor] of this.#awake) {
      const isFull = this.size > liveMax || this.bytes > bytesMax
      if (!isFull && nowMs - actor.lastUsedMs <= idleMs) break
      this.sleep(channelId)
    }
  }
}
