// A fleet whose readings go through the product's own store: committed as turns write them, joined,
// merged and removed, as if its days had passed.

import type { FeedEntry } from '#domain/feed'
import { PERIOD_MS, TIER_MS, firstKept } from '#domain/history/series'
import type { TierRetention } from '#domain/history/series'
import { operationIdFrom } from '#domain/identity'
import type { ChannelId, ThingId } from '#domain/identity'
import type { ChannelHead } from '#domain/store-ports'
import type { Store } from '#src/store/store'
import { thingIdOf } from '#test/bench/load/payload'
import { limitsOf } from '#test/support/retention-limits'

export const FLEET_ATTRS = ['temperature', 'humidity', 'pressure', 'battery', 'signal'] as const

const DAY_MS = TIER_MS['1d']
/** The defaults of SERVICE_TIER_RETENTION and of the updates themselves. */
const KEPT: TierRetention = { '5m': 7 * DAY_MS, '1h': 400 * DAY_MS, '1d': 3_650 * DAY_MS }
const UPDATES_KEPT_MS = DAY_MS
const REMOVED_ROWS = 500

interface FleetOptions {
  readonly channelId: ChannelId
  readonly things: number
  /** Milliseconds from a reading of a Thing to its next one. */
  readonly everyMs: number
  /** The time of the first reading. */
  readonly startMs: number
}

export class Fleet {
  readonly #store: Store
  readonly #options: FleetOptions
  #head: ChannelHead
  #count = 0

  private constructor(store: Store, options: FleetOptions, head: ChannelHead) {
    this.#store = store
    this.#options = options
    this.#head = head
  }

  /** The channel is there. */
  static async open(store: Store, options: FleetOptions): Promise<Fleet> {
    const needs = { channels: [options.channelId], things: [], events: [], operations: [] }
    const [head] = (await store.turns.load(needs)).channels
    if (head === undefined) throw new Error('the channel of the fleet is not there')
    return new Fleet(store, options, head)
  }

  /** The time of the next reading. */
  get nowMs(): number {
    const { startMs, everyMs, things } = this.#options
    return startMs + Math.floor((this.#count * everyMs) / things)
  }

  /** Commits the next readings of the fleet, as so many turns. */
  async commit(updates: number, turns = 1): Promise<void> {
    for (let turn = 0; turn < turns; turn += 1) {
      const entries = Array.from({ length: updates / turns }, () => this.#next())
      const written = { head: this.#head, things: [], events: [], entries }
      const nothing = { operations: [], batches: [], deadLetters: [] }
      await this.#store.turns.commit({ lanes: [], channels: [written], ...nothing })
    }
  }

  /** Merges and removes what is to be merged and removed by now. */
  async tend(): Promise<void> {
    const now = this.nowMs
    while ((await this.#store.merging.merge(now, KEPT)) > 0) continue
    const of = (tier: keyof TierRetention): number => firstKept(tier, KEPT, now)
    const tiers = { '5m': of('5m'), '1h': of('1h'), '1d': of('1d') }
    const limits = { ...limitsOf(0), thingUpdates: now - UPDATES_KEPT_MS, tiers }
    while ((await this.#store.retention.step(limits, REMOVED_ROWS)) > 0) continue
  }

  #next(): FeedEntry {
    const { channelId, things } = this.#options
    const acceptedAt = this.nowMs
    const count = this.#count
    const thing = count % things
    this.#count += 1
    this.#head = { ...this.#head, headSeq: this.#head.headSeq + 1 }
    return {
      channelId,
      seq: this.#head.headSeq,
      opId: operationIdFrom(acceptedAt, count.toString(16).padStart(32, '0')),
      model: 'thing',
      action: 'update',
      entityId: thingIdOf(thing) as ThingId,
      state: 'active',
      rev: Math.floor(count / things) + 1,
      acceptedAt,
      payload: JSON.stringify({ observed_at: acceptedAt, attrs: attrsAt(thing, acceptedAt) }),
    }
  }
}

/** Numbers with a decimal that go up and down with the day. */
function attrsAt(thing: number, atMs: number): Readonly<Record<string, number>> {
  const hour = ((atMs % PERIOD_MS['5m']) / DAY_MS) * 2 * Math.PI
  const values = FLEET_ATTRS.map((attr, index) => {
    const value = 20 * (index + 1) + 5 * Math.sin(hour + thing + index) + ((atMs + thing) % 7) / 10
    return [attr, Math.round(value * 10) / 10] as const
  })
  return Object.fromEntries(values)
}
