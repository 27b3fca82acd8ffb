// Reads numbers of Things over time, for callers who may read the Things. (Specification: Tiers and
// series)

import { isFault } from '#domain/fault'
import { AUTO_POINTS_MAX, POINTS_MAX, TIERS, TIER_MS, firstKept } from '#domain/history/series'
import type { Columns, SeriesFound, SeriesQuery, Step } from '#domain/history/series'
import type { Answer } from '#domain/ports'
import type { TierRetention } from '#domain/history/series'
import { pause } from '#domain/runtime'
import { SERIES } from '#src/schemas/history/series-routes'
import type { AskedStep, SeriesAnswer } from '#src/schemas/history/series-routes'
import { readersOf } from '#src/schemas/shape'
import type { Caller } from '#src/acceptance/caller'
import { foreignThing, mayReadThing } from '#src/acceptance/key-rights'
import type { Stage } from '#src/acceptance/stage'

const READ = readersOf(SERIES)

/** How long the gateway keeps the tiers, and the updates themselves. */
interface Kept {
  readonly tiers: TierRetention
  readonly rawMs: number
}

type Ports = Pick<Stage, 'access' | 'nowMs' | 'retention' | 'series' | 'soon'>

export class SeriesReads {
  readonly #ports: Ports
  readonly #kept: Kept

  constructor(ports: Ports, tiers: TierRetention) {
    this.#ports = ports
    this.#kept = { tiers, rawMs: ports.retention.thingUpdates }
  }

  /** Lets requests that have arrived be read, between the parts of a long answer. */
  pause(): Promise<void> {
    return pause(this.#ports)
  }

  /** A Thing that was deleted, or never was, has no attrs. */
  async series(fields: unknown, caller: Caller): Promise<Answer<SeriesAnswer>> {
    const { access, nowMs, series } = this.#ports
    const opened = await access.open({
      fields,
      caller,
      read: (sent) => {
        const request = READ.series(sent)
        return isFault(request) ? request : { ...request.reader, request }
      },
      scope: 'read',
    })
    if (isFault(opened)) return opened
    const {
      request: { request },
      key,
    } = opened
    const { ids, isOne } = request.things
    if (key !== undefined && !ids.every((id) => mayReadThing(key, id))) {
      return access.refuse(caller, foreignThing(key))
    }
    const now = nowMs()
    const asked = { from: request.from, to: request.to ?? Math.max(now, request.from + 1) }
    const range = rangeOf({ ...asked, step: request.step ?? 'auto' }, this.#kept, now)
    // Of times before those of the updates that are kept there may be late readings.
    const read = range.step === 'raw' ? { ...range, from: asked.from } : range
    const { channelId } = request.reader
    const { attrs } = request
    const found: SeriesFound[] = []
    for (const thingId of ids) {
      const query = { channelId, thingId, ...(attrs !== undefined && { attrs }), ...read }
      // The bucket of `from` would be one of those that are past their time.
      const isKept = read.from < read.to
      found.push(isKept ? await series.series(query) : { attrs: {} })
    }
    const whole = wholeOf(found, range)
    return {
      step: range.step,
      from: whole.to > whole.from ? whole.from : read.from,
      to: whole.to,
      isComplete:
        whole.from <= asked.from &&
        whole.to >= asked.to &&
        !found.some(({ isPartial }) => isPartial),
      ...(isOne
        ? { attrs: found[0]?.attrs ?? {} }
        : { things: byThing(ids, found, { attr: attrs?.[0], ...pointsOf(whole, read) }) }),
    }
  }
}

type Range = Pick<SeriesQuery, 'step' | 'from' | 'to'>
type Times = Pick<Range, 'from' | 'to'>

/** The step, and what is kept of the time that is asked for, within the bounds of points. */
export function rangeOf(
  { from, to, step }: Times & { readonly step: AskedStep },
  kept: Kept,
  nowMs: number,
): Range {
  const firstOf = (one: Step): number =>
    one === 'raw' ? nowMs - kept.rawMs : firstKept(one, kept.tiers, nowMs)
  const found = step === 'auto' ? autoStep({ from, to }, kept, firstOf) : step
  const most = step === 'auto' ? AUTO_POINTS_MAX : POINTS_MAX
  const first = found === 'raw' ? from : Math.max(from, beginOf(to, most, TIER_MS[found]))
  return { step: found, from: Math.min(Math.max(first, firstOf(found)), to), to }
}

/** The finest step that has few enough points, and of those one that reaches back far enough. */
function autoStep({ from, to }: Times, { tiers }: Kept, firstOf: (step: Step) => number): Step {
  const made = TIERS.filter((tier) => tiers[tier] > 0)
  const fitting = made.filter((tier) => beginOf(to, AUTO_POINTS_MAX, TIER_MS[tier]) <= from)
  const reaching = fitting.find((tier) => firstOf(tier) <= from)
  const furthest = (fitting.length > 0 ? fitting : made).toSorted(
    (one, other) => firstOf(one) - firstOf(other),
  )
  return reaching ?? furthest[0] ?? 'raw'
}

/** When the first of so many buckets begins of which the last one is that before `to`. */
const beginOf = (to: number, buckets: number, width: number): number =>
  (Math.ceil(to / width) - buckets) * width

function wholeOf(found: readonly SeriesFound[], { from, to }: Times): Times {
  return {
    from: Math.max(from, ...found.map(({ wholeFrom = 0 }) => wholeFrom)),
    to: Math.min(to, ...found.map(({ wholeTo = Infinity }) => wholeTo)),
  }
}

/** The times of points within a range: the first bucket may begin before it. */
function pointsOf({ from, to }: Times, { step, from: asked }: Range): Times {
  if (step === 'raw') return { from: asked, to }
  return { from: from === asked ? from - (from % TIER_MS[step]) : from, to }
}

/** The points of each Thing within times that all of them have in common. */
function byThing(
  ids: readonly string[],
  found: readonly SeriesFound[],
  { attr = '', from, to }: Times & { readonly attr: string | undefined },
): NonNullable<SeriesAnswer['things']> {
  const columns = ids.flatMap((id, at) => {
    const attrs = found[at]?.attrs ?? {}
    const own = Object.hasOwn(attrs, attr) ? attrs[attr] : undefined
    const within = own?.times.filter((time) => time >= from && time < to) ?? []
    if (own === undefined || within.length === 0) return []
    const first = own.times.indexOf(within[0] ?? 0)
    const cut = Object.entries(own).map(([name, column]: [string, Columns['times']]) => [
      name,
      column.slice(first, first + within.length),
    ])
    return [[id, Object.fromEntries(cut) as Columns] as const]
  })
  return Object.fromEntries(columns)
}
