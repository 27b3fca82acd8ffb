// The lines of an export: entries of the feed in seq order, then the present state of Things, then
// their series.
//
// Invariants:
//   export-lines/1. At most one page of the store is held: the next one is read once the reader has
//     taken the lines of this one. Its texts are short, but for a line that is long itself.
//   export-lines/2. No page is told before it is known that its reader may still read.
//   export-lines/3. The last line names the place from which another export gives the rest, whether
//     this one is complete, was cut by the end of the gateway or of the credential, or by a store
//     that does not answer.
//   export-lines/4. Of series that are more than a read takes for now a line tells the times, and
//     the others follow. The last line names the first of them, before any other place.

import type { Thing } from '#domain/entity'
import type { Fault, FaultCode } from '#domain/fault'
import type { FeedEntry } from '#domain/feed'
import type { SeriesStore, ThingSeries, Tier } from '#domain/history/series'
import type { ChannelId } from '#domain/identity'
import { isOutage } from '#domain/store-ports'
import type { HistoryPage, ReadStore } from '#domain/store-ports'
import { thingToWire } from '#src/schemas/answers'
import { seriesPlaceText } from '#src/schemas/history/export-names'
import type { Exported, SeriesPlace } from '#src/schemas/history/export-names'
import { thingPages } from './thing-pages.ts'

export interface ExportPlan {
  readonly channelId: ChannelId
  readonly what: readonly Exported[]
  /** Entries accepted from the first time on and before the second, in Unix milliseconds. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  readonly thingPrefix?: string | undefined
  readonly afterSeq: number
  readonly afterThing?: string | undefined
  readonly afterSeries?: SeriesPlace | undefined
  /** The series that are kept: of which tier, from when on and up to when; absent for none. */
  readonly series?: { readonly step: Tier; readonly from: number; readonly to: number } | undefined
}

export interface ExportPorts {
  readonly read: Pick<ReadStore, 'history' | 'scan'>
  readonly series: SeriesStore
  /** The refusal of a reader who may not read any more. */
  readonly refusal: () => Promise<Fault | undefined>
}

/** Entries of a page of the store. */
export const EXPORT_PAGE = 1_000
/**
 * Characters from which on a text ends. V8 keeps what is longer than 128 KB, once it has lived
 * through a small collection, until it collects everything: 80 MB of pages that were sent.
 */
const TEXT_CHARACTERS = 65_536

const KIND_OF: Readonly<Record<FeedEntry['model'], string>> = {
  thing: 'update',
  event: 'event',
  message: 'message',
}
const MODELS: Readonly<Record<string, FeedEntry['model']>> = {
  updates: 'thing',
  events: 'event',
  messages: 'message',
} satisfies Readonly<Record<Exclude<Exported, 'things' | 'series'>, FeedEntry['model']>>

/** The times of a line of series, and what it has of them. */
interface SeriesTimes {
  readonly step: Tier
  readonly from: number
  readonly to: number
  readonly attrs: ThingSeries
  readonly complete?: false
}

const NO_SERIES = { attrs: {}, complete: false } as const

/** The export is cut for the reason of a fault, or for the end of the gateway. */
class Cut extends Error {
  readonly code: FaultCode

  constructor(code: FaultCode) {
    super(code)
    this.code = code
  }
}

/** One export, page by page. */
export class ExportLines {
  readonly #plan: ExportPlan
  readonly #ports: ExportPorts
  readonly #signal: AbortSignal
  #afterSeq: number
  #afterThing: string | undefined
  #afterSeries: SeriesPlace | undefined
  /** The first place from which series are left out. (export-lines/4) */
  #gap: SeriesPlace | undefined

  constructor(plan: ExportPlan, ports: ExportPorts, signal: AbortSignal) {
    this.#plan = plan
    this.#ports = ports
    this.#signal = signal
    this.#afterSeq = plan.afterSeq
    this.#afterThing = plan.afterThing
    this.#afterSeries = plan.afterSeries
  }

  /** Texts of whole lines. `signal` ends them, with the last line. */
  async *lines(): AsyncGenerator<string> {
    try {
      yield* this.#entries()
      yield* this.#things()
      yield* this.#series()
    } catch (error) {
      // export-lines/3
      if (error instanceof Cut) yield this.cut(error.code)
      else if (isOutage(error)) yield this.cut('server_busy')
      else throw error
      return
    }
    const end = { kind: 'end', complete: true, after_seq: this.#afterSeq }
    yield this.#gap === undefined ? lineOf(end) : this.cut('series_incomplete') // export-lines/4
  }

  async *#entries(): AsyncGenerator<string> {
    const { what, fromMs = 0, toMs = Infinity } = this.#plan
    const models = what.flatMap((one) => MODELS[one] ?? [])
    if (models.length === 0) return
    let hasBegun = false
    for (let more = true; more;) {
      const { items, next, headSeq }: HistoryPage = await this.#page(models, hasBegun)
      await this.#checked()
      const late = items.findIndex(({ acceptedAt }) => acceptedAt >= toMs)
      const within = late < 0 ? items : items.slice(0, late)
      const given = within.filter(({ acceptedAt }) => acceptedAt >= fromMs)
      const last = within.at(-1)?.seq ?? this.#afterSeq
      this.#afterSeq = late < 0 ? (next ?? Math.max(last, headSeq)) : last
      more = late < 0 && next !== undefined
      hasBegun ||= items.length > 0
      if (given.length > 0) yield* textsOf(given, entryLine)
      else if (more) yield lineOf({ kind: 'progress', after_seq: this.#afterSeq })
    }
  }

  /** The store finds the time to begin at; from the first entry on it need not look for it. */
  #page(models: readonly FeedEntry['model'][], hasBegun: boolean): Promise<HistoryPage> {
    const { channelId, fromMs, thingPrefix } = this.#plan
    return this.#ports.read.history({
      channelId,
      afterSeq: this.#afterSeq,
      limit: EXPORT_PAGE,
      models,
      ...(thingPrefix !== undefined && thingPrefix !== '' && { thingPrefix }),
      ...(!hasBegun && fromMs !== undefined && { sinceMs: fromMs }),
    })
  }

  async *#things(): AsyncGenerator<string> {
    if (!this.#plan.what.includes('things')) return
    for await (const { things, lastId } of this.#thingsBehind(this.#afterThing)) {
      this.#afterThing = lastId ?? this.#afterThing
      yield* textsOf(things, thingLine)
    }
  }

  async *#series(): AsyncGenerator<string> {
    const { what, series, thingPrefix = '' } = this.#plan
    if (!what.includes('series') || series === undefined) return
    const place = this.#afterSeries
    // The caller names the place; it may be that of a Thing which is not the caller's to read.
    if (place?.thingId.startsWith(thingPrefix)) yield* this.#seriesOf(place.thingId, place.before)
    for await (const { things, lastId } of this.#thingsBehind(place?.thingId)) {
      for (const { id } of things) yield* this.#seriesOf(id, series.to)
      if (lastId === undefined) return
      this.#afterSeries = { thingId: lastId, before: 0 }
      yield lineOf({ kind: 'progress', after_series: seriesPlaceText(this.#afterSeries) })
    }
  }

  /** A line of one Thing, and one of earlier times where the store gives no more at once. */
  async *#seriesOf(thingId: string, before: number): AsyncGenerator<string> {
    const { channelId, series } = this.#plan
    if (series === undefined) return
    const { step, from } = series
    for (let to = before; to > from;) {
      const found = await this.#ports.series.series({ channelId, thingId, step, from, to })
      await this.#checked()
      const { attrs, wholeFrom = from, wholeTo = to, isPartial = false } = found
      const line = { step, from: Math.max(wholeFrom, from), to: Math.min(wholeTo, to), attrs }
      // export-lines/4
      if (line.from >= to || isPartial) {
        yield this.#seriesLine(thingId, { ...NO_SERIES, step, from, to })
        return
      }
      if (line.to < to) {
        const left = Math.max(line.from, line.to)
        yield this.#seriesLine(thingId, { ...NO_SERIES, step, from: left, to })
      }
      const text = this.#seriesLine(thingId, line)
      if (Object.keys(attrs).length > 0) yield text
      to = line.from
    }
  }

  /** A line of series; `complete` is false in one of times that are left out. */
  #seriesLine(thingId: string, line: SeriesTimes): string {
    if (line.complete === false) this.#gap ??= { thingId, before: line.to }
    this.#afterSeries = { thingId, before: line.from }
    const place = { after_series: seriesPlaceText(this.#afterSeries) }
    return lineOf({ kind: 'series', thing_id: thingId, ...line, ...place })
  }

  async *#thingsBehind(afterId: string | undefined) {
    const { channelId, thingPrefix: prefix = '' } = this.#plan
    for await (const page of thingPages(this.#ports.read, { channelId, prefix, afterId })) {
      await this.#checked()
      yield page
    }
  }

  /** Throws unless the reader may have what was read. (export-lines/2) */
  async #checked(): Promise<void> {
    if (this.#signal.aborted) throw new Cut('server_busy')
    const refusal = await this.#ports.refusal()
    if (refusal !== undefined) throw new Cut(refusal.code) // export-lines/2
  }

  /** The last line of an export that is cut, for the reason of a fault. (export-lines/3) */
  cut(code: FaultCode): string {
    const series = this.#gap ?? this.#afterSeries
    return lineOf({
      kind: 'end',
      complete: false,
      after_seq: this.#afterSeq,
      ...(this.#afterThing !== undefined && { after_thing: this.#afterThing }),
      ...(series !== undefined && { after_series: seriesPlaceText(series) }),
      error_code: code,
    })
  }
}

/** The lines of items, together in texts. (export-lines/1) */
function* textsOf<Item>(items: readonly Item[], line: (item: Item) => string): Generator<string> {
  let text = ''
  for (const item of items) {
    text += line(item)
    if (text.length < TEXT_CHARACTERS) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}

const lineOf = (line: object): string => `${JSON.stringify(line)}\n`

/** The payload is JSON already: parsing it would take most of an export's time. */
function entryLine({ model, payload, ...entry }: FeedEntry): string {
  const head = JSON.stringify({
    kind: KIND_OF[model],
    seq: entry.seq,
    op_id: entry.opId,
    action: entry.action,
    entity_id: entry.entityId,
    state: entry.state,
    rev: entry.rev,
    accepted_at: entry.acceptedAt,
  })
  return `${head.slice(0, -1)},"payload":${payload}}\n`
}

const thingLine = (thing: Thing): string => lineOf({ kind: 'thing', ...thingToWire(thing) })
