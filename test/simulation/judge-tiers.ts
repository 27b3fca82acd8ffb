// The judge of tiers: they count each reading of the blocks once, whatever was joined, merged and
// killed in between. A late reading, which the feed does not have, is one of them.

import type { ChannelId } from '#domain/identity'
import type { Store } from '#src/store/store'
import type { Final } from './judge.ts'
import type { Observations } from './observations.ts'

/** How many readings there are, by channel, Thing and key. */
type Counts = Map<string, number>

/** What the tiers count, and what the readings themselves are. */
export interface Counted {
  readonly tiers: Counts
  readonly readings: Counts
}

/** Compares the tiers with the readings, and those with the entries of Things. */
export function judgeTiers(
  observations: Observations,
  { channels, entries }: Pick<Final, 'channels' | 'entries'>,
  { tiers, readings }: Counted,
): void {
  for (const name of new Set([...tiers.keys(), ...readings.keys()])) {
    const [is = 0, expected = 0] = [tiers.get(name), readings.get(name)]
    if (is !== expected) {
      observations.break('a reading counts once', `${name}: ${is} in place of ${expected}`)
    }
  }
  const told: Counts = new Map()
  for (const { channelId, model, entityId, payload } of entries) {
    if (model !== 'thing' || !channels.includes(channelId)) continue
    const { attrs = {} } = JSON.parse(payload) as { readonly attrs?: Record<string, unknown> }
    for (const [key, value] of Object.entries(attrs)) {
      if (typeof value === 'number') add(told, `${channelId} ${entityId} ${key}`, 1)
    }
  }
  for (const [name, count] of told) {
    const is = readings.get(name) ?? 0
    if (is < count) observations.break('a reading is kept', `${name}: ${is} of ${count}`)
  }
}

const add = (counts: Counts, name: string, count: number): void => {
  counts.set(name, (counts.get(name) ?? 0) + count)
}

/** Asks the tiers, when all is at rest: a look must not take longer than between two writes. */
export async function countedIn(
  { series }: Pick<Store, 'series'>,
  { values }: Pick<Final, 'values'>,
): Promise<Counted> {
  const counted = { tiers: new Map(), readings: new Map() } satisfies Counted
  for (const [channel, things] of values) {
    for (const thingId of things.keys()) {
      const of = { channelId: channel as ChannelId, thingId, from: 0, to: Number.MAX_SAFE_INTEGER }
      const tiers = await series.series({ ...of, step: '1d' })
      const readings = await series.series({ ...of, step: 'raw' })
      for (const [key, columns] of Object.entries(tiers.attrs)) {
        const counts = 'count' in columns ? columns.count : []
        for (const count of counts) add(counted.tiers, `${channel} ${thingId} ${key}`, count)
      }
      for (const [key, columns] of Object.entries(readings.attrs)) {
        const found = 'values' in columns ? columns.values : []
        const numbers = found.filter((value) => typeof value === 'number').length
        if (numbers > 0) add(counted.readings, `${channel} ${thingId} ${key}`, numbers)
      }
    }
  }
  return counted
}
