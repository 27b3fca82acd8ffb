// Rules and what waits for a time, in memory: the part of the turn store that rules use.

import type { ChannelId, RuleId, ThingId } from '#domain/identity'
import { DUE_MAX, OF_EVENT, SWEEP_MAX } from '#domain/rules/stored'
import type {
  DueInChannel,
  DueSweep,
  EventWatch,
  PutOff,
  RuleWrites,
  StoredRule,
  Sweep,
  Watch,
} from '#domain/rules/stored'
import type { EntityKey, TurnState } from '#domain/store-ports'

interface Row {
  readonly channelId: ChannelId
  readonly ruleId: RuleId
  readonly thingId: string
  readonly lane: number
  readonly kept: Watch | Sweep | EventWatch
}

export class MemoryRules {
  readonly stored = new Map<string, StoredRule & { readonly channelId: ChannelId }>()
  readonly failures = new Map<string, number>()
  rows = new Map<string, Row>()
  /** Rows that were written or removed. */
  written = 0

  of(channels: readonly ChannelId[]): TurnState['rules'] {
    return [...this.stored.values()].filter(({ channelId }) => channels.includes(channelId))
  }

  watchesOf(keys: readonly EntityKey[]): TurnState['watches'] {
    return [...this.rows.values()].flatMap(({ channelId, ruleId, thingId, kept }) => {
      const isAsked = keys.some((key) => key.channelId === channelId && key.id === thingId)
      if (!isAsked || !('phase' in kept)) return []
      return { channelId, ruleId, thingId: thingId as ThingId, watch: revived(kept) }
    })
  }

  write(channelId: ChannelId, writes: RuleWrites | undefined): void {
    if (writes === undefined) return
    for (const { ruleId, stored } of writes.rules) {
      if (stored === undefined) this.stored.delete(`${channelId} ${ruleId}`)
      else this.stored.set(`${channelId} ${ruleId}`, { ...stored, channelId })
    }
    for (const { ruleId, count } of writes.failures) {
      this.failures.set(ruleId, (this.failures.get(ruleId) ?? 0) + count)
    }
    for (const { ruleId, thingId, kept } of writes.watches) {
      this.written += 1
      const key = `${channelId} ${ruleId} ${thingId}`
      if (kept === undefined) this.rows.delete(key)
      else
        this.rows.set(key, { channelId, ruleId, thingId, lane: writes.lane, kept: revived(kept) })
    }
  }

  /** Adds what is due to the Messages that are. */
  addDue(before: readonly DueInChannel[], asked: Asked): readonly DueInChannel[] {
    const { lane, upTo, max = DUE_MAX, except, thingsOf } = asked
    const left = max - before.flatMap(({ messages = [] }) => messages).length
    const rows = this.#waiting(lane).filter(
      ({ kept, channelId }) => (kept.due ?? Infinity) <= upTo && !except.includes(channelId),
    )
    const found = new Map(before.map((one) => [one.channelId, one]))
    for (const row of rows.slice(0, left)) {
      const { channelId, ruleId, thingId, kept } = row
      const item =
        'cursor' in kept
          ? this.#sweep(row, kept, { things: thingsOf(channelId), max: left })
          : ruleId === OF_EVENT
            ? { eventId: thingId }
            : { ruleId, thingId: thingId as ThingId }
      const one = found.get(channelId) ?? { channelId, items: [] }
      found.set(channelId, { ...one, items: [...one.items, item] })
    }
    return [...found.values()]
  }

  putOff(put: PutOff | undefined): void {
    if (put === undefined || 'opId' in put.item) return
    const key = `${put.channelId} ${put.item.ruleId} ${put.item.thingId}`
    const row = this.rows.get(key)
    if (row !== undefined) this.rows.set(key, { ...row, kept: { ...row.kept, due: put.until } })
  }

  waiting(lane: number): number {
    return this.#waiting(lane).length
  }

  nextDue(lane: number): number | undefined {
    return this.#waiting(lane)[0]?.kept.due
  }

  snapshot(): string {
    const rows = [...this.rows].map(([key, { kept, lane }]) =>
      JSON.stringify([key, lane, ...sorted(kept)]),
    )
    const stored = [...this.stored].map((rule) => JSON.stringify(rule))
    return JSON.stringify([
      rows.toSorted(),
      stored.toSorted(),
      [...this.failures].map(String).toSorted(),
    ])
  }

  #waiting(lane: number): readonly Row[] {
    return [...this.rows.values()]
      .filter((row) => row.lane === lane && row.kept.due !== undefined)
      .toSorted((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1))
  }

  #sweep(
    { channelId, ruleId }: Row,
    sweep: Sweep,
    { things, max }: { readonly things: readonly string[]; readonly max: number },
  ): DueSweep {
    const { cursor, isOfThings } = sweep
    const limit = Math.min(SWEEP_MAX, max)
    const own = [...this.rows.values()].flatMap((row) =>
      row.channelId === channelId && row.ruleId === ruleId ? [row.thingId] : [],
    )
    const ids = [...new Set([...own, ...(isOfThings ? things : [])])]
    const left = ids.filter((id) => id > cursor).toSorted()
    const thingIds = left.slice(0, limit) as ThingId[]
    const last = thingIds.at(-1)
    if (last === undefined || thingIds.length < limit) return { ruleId, thingIds }
    return { ruleId, thingIds, next: { ...sweep, cursor: last } }
  }
}

/** The members in one order: a watch keeps theirs by chance. */
const sorted = (kept: object): readonly string[] =>
  Object.entries(kept)
    .map((member) => JSON.stringify(member))
    .toSorted()

interface Asked {
  readonly lane: number
  readonly upTo: number
  readonly max?: number | undefined
  readonly except: readonly ChannelId[]
  readonly thingsOf: (channelId: ChannelId) => readonly string[]
}

const orderOf = ({ kept, ruleId, thingId, channelId }: Row): string =>
  [String(kept.due).padStart(20, '0'), ruleId, thingId, channelId].join(' ')

const revived = <Kept>(kept: Kept): Kept => JSON.parse(JSON.stringify(kept)) as Kept

/** The open Events of watches. */
export const openEventsOf = (watches: TurnState['watches']): readonly EntityKey[] =>
  watches.flatMap(({ channelId, watch: { eventId: id } }) =>
    id === undefined ? [] : { channelId, id },
  )
