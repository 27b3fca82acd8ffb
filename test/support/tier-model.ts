// What tiers have to count, by a model that sees each entry and each late reading once.

import { TIER_MS } from '#domain/history/series'
import type { BucketColumns, RawColumns, Tier } from '#domain/history/series'
import type { LateReading } from '#domain/feed'

type ModelBucket = {
  at: number
  last: number
  min: number
  max: number
  sum: number
  count: number
}

/** Sees each entry of a feed, and each late reading, once. */
export class TierModel {
  readonly #things = new Map<string, { attr: string; at: number; value: number }[]>()

  see({ action, entityId, payload }: Pick<LateReading, 'action' | 'entityId' | 'payload'>): void {
    if (action === 'delete') {
      this.#things.delete(entityId)
      return
    }
    const said = JSON.parse(payload) as {
      observed_at: number
      /** The time of late data whose Thing shows a later one. */
      set_at?: number
      attrs?: Record<string, unknown>
    }
    const at = said.set_at ?? said.observed_at
    const readings = this.#things.get(entityId) ?? []
    for (const [attr, value] of Object.entries(said.attrs ?? {})) {
      if (typeof value === 'number') readings.push({ attr, at, value })
    }
    this.#things.set(entityId, readings)
  }

  /** The readings themselves. */
  raw(thingId: string): Record<string, RawColumns> {
    const attrs: Record<string, { times: number[]; values: number[] }> = {}
    const readings = this.#things.get(thingId) ?? []
    for (const { attr, at, value } of readings.toSorted((one, other) => one.at - other.at)) {
      const columns = (attrs[attr] ??= { times: [], values: [] })
      columns.times.push(at)
      columns.values.push(value)
    }
    return attrs
  }

  series(thingId: string, tier: Tier, from: number): Record<string, BucketColumns> {
    const width = TIER_MS[tier]
    const attrs: Record<string, Map<number, ModelBucket>> = {}
    for (const { attr, at, value } of this.#things.get(thingId) ?? []) {
      const begin = Math.floor(at / width) * width
      if (begin < from) continue
      const buckets = (attrs[attr] ??= new Map<number, ModelBucket>())
      const bucket = buckets.get(begin)
      if (bucket === undefined) {
        buckets.set(begin, { at, last: value, min: value, max: value, sum: value, count: 1 })
        continue
      }
      if (at >= bucket.at) Object.assign(bucket, { at, last: value })
      bucket.min = Math.min(bucket.min, value)
      bucket.max = Math.max(bucket.max, value)
      bucket.sum += value
      bucket.count += 1
    }
    return Object.fromEntries(
      Object.entries(attrs).map(([attr, buckets]) => [attr, columnsOf(buckets)]),
    )
  }
}

function columnsOf(buckets: ReadonlyMap<number, ModelBucket>): BucketColumns {
  const times = [...buckets.keys()].toSorted((one, other) => one - other)
  const inOrder = times.map((time) => buckets.get(time) as ModelBucket)
  return {
    times,
    min: inOrder.map(({ min }) => min),
    max: inOrder.map(({ max }) => max),
    mean: inOrder.map(({ sum, count }) => sum / count),
    last: inOrder.map(({ last }) => last),
    count: inOrder.map(({ count }) => count),
  }
}
